import { createScheduler, InvalidArgumentError, InvalidDeadlineError, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { type BadValue, badValues } from '../fixtures/bad-values.ts';

type Refusal = typeof InvalidArgumentError | typeof InvalidDeadlineError;

/** One argument of one call: what it does with a value, and which values it refuses with which error. */
interface Place {
  readonly name: string;
  call(scheduler: Scheduler, value: never, live: number): unknown;
  refusal(value: unknown): Refusal | undefined;
  /** What a value that is not refused is answered with. */
  readonly answer: unknown;
}

const isNumber = (value: unknown) => Number.isFinite(value);
const isHint = (value: unknown) => isNumber(value) || typeof value === 'string';
const isCallback = (value: unknown) => value === undefined || typeof value === 'function';
const isOneNumber = (value: unknown) => Array.isArray(value); // the one array among the bad values is [5]
const unless = (isGood: (value: unknown) => boolean, refusal: Refusal) => (value: unknown) =>
  isGood(value) ? undefined : refusal;

const anId = expect.toSatisfy(Number.isSafeInteger);
const oneId = expect.toSatisfy(
  (ids) => ids instanceof Float64Array && ids.length === 1 && Number.isSafeInteger(ids[0]),
);

const place = (name: string, answer: unknown, refusal: Place['refusal'], call: Place['call']): Place => ({
  name,
  answer,
  refusal,
  call,
});

const never = () => undefined;
const deadline = unless(isNumber, InvalidDeadlineError);
const hint = unless(isHint, InvalidArgumentError);
const callback = unless(isCallback, InvalidArgumentError);
const array = unless(isOneNumber, InvalidArgumentError);

const places: Place[] = [
  place('schedule(hint)', anId, hint, (s, value) => s.schedule(value, s.now() + 9)),
  place('schedule(deadline)', anId, deadline, (s, value) => s.schedule(1, value)),
  place('schedule(callback)', anId, callback, (s, value) => s.schedule(1, s.now() + 9, value)),
  place('schedule(argument)', anId, never, (s, value) => s.schedule(1, s.now() + 9, () => undefined, value)),
  place('scheduleAfter(hint)', anId, hint, (s, value) => s.scheduleAfter(value, 9)),
  place('scheduleAfter(delay)', anId, deadline, (s, value) => s.scheduleAfter(1, value)),
  place('scheduleAfter(callback)', anId, callback, (s, value) => s.scheduleAfter(1, 9, value)),
  place('scheduleMany(hints)', oneId, array, (s, value) => s.scheduleMany(value, [s.now() + 9])),
  place('scheduleMany(hints[])', oneId, hint, (s, value) => s.scheduleMany([value], [s.now() + 9])),
  place('scheduleMany(deadlines)', oneId, array, (s, value) => s.scheduleMany([1], value)),
  place('scheduleMany(deadlines[])', oneId, deadline, (s, value) => s.scheduleMany([1], [value])),
  place(
    'scheduleMany(ids)',
    oneId,
    unless((value) => value === undefined, InvalidArgumentError),
    (s, value) => s.scheduleMany([1], [s.now() + 9], value),
  ),
  place('reschedule(id)', false, never, (s, value) => s.reschedule(value, 5)),
  place('reschedule(deadline)', true, deadline, (s, value, live) => s.reschedule(live, value)),
  place('reschedule(deadline), stale', false, deadline, (s, value) => s.reschedule(-1, value)),
  place('rescheduleAfter(id)', false, never, (s, value) => s.rescheduleAfter(value, 5)),
  place('rescheduleAfter(delay)', true, deadline, (s, value, live) => s.rescheduleAfter(live, value)),
  place('cancel(id)', false, never, (s, value) => s.cancel(value)),
  place('cancelMany(ids)', 0, array, (s, value) => s.cancelMany(value)),
  place('cancelMany(ids[])', 0, never, (s, value) => s.cancelMany([value, value])),
  place('has(id)', false, never, (s, value) => s.has(value)),
  place('deadlineOf(id)', undefined, never, (s, value) => s.deadlineOf(value)),
  place('shardOf(hint)', expect.toSatisfy(Number.isSafeInteger), hint, (s, value) => s.shardOf(value)),
  place(
    'advanceTo(now)',
    0,
    unless((value) => isNumber(value) && (value as number) < 2 ** 53, InvalidDeadlineError),
    (s, value) => s.advanceTo(value),
  ),
];

const codes = new Map<Refusal, string>([
  [InvalidArgumentError, 'ERR_INVALID_ARG_TYPE'],
  [InvalidDeadlineError, 'ERR_INVALID_DEADLINE'],
]);

async function outcomeOf(call: () => unknown): Promise<{ answer: unknown } | { error: unknown }> {
  try {
    return { answer: await call() };
  } catch (error) {
    return { error };
  }
}

/** The scheduler works on: its timers are as they were, and one scheduled now fires. */
async function expectHealth(scheduler: Scheduler, what: string): Promise<void> {
  let fired = 0;
  const id = scheduler.schedule(fired, scheduler.now() + 1, () => {
    fired += 1;
  });
  expect(scheduler.has(id), what).toBe(true);
  await scheduler.advanceTo(scheduler.now() + 2);
  expect({ fired, isLive: scheduler.has(id) }, what).toEqual({ fired: 1, isLive: false });
}

async function tryOut(scheduler: Scheduler, { name, call, refusal, answer }: Place, bad: BadValue): Promise<void> {
  const what = `${name}: ${bad.name}`;
  const live = scheduler.schedule('live', 1e9);
  const size = scheduler.size;
  const outcome = await outcomeOf(() => call(scheduler, bad.value as never, live));
  const expected = refusal(bad.value);
  if (expected === undefined) {
    expect(outcome, what).toEqual({ answer });
  } else {
    expect(outcome, what).toHaveProperty('error');
    const { error } = outcome as { error: Error };
    expect(error, what).toBeInstanceOf(expected);
    expect(error, what).toMatchObject({ code: codes.get(expected) });
    expect(error.message, what).toContain(`, got ${bad.shown}`);
    expect(scheduler.size, what).toBe(size);
    expect(scheduler.deadlineOf(live), what).toBe(1e9);
  }
  scheduler.cancel(live);
  await expectHealth(scheduler, what);
}

describe.each([0, 2])('bad input: shards %i', (shards) => {
  test('every argument of every call, every kind of value', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096 });
    scheduler.on('error', () => undefined); // the function among the values is no good callback for long
    await scheduler.ready;
    await scheduler.advanceTo(100);
    let cases = 0;
    for (const where of places) {
      for (const bad of badValues) {
        await tryOut(scheduler, where, bad);
        cases += 1;
      }
    }
    expect(cases).toBe(24 * 20);
  });

  test('ids of another scheduler, of delivered and of cancelled timers', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await using other = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const delivered = scheduler.schedule(1, 1);
    await scheduler.advanceTo(1);
    const cancelled = scheduler.schedule(1, 50);
    scheduler.cancel(cancelled);
    const stale = { delivered, cancelled, 'of another scheduler': other.schedule(1, 50), 'not of this kind': 2 ** 52 };
    const byId = places.filter(({ name }) => /\(id\)|ids\[\]/.test(name));
    let cases = 0;
    for (const [name, value] of Object.entries(stale)) {
      for (const where of byId) {
        await tryOut(scheduler, where, { name, value, shown: '' });
        cases += 1;
      }
    }
    expect(cases).toBe(4 * 6);
    expect(other.size).toBe(1);
  });

  test('scheduleMany: lengths that do not match, a bad value in the middle, sizes that cannot be', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const refused: [unknown, unknown, unknown, string][] = [
      [[1, 2], [5], undefined, 'The deadlines must be as many as the workerHints (2), got 1'],
      [[1], [5, 6], undefined, 'The deadlines must be as many as the workerHints (1), got 2'],
      [[1, 2], [5, 6], new Float64Array(1), 'got Float64Array(1)'],
      [[1, 2], [5, 6], [0, 0], 'The ids must be a Float64Array of at least 2 entries, got [ 0, 0 ]'],
      [[1, 2], [5, 6], new Float32Array(2), 'got Float32Array(2)'],
      [[1, 2, 3], [5, 6, Number.NaN], undefined, 'The deadline must be a finite number, got NaN'],
      [
        [1, Number.NaN, 3],
        [5, 6, 7],
        undefined,
        'The workerHint must be a finite number, a string or a group, got NaN',
      ],
      [{ length: 2 ** 40 }, { length: 2 ** 40 }, undefined, 'got undefined'],
      [{ length: -1 }, { length: -1 }, undefined, 'got { length: -1 }'],
      [{ length: 1.5 }, { length: 1.5 }, undefined, 'got { length: 1.5 }'],
      [{ length: '1' }, { length: '1' }, undefined, "got { length: '1' }"],
    ];
    let cases = 0;
    for (const [hints, deadlines, ids, message] of refused) {
      const outcome = await outcomeOf(() => scheduler.scheduleMany(hints as never, deadlines as never, ids as never));
      expect(outcome).toMatchObject({ error: { code: expect.stringMatching(/^ERR_INVALID_/) } });
      expect((outcome as { error: Error }).error.message).toContain(message);
      expect(scheduler.size).toBe(0);
      await expectHealth(scheduler, message);
      cases += 1;
    }
    expect(cases).toBe(11);
    expect(scheduler.scheduleMany([], [])).toEqual(new Float64Array(0));
  });

  test('advanceTo is for the manual clock', async () => {
    await using scheduler = createScheduler({ shards });
    for (const now of [5, Number.NaN]) {
      await expect(scheduler.advanceTo(now)).rejects.toMatchObject({ code: 'ERR_INVALID_CONFIG' });
    }
  });
});
