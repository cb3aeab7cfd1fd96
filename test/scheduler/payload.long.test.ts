import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { CallbackPalette, NO_CALLBACK, OUT_OF_LINE } from '../../src/client/callback-palette.ts';
import { Payload } from '../../src/client/payload.ts';
import { Draws } from '../fixtures/draws.ts';
import { pass } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** ms within which an idle loop takes a turn that releases. */
const RELEASED = 1500;

/** How many of the objects that `use` gave as arguments are still held, a turn and a garbage collection later. */
async function heldAfter(use: (remember: (argument: object) => object) => unknown): Promise<number> {
  const references: WeakRef<object>[] = [];
  await use((argument) => {
    references.push(new WeakRef(argument));
    return argument;
  });
  await pass(RELEASED);
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

  test.each([1, 14, 15, 5000])('by %i timers with a callback of their own', async (count) => {
    await using scheduler = createScheduler({ shards, capacity: 8192 });
    const held = await heldAfter((remember) => {
      const ids = Array.from({ length: count }, (_, i) => {
        return scheduler.scheduleAfter(i, 60_000, remember(() => i) as () => number);
      });
      scheduler.cancelMany(ids);
    });
    expect(held).toBe(0);
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
    await using scheduler = await manual({ shards, capacity: 8192 });
    const held = await heldAfter(async (remember) => {
      for (let i = 0; i < 2000; i++) scheduler.schedule(i, 5, () => undefined, remember({ i }));
      await scheduler.advanceTo(5);
    });
    expect([held, scheduler.size]).toEqual([0, 0]);
  });
});

/** What a slot may carry as its argument; some look like another to a careless comparison. */
const values = [undefined, 0, -0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 1.5, Number.NaN, 7n, '7', true, null, {}];

// 14 callbacks can be shared: of so many, all are, all but one, and few.
test.each([1, 14, 15, 60])('Payload with %i callbacks gives each slot its own, whatever the others carry', (count) => {
  const payload = new Payload(2 ** 20);
  const slots = [...new Array(95).keys(), 16_383, 16_384, 500_000, 2 ** 20 - 2, 2 ** 20 - 1];
  const callbacks = Array.from({ length: count }, (_, i) => ({ i }));
  const expected = new Map<number, [unknown, unknown]>(slots.map((slot) => [slot, [undefined, undefined]]));
  const draws = new Draws(42);
  for (let step = 0; step < 5000; step++) {
    const slot = draws.pick(slots);
    if (draws.below(3) > 0) {
      const carried: [unknown, unknown] = [draws.pick(callbacks), draws.pick(values)];
      payload.set(slot, ...carried, undefined);
      expected.set(slot, carried);
    } else {
      // Now and then all end, so that callbacks come to be shared anew.
      for (const ended of draws.below(200) === 0 ? slots : [slot]) {
        payload.clear(ended);
        expected.set(ended, [undefined, undefined]);
      }
    }
    const isRight = ([slot, [callback, argument]]: [number, [unknown, unknown]]) =>
      payload.callbackOf(slot) === callback && Object.is(payload.argumentOf(slot), argument);
    expect([...expected].every(isRight)).toBe(true);
  }
});

test('CallbackPalette gives 14 callbacks codes of their own, and to others none until one is let go of', () => {
  const palette = new CallbackPalette();
  const carried = (callback: unknown): number => {
    const code = palette.codeOf(callback);
    palette.carry(code, NO_CALLBACK);
    return code;
  };
  const callbacks = Array.from({ length: 15 }, (_, i) => ({ i }));
  const codes = callbacks.map(carried);
  expect([new Set(codes).size, codes[14], codes.indexOf(NO_CALLBACK)]).toEqual([15, OUT_OF_LINE, -1]);
  expect(codes.slice(0, 14).map((code) => palette.callbacks[code])).toEqual(callbacks.slice(0, 14));
  palette.carry(NO_CALLBACK, codes[5]);
  expect(carried(callbacks[14])).toBe(codes[5]);
  expect(palette.callbacks[codes[5]]).toBe(callbacks[14]);
  expect(carried(callbacks[5])).toBe(OUT_OF_LINE);
});
