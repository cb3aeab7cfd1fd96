import { createScheduler, type Scheduler, type TimerId, type TimerLabel } from 'shardwheel';
import { afterEach, describe, expect, test } from 'vitest';
import { internalsOf } from '../fixtures/internals.ts';
import { manual } from './manual.ts';

const nothing = (): void => undefined;
const never = () => new Promise<never>(nothing);

interface Started {
  readonly id: TimerId;
  /** Ends it as its holder would. */
  end?(): void;
}

type Start = (label: TimerLabel, scheduler: Scheduler, due: number) => Started;

/** The id of the latest timer. */
const latest = (scheduler: Scheduler): TimerId => [...scheduler.liveTimers()].at(-1)?.id as TimerId;

/** Starts what is waited for; its rejection is expected. */
function awaited(scheduler: Scheduler, start: (signal: AbortSignal) => Promise<unknown>): Started {
  const controller = new AbortController();
  start(controller.signal).catch(nothing);
  return { id: latest(scheduler), end: () => controller.abort() };
}

/** Every kind of timer that can have a label. `due`: when each is, 10 ms from now. */
const kinds: Record<string, Start> = {
  'with a callback': (label, _, due) => ({ id: label.schedule('a', due, nothing) }),
  'without a callback': (label, _, due) => ({ id: label.schedule('a', due) }),
  'after a delay': (label) => ({ id: label.scheduleAfter('a', 10, nothing) }),
  'at a date': (label) => ({ id: label.scheduleAt('a', Date.now() + 5, nothing) }),
  'moved to later and back': (label, scheduler, due) => {
    const id = label.schedule('a', due - 5, nothing);
    scheduler.reschedule(id, 2 ** 40);
    scheduler.reschedule(id, due);
    return { id };
  },
  'in a group': (label, scheduler, due) => ({ id: label.schedule(scheduler.group('a'), due, nothing) }),
  'whose callback throws': (label, _, due) => ({
    id: label.schedule('a', due, () => {
      throw new Error('expected');
    }),
  }),
  repeating: (label, scheduler) => {
    const id = label.scheduleEvery('a', 10, () => scheduler.cancel(id));
    return { id };
  },
  sleep: (label, scheduler) => awaited(scheduler, (signal) => scheduler.sleep(10, { label, signal })),
  withTimeout: (label, scheduler) =>
    awaited(scheduler, (signal) => scheduler.withTimeout(never(), 10, { label, signal })),
  'withTimeout without a limit': (label, scheduler, due) => {
    const started = awaited(scheduler, (signal) => scheduler.withTimeout(never(), Infinity, { label, signal }));
    scheduler.reschedule(started.id, due);
    return started;
  },
  signalAfter: (label, scheduler) => {
    const signal = scheduler.signalAfter(10, { label });
    return { id: latest(scheduler), end: () => signal[Symbol.dispose]() };
  },
};

/** Every way in which it ends but one: `close` ends all of a scheduler's. */
const ways: Record<string, (scheduler: Scheduler, started: Started) => unknown> = {
  delivered: (scheduler) => scheduler.advanceTo(scheduler.now() + 20),
  cancelled: (scheduler, { id }) => expect(scheduler.cancel(id)).toBe(true),
  'cancelled with others': (scheduler, { id }) => expect(scheduler.cancelMany([id])).toBe(1),
  'cancelled from anywhere': async (scheduler, { id }) => expect(await scheduler.cancelAnywhere(id)).toBe(true),
  'ended by its holder': (scheduler, { id, end }) => (end === undefined ? scheduler.cancel(id) : end()),
};

let ended = 0;

