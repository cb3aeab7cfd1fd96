import { AllocationError, createScheduler, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { describe, expect, test } from 'vitest';
import type { TickIndex } from '../../src/wheel/tick-index.ts';
import { runText } from '../fixtures/child-process.ts';
import { until } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';

test('refreshed timers that the wheel has no memory for fire all the same, by deadline', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
  await scheduler.ready;
  const { setTimeout } = createTimers(scheduler);
  const order: string[] = [];
  const later = setTimeout(() => order.push(`later ${scheduler.now()}`), 10);
  await scheduler.advanceTo(4);
  const sooner = setTimeout(() => order.push(`sooner ${scheduler.now()}`), 8);
  await scheduler.advanceTo(5);
  sooner.refresh(); // due at 13, filed at 12
  await scheduler.advanceTo(9);
  later.refresh(); // due at 19, filed at 10

  const { index } = (internalsOf(scheduler).client.home as unknown as { wheel: { index: TickIndex } }).wheel;
  let refusals = 0;
  index.insert = () => {
    refusals += 1;
    throw new RangeError('Array buffer allocation failed');
  };
  await scheduler.advanceTo(12, { jump: true });
  expect({ order, refusals: refusals > 0 }).toEqual({ order: [], refusals: true });
  await scheduler.advanceTo(25, { jump: true });
  expect(order).toEqual(['sooner 25', 'later 25']);
  expect(scheduler.size).toBe(0);
});

/** What of the wheel of a client's drop-in timers a test breaks. */
interface BrokenWheel {
  index: TickIndex;
  grow(): void;
}
const wheelOf = (scheduler: Scheduler) =>
  (internalsOf(scheduler).client.home as unknown as { wheel: BrokenWheel }).wheel;

const refuse = (): never => {
  throw new AllocationError(1, new Error('refused by the test'));
};

describe('the next call of an interval', () => {
  test('that the wheel has no memory for comes all the same; so does a timer that is refreshed after it has fired', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const { setInterval, setTimeout } = createTimers(scheduler);
    const calls: number[] = [];
    setInterval(() => calls.push(scheduler.now()), 10);
    const refreshed: number[] = [];
    const again = setTimeout(() => {
      refreshed.push(scheduler.now());
      again.refresh();
    }, 10);
    await scheduler.advanceTo(5);
    const { index } = wheelOf(scheduler);
    const insert = index.insert.bind(index);
    let refusals = 0;
    index.insert = () => {
      refusals += 1;
      return refuse();
    };
    await scheduler.advanceTo(40);
    expect(refusals).toBeGreaterThan(0);
    index.insert = insert;
    await scheduler.advanceTo(60);
    expect({ calls, refreshed }).toEqual({ calls: [10, 20, 30, 40, 50, 60], refreshed: [10, 20, 30, 40, 50, 60] });
  });

  /**
   * Intervals of 5 ms whose callback takes their slot, so that none is left; `repair` lets the wheel have one again.
   */
  async function starved(starve: (scheduler: Scheduler) => () => void, capacity: number, isRegistered: boolean) {
    await using scheduler = createScheduler({ shards: 0, capacity });
    const { setInterval, setTimeout, clearInterval } = createTimers(scheduler);
    const { home } = internalsOf(scheduler).client;
    const held: NodeJS.Timeout[] = [];
    let calls = 0;
    let repair: (() => void) | undefined;
    const interval = setInterval(() => {
      calls += 1;
      if (calls !== 3) return;
      while (home.size < SLOTS) held.push(setTimeout(() => undefined, 60_000));
      repair = starve(scheduler);
    }, 5);
    if (isRegistered) sourceOf(interval).isRegistered = true;
    await until(() => calls >= 8);
    const { size } = home;
    for (const timeout of held.splice(0, 2)) timeout.close();
    repair?.();
    await until(() => home.size === size - 1); // it has a slot again
    const before = calls;
    await until(() => calls >= before + 3);
    clearInterval(interval);
    await until(() => home.size === size - 2);
    return size;
  }
  const SLOTS = 1024;
  const sourceOf = (timeout: object) => {
    const symbol = Object.getOwnPropertySymbols(timeout).find(({ description }) => description === 'source');
    return (timeout as Record<symbol, () => { isRegistered: boolean }>)[symbol as symbol]();
  };

  test('that memory for a slot is refused is made by a timer of Node', async () => {
    const starve = (scheduler: Scheduler) => {
      const wheel = wheelOf(scheduler);
      const { grow } = wheel;
      wheel.grow = refuse;
      return () => {
        wheel.grow = grow;
      };
    };
    expect(await starved(starve, 4096, false)).toBe(SLOTS);
  });

  test('that a full wheel has no slot for is made by a timer of Node, in a registered thread', async () => {
    expect(await starved(() => () => undefined, SLOTS, true)).toBe(SLOTS);
  });

  test.each(['cleared', 'unref', 'closed'])('while a timer of Node stands for it: %s', async (how) => {
    const { code, stdout, stderr } = await runText(`
      import { createScheduler, createTimers } from 'shardwheel';
      const scheduler = createScheduler({ shards: 0, capacity: 4 });
      const { setInterval, setTimeout, clearInterval } = createTimers(scheduler);
      let calls = 0;
      const interval = setInterval(() => {
        calls += 1;
        if (calls === 1) for (let i = 0; i < 4; i++) setTimeout(() => undefined, 60_000).unref();
        if (calls < 3) return;
        if ('${how}' === 'cleared') clearInterval(interval);
        if ('${how}' === 'unref') interval.unref();
        if ('${how}' === 'closed') scheduler.close();
      }, 30);
      const source = Object.getOwnPropertySymbols(interval).find(({ description }) => description === 'source');
      interval[source]().isRegistered = true;
      process.on('exit', () => console.log(calls, interval._destroyed));`);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '3 true\n', stderr: '' });
  });
});
