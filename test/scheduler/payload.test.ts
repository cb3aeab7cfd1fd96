import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Payload } from '../../src/scheduler/payload.ts';
import { pass } from '../fixtures/event-loop.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** How many of the objects that `use` gave as arguments are still held, a turn and a garbage collection later. */
async function heldAfter(use: (remember: (argument: object) => object) => void): Promise<number> {
  const references: WeakRef<object>[] = [];
  use((argument) => {
    references.push(new WeakRef(argument));
    return argument;
  });
  await pass(30);
  collect();
  return references.filter((reference) => reference.deref() !== undefined).length;
}

const start = (scheduler: Scheduler, count: number, remember: (argument: object) => object): number[] =>
  Array.from({ length: count }, (_, i) => scheduler.scheduleAfter(i, 60_000, () => undefined, remember({ i })));

describe.each([0, 1, 2])('what a timer carried is let go of: shards %i', (shards) => {
  test.each([1, 2, 1023, 1024, 1025, 5000])('by %i timers that are cancelled together', async (count) => {
    await using scheduler = createScheduler({ shards, capacity: 8192 });
    expect(await heldAfter((remember) => scheduler.cancelMany(start(scheduler, count, remember)))).toBe(0);
  });

  test('when others take some of their slots before the turn is over', async () => {
    await using scheduler = createScheduler({ shards, capacity: 8192 });
    const held = await heldAfter((remember) => {
      scheduler.cancelMany(start(scheduler, 500, remember));
      start(scheduler, 200, (argument) => argument);
      scheduler.cancelMany(start(scheduler, 100, remember));
      for (let i = 0; i < 50; i++) scheduler.scheduleAfter(i, 60_000);
    });
    expect(held).toBe(0);
    expect(scheduler.size).toBe(250);
  });

  test('and held while it is live, whatever ends around it', async () => {
    await using scheduler = createScheduler({ shards, capacity: 8192 });
    const held = await heldAfter((remember) => {
      const ids = start(scheduler, 3000, (argument) => argument);
      start(scheduler, 10, remember);
      scheduler.cancelMany(ids);
    });
    expect(held).toBe(10);
    const left = await scheduler.close();
    expect(left.map(({ argument }) => argument)).toEqual(expect.arrayContaining([{ i: 0 }, { i: 9 }]));
  });

  test('when they are delivered', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 8192 });
    await scheduler.ready;
    const held = await heldAfter((remember) => {
      for (let i = 0; i < 2000; i++) scheduler.schedule(i, 5, () => undefined, remember({ i }));
      void scheduler.advanceTo(5);
    });
    expect([held, scheduler.size]).toEqual([0, 0]);
  });
});

describe('Payload', () => {
  test('keeps what slots far from one another carry, and nothing for those that carry nothing', () => {
    const payload = new Payload(2 ** 20);
    for (const slot of [0, 1, 16_383, 16_384, 2 ** 20 - 1]) {
      payload.set(slot, `callback ${slot}`, slot);
      expect([payload.callbackOf(slot), payload.argumentOf(slot)]).toEqual([`callback ${slot}`, slot]);
    }
    payload.set(1, undefined, undefined);
    expect([payload.callbackOf(1), payload.argumentOf(1), payload.argumentOf(0)]).toEqual([undefined, undefined, 0]);
    expect([payload.callbackOf(500_000), payload.argumentOf(500_000)]).toEqual([undefined, undefined]);
  });
});