describe.each([0, 1])('▲ label ref: false, shards %i', (shards) => {
  const schedulers: Scheduler[] = [];
  afterEach(async () => {
    for (const scheduler of schedulers.splice(0)) await scheduler.close();
  });

  async function made(): Promise<Scheduler> {
    const scheduler = await manual({ shards });
    schedulers.push(scheduler);
    scheduler.on('error', nothing);
    scheduler.on('fired', nothing);
    return scheduler;
  }

  describe.each([{}, { min: 2 }])('%o', (settings) => {
    test.each(Object.keys(ways))(
      'no kind of timer, %s, ever holds the process, and no count outlives it',
      async (way) => {
        const scheduler = await made();
        const { client } = internalsOf(scheduler);
        const { refs } = client;
        const label = scheduler.label('entry', { ref: false, ...settings });
        for (const [kind, start] of Object.entries(kinds)) {
          const started = start(label, scheduler, scheduler.now() + 10);
          expect({ kind, size: client.size, unref: refs.unrefCount }).toEqual({ kind, size: 1, unref: 1 });
          expect(refs.isHolding, kind).toBe(false);
          await ways[way](scheduler, started);
          const left = { kind, size: client.size, unref: refs.unrefCount, waiters: client.waiters, of: label.size };
          expect(left).toEqual({ kind, size: 0, unref: 0, waiters: 0, of: 0 });
          const other = scheduler.schedule('b', 2 ** 30); // the next timer that is to hold the process does
          expect(refs.isHolding).toBe(true);
          scheduler.cancel(other);
          expect(refs.isHolding).toBe(false);
          ended += 1;
        }
      },
    );

    test('nor do those that are handed back', async () => {
      const scheduler = await made();
      const { client } = internalsOf(scheduler);
      const label = scheduler.label('entry', { ref: false, ...settings });
      for (const start of Object.values(kinds)) start(label, scheduler, 10);
      const live = Object.keys(kinds).length;
      expect({ live: client.size, unref: client.refs.unrefCount }).toEqual({ live, unref: live });
      expect((await scheduler.close()).length).toBe(live);
      expect({ unref: client.refs.unrefCount, waiters: client.waiters, of: label.size }).toEqual({
        unref: 0,
        waiters: 0,
        of: 0,
      });
      ended += live;
    });
  });

  test('it is held as long as one timer that holds it is live, whatever ends before', async () => {
    const scheduler = await made();
    const { refs } = internalsOf(scheduler).client;
    const label = scheduler.label('entry', { ref: false });
    const entries = Array.from({ length: 50 }, (_, i) => label.schedule(i, 100 + i, nothing));
    const holding = scheduler.schedule('a', 1000, nothing);
    expect(refs.isHolding).toBe(true);
    for (const id of entries.slice(0, 25)) scheduler.cancel(id);
    await scheduler.advanceTo(200);
    expect(refs).toMatchObject({ isHolding: true, unrefCount: 0 });
    label.schedule('a', 2000);
    expect(refs.isHolding).toBe(true);
    scheduler.cancel(holding);
    expect(refs).toMatchObject({ isHolding: false, unrefCount: 1 });
  });

  test('a refused timer counts nowhere', async () => {
    const scheduler = await manual({ shards, capacity: 2 });
    schedulers.push(scheduler);
    const { refs } = internalsOf(scheduler).client;
    const label = scheduler.label('entry', { ref: false });
    for (let i = 0; i < 2; i++) label.schedule('a', 10);
    expect(() => label.schedule('a', 10)).toThrow('capacity of 2');
    expect(() => scheduler.signalAfter(10, { label })).toThrow('capacity of 2');
    expect(() => label.schedule('a', Number.NaN)).toThrow('deadline');
    expect(refs.unrefCount).toBe(2);
  });
});

test('what the last suite went through is all of it', () => {
  expect(ended).toBe(2 * 2 * Object.keys(kinds).length * (Object.keys(ways).length + 1));
});

test('▲ label.ref tells it; asking again must agree', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const entry = scheduler.label('entry', { ref: false });
  expect(entry.ref).toBe(false);
  expect(scheduler.label('entry')).toBe(entry);
  expect(scheduler.label('entry', { ref: false })).toBe(entry);
  expect(scheduler.label('request').ref).toBe(true);
  expect(scheduler.label('request', { ref: true }).ref).toBe(true);
  expect(() => scheduler.label('entry', { ref: true })).toThrow("options.ref must be false, as when the label 'entry'");
  expect(() => scheduler.label('request', { ref: false })).toThrow('options.ref must be true');
  expect(() => scheduler.label('other', { ref: 0 as never })).toThrow('options.ref must be true or false, got 0');
  expect(() => scheduler.label('(other)', { ref: false })).toThrow("must not be '(other)'");
  for (let i = 0; i < 252; i++) scheduler.label(`label ${i}`);
  expect(() => scheduler.label('one more', { ref: false })).toThrow('must be one of the first 254 labels');
});
