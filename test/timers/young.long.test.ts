import { CapacityExceededError, createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';

const nothing = () => undefined;

interface Options {
  shards?: number;
  capacity?: number;
  tick?: number;
}

async function using(use: (made: ReturnType<typeof parts>) => Promise<void>, options: Options): Promise<void> {
  await using made = parts(options);
  await made.scheduler.ready;
  await use(made);
}

function parts(options: Options) {
  const scheduler = createScheduler({ shards: 1, capacity: 2 ** 18, ...options });
  const timers = createTimers(scheduler, 'tests');
  return { scheduler, timers, [Symbol.asyncDispose]: () => scheduler[Symbol.asyncDispose]() };
}

/** What the shards have done. */
async function work(scheduler: ReturnType<typeof createScheduler>) {
  const { shards } = await scheduler.stats();
  return { commands: shards.reduce((sum, { commands }) => sum + commands, 0), fired: shards[0].fired };
}

describe.each([0, 1])('young timeouts, shards %i', (shards) => {
  test('that are cleared at once, or are due soon, are nothing that a shard hears of', () =>
    using(
      async ({ scheduler, timers }) => {
        let fired = 0;
        for (let i = 0; i < 2000; i++) timers.clearTimeout(timers.setTimeout(nothing, 60_000));
        for (let i = 0; i < 1000; i++) timers.setTimeout(() => (fired += 1), 1 + (i % 5));
        expect(scheduler.size).toBe(1000);
        await until(() => fired === 1000);
        expect(await work(scheduler)).toEqual({ commands: 0, fired: 0 });
        const { size, scheduled, cancelled, delivered, lateness } = await scheduler.stats();
        expect({ size, scheduled, cancelled, delivered }).toEqual({
          size: 0,
          scheduled: 3000,
          cancelled: 2000,
          delivered: 1000,
        });
        expect(lateness.count).toBe(1000);
      },
      { shards },
    ));

  test('that stay are their shard’s some ms later, and fire as those do', () =>
    using(
      async ({ scheduler, timers }) => {
        const fired: string[] = [];
        const delay = 300;
        timers.setTimeout(() => fired.push('kept'), delay);
        const moved = timers.setTimeout(() => fired.push('moved'), delay);
        const cleared = timers.setTimeout(() => fired.push('cleared'), delay);
        await until(async () => (await work(scheduler)).commands === 3);
        timers.clearTimeout(cleared);
        moved.refresh();
        const refreshed = performance.now();
        await until(() => fired.length === 2);
        expect(performance.now() - refreshed).toBeGreaterThanOrEqual(delay);
        await pass(20);
        expect(fired).toEqual(['kept', 'moved']);
      },
      { shards },
    ));

  test('that are refreshed keep their age, and fire when their new time has come', () =>
    using(
      async ({ timers }) => {
        const { promise, resolve } = deferred<number>();
        const timeout = timers.setTimeout(() => resolve(performance.now()), 6);
        let last = 0;
        for (let i = 0; i < 4; i++) {
          blockLoop(3);
          last = performance.now();
          timeout.refresh();
        }
        expect((await promise) - last).toBeGreaterThanOrEqual(6);
      },
      { shards },
    ));

  test('count for the capacity, and make room when they are cleared', () =>
    using(
      async ({ scheduler, timers }) => {
        const set = Array.from({ length: 8 }, () => timers.setTimeout(nothing, 60_000));
        expect(() => timers.setTimeout(nothing, 1)).toThrow(CapacityExceededError);
        timers.clearTimeout(set[3]);
        set.push(timers.setTimeout(nothing, 60_000));
        expect(() => timers.setTimeout(nothing, 60_000)).toThrow(CapacityExceededError);
        await pass(20);
        expect(() => timers.setTimeout(nothing, 60_000)).toThrow(CapacityExceededError);
        expect(scheduler.size).toBe(8);
        for (const timeout of set) timers.clearTimeout(timeout);
        expect(scheduler.size).toBe(0);
        timers.clearTimeout(timers.setTimeout(nothing, 60_000));
      },
      { shards, capacity: 8 },
    ));

  test('stay young, and fire, where others have taken the last slots', () =>
    using(
      async ({ scheduler, timers }) => {
        const fired: number[] = [];
        for (let i = 0; i < 3; i++) timers.setTimeout(() => fired.push(i), 30);
        for (let i = 0; i < 4; i++) scheduler.scheduleAfter('others', 60_000);
        expect(scheduler.size).toBe(7);
        await until(() => fired.length === 3);
        expect(fired).toEqual([0, 1, 2]);
        expect(scheduler.size).toBe(4);
      },
      { shards, capacity: 4 },
    ));

  test('are handed back by close(), as many as there are', async () => {
    const { scheduler, timers } = parts({ shards, capacity: 4 });
    const near = timers.setTimeout(nothing, 5);
    const far = timers.setTimeout(nothing, 60_000);
    timers.clearTimeout(timers.setTimeout(nothing, 60_000));
    for (let i = 0; i < 3; i++) scheduler.scheduleAfter('others', 60_000); // one of the two finds no slot
    const unfired = await scheduler.close();
    expect(unfired.length).toBe(5);
    const own = unfired.filter(({ argument }) => argument !== undefined);
    expect(new Set(own.map(({ argument }) => argument))).toEqual(new Set([near, far]));
    expect(
      Math.max(...own.map(({ deadline }) => deadline)) - Math.min(...own.map(({ deadline }) => deadline)),
    ).toBeGreaterThan(59_000);
    expect([near, far].map((timeout) => (timeout as unknown as { _destroyed: boolean })._destroyed)).toEqual([
      true,
      true,
    ]);
  });

  test('by the hundred thousand fire in order, and what they needed is given back', () =>
    using(
      async ({ scheduler, timers }) => {
        const order: number[] = [];
        const all = Array.from({ length: 100_000 }, (_, i) => i);
        await new Promise<void>((resolve) => {
          for (const i of all) timers.setTimeout((n: number) => order.push(n), 8, i);
          timers.setTimeout(resolve, 8);
        });
        expect(order).toEqual(all);
        expect(scheduler.size).toBe(0);
      },
      { shards },
    ));

  test('wait for their tick, however long that is', () =>
    using(
      async ({ scheduler, timers }) => {
        const set = scheduler.now();
        const fired = await new Promise<number>((resolve) => timers.setTimeout(() => resolve(scheduler.now()), 1));
        expect(Math.floor(fired / 64)).toBeGreaterThan(Math.floor(set / 64));
      },
      { shards, tick: 64 },
    ));
});

function deferred<T>() {
  let resolve: (value: T) => void = nothing;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
