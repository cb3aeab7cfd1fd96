import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { type BadValue, badValues } from '../fixtures/bad-values.ts';
import { anId, codes, type Place, places, promisedPlaces } from './argument-places.ts';
import { manual } from './manual.ts';

const neverGiven: BadValue = { name: 'an id that nobody was given', value: 2 ** 52, shown: '' };

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

async function tryOut(scheduler: Scheduler, { name, call, rule, answer }: Place, bad: BadValue): Promise<void> {
  const what = `${name}: ${bad.name}`;
  const live = scheduler.schedule('live', 1e9);
  const size = scheduler.size;
  const outcome = await outcomeOf(() => call(scheduler, bad.value as never, live));
  if (rule.isGood(bad.value)) {
    expect(outcome, what).toEqual({ answer });
  } else {
    expect(outcome, what).toHaveProperty('error');
    const { error } = outcome as { error: Error };
    expect(error, what).toBeInstanceOf(rule.error);
    expect(error, what).toMatchObject({ code: codes.get(rule.error) });
    expect(error.message, what).toContain(rule.says);
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
    for (const where of [...places, ...promisedPlaces]) {
      for (const bad of where.rule === anId ? [...badValues, neverGiven] : badValues) {
        await tryOut(scheduler, where, bad);
        cases += 1;
      }
    }
    expect(cases).toBe(46 * 20 + 6);
  });

  test('scheduleMany: lengths that do not match, a bad value in the middle, sizes that cannot be', async () => {
    await using scheduler = await manual({ shards });
    const refused: [unknown, unknown, unknown, string][] = [
      [[1, 2], [5], undefined, 'The deadlines must be as many as the workerHints (2), got 1'],
      [[1], [5, 6], undefined, 'The deadlines must be as many as the workerHints (1), got 2'],
      [[1, 2], [5, 6], new Float64Array(1), 'got Float64Array(1)'],
      [[1, 2], [5, 6], [0, 0], 'The ids must be a Float64Array of at least 2 entries, got [ 0, 0 ]'],
      [[1, 2], [5, 6], new Float32Array(2), 'got Float32Array(2)'],
      [[1, 2, 3], [5, Number.NaN, 6], undefined, 'The deadline must be a finite number, got NaN'],
      [{ length: 2 ** 40 }, { length: 2 ** 40 }, undefined, 'at most 16777216 numbers, unless it is a Float64Array'],
      [{ length: -1 }, { length: -1 }, undefined, 'got { length: -1 }'],
      [{ length: 1.5 }, { length: 1.5 }, undefined, 'got { length: 1.5 }'],
      [{ length: '1' }, { length: '1' }, undefined, "got { length: '1' }"],
    ];
    for (const [hints, deadlines, ids, message] of refused) {
      const outcome = await outcomeOf(() => scheduler.scheduleMany(hints as never, deadlines as never, ids as never));
      expect(outcome).toMatchObject({ error: { code: expect.stringMatching(/^ERR_INVALID_/) } });
      expect((outcome as { error: Error }).error.message).toContain(message);
      expect(scheduler.size).toBe(0);
      await expectHealth(scheduler, message);
    }
    expect(scheduler.scheduleMany([], [])).toEqual(new Float64Array(0));
  });

  test('advanceTo is for the manual clock', async () => {
    await using scheduler = createScheduler({ shards });
    for (const now of [5, Number.NaN]) {
      await expect(scheduler.advanceTo(now)).rejects.toMatchObject({ code: 'ERR_INVALID_CONFIG' });
    }
  });
});
