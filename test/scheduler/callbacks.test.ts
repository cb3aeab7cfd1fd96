import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { blockUntilFired, publish } from '../fixtures/shard-threads.ts';
import { manual } from './manual.ts';

describe.each([0, 1, 2])('callbacks: shards %i', (shards) => {
  test('get the argument and the id, are called once, with no receiver, and find their own timer ended', async () => {
    await using scheduler = await manual({ shards });
    const calls: unknown[][] = [];
    const argument = { some: 'thing' };
    function callback(this: unknown, ...given: [unknown, number]) {
      const id = given[1];
      calls.push([this, ...given, scheduler.has(id), scheduler.deadlineOf(id), scheduler.cancel(id)]);
    }
    const ids = [scheduler.schedule('a', 1, callback, argument), scheduler.schedule('a', 2, callback)];
    ids.push(scheduler.scheduleAfter('a', 3, callback, null));
    await scheduler.advanceTo(5);
    const given = [argument, undefined, null];
    expect(calls).toEqual(ids.map((id, i) => [undefined, given[i], id, false, undefined, false]));
    expect(calls[0][1]).toBe(argument);
  });

  test('may ask for stats, the next expiration and an advance of the clock', async () => {
    await using scheduler = await manual({ shards });
    const asked: Promise<unknown>[] = [];
    scheduler.schedule('a', 5, () => {
      const delivered = scheduler.stats().then(({ delivered }) => delivered);
      asked.push(scheduler.advanceTo(8), scheduler.nextExpiration(), delivered);
    });
    scheduler.schedule('a', 8);
    expect(await scheduler.advanceTo(5)).toBe(1);
    const [advanced, next, delivered] = await Promise.all(asked);
    expect(advanced).toBe(1);
    // These two are asked of the shards, and answered before or after the advance.
    expect([8, 9, undefined]).toContain(next);
    expect([1, 2]).toContain(delivered);
    expect(scheduler.size).toBe(0);
  });

  test('advances of the clock that are not awaited come one after the other', async () => {
    await using scheduler = await manual({ shards });
    for (const deadline of [5, 15, 25]) scheduler.schedule('a', deadline);
    const answers = [10, 20, 5, 30].map((now) => scheduler.advanceTo(now));
    expect(await Promise.all(answers)).toEqual([1, 1, 0, 1]);
    expect(scheduler.now()).toBe(30);
  });

  test('ticks of a batch listener, and microtasks of a callback, run before the next callback, of whatever shard', async () => {
    await using scheduler = await manual({ shards });
    const seen: string[] = [];
    scheduler.on('fired', () => {
      seen.push('batch');
      process.nextTick(() => seen.push('its tick'));
    });
    for (let hint = 0; hint < 8; hint++) {
      scheduler.schedule(hint, 5);
      scheduler.schedule(hint, 6, () => {
        seen.push('callback');
        queueMicrotask(() => seen.push('its microtask'));
      });
    }
    await scheduler.advanceTo(5);
    await scheduler.advanceTo(10);
    for (const [i, what] of seen.entries()) {
      if (what === 'batch') expect(seen[i + 1]).toBe('its tick');
      if (what === 'callback') expect(seen[i + 1]).toBe('its microtask');
    }
    expect(seen.filter((what) => what === 'callback').length).toBe(8);
  });

  test('that are slow do not keep the event loop, however large maxBatch is', async () => {
    await using scheduler = createScheduler({ shards, capacity: 1024 });
    await scheduler.ready;
    const count = 640;
    const deliveredByTurn: number[] = [];
    let delivered = 0;
    let turns = 0;
    const watch = () => {
      turns += 1;
      if (delivered < count) setImmediate(watch);
    };
    setImmediate(watch);
    const deadline = scheduler.now() + 20;
    for (let i = 0; i < count; i++) {
      scheduler.schedule(i, deadline, () => {
        blockLoop(0.1);
        delivered += 1;
        deliveredByTurn[turns] = (deliveredByTurn[turns] ?? 0) + 1;
      });
    }
    publish(scheduler); // they would be held until shortly before they are due
    blockLoop(10);
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (shards > 0)
      blockUntilFired(scheduler, count - delivered); // on a busy machine some have come already
    else blockLoop(20);
    setImmediate(watch);
    await until(() => delivered === count);
    // A turn looks at the clock each 64 deliveries of a lane, and 64 of these take 6 ms; a turn of the event loop may
    // hold two of the client's: the one that was held, and the one that it arms.
    expect(Math.max(...deliveredByTurn.filter((each) => each > 0))).toBeLessThanOrEqual(2 * 64 * Math.max(1, shards));
  });
});
