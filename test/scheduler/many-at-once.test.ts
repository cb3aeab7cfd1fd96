import { runInNewContext } from 'node:vm';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

describe.each([0, 2])('scheduleMany and cancelMany: shards %i', (shards) => {
  test('ids come in the order of the arguments, each timer on the shard of its hint', async () => {
    await using scheduler = await manual({ shards });
    const hints = Uint32Array.from({ length: 2000 }, (_, i) => i * 7);
    const deadlines = Float64Array.from(hints, (hint) => 1 + (hint % 100));
    const seen = new Map<number, number>();
    scheduler.on('fired', ({ ids, length, shard }) => {
      for (const id of ids.subarray(0, length)) seen.set(id, shard);
    });
    const ids = scheduler.scheduleMany(hints, deadlines);
    expect(ids.length).toBe(2000);
    expect(Array.from(ids, (id) => scheduler.deadlineOf(id))).toEqual([...deadlines]);
    expect(await scheduler.advanceTo(100)).toBe(2000);
    expect(Array.from(ids, (id) => seen.get(id))).toEqual(Array.from(hints, (hint) => scheduler.shardOf(hint)));
  });

  test('all or none at capacity: what was there is unaffected, and nothing is left of the rest', async () => {
    await using scheduler = await manual({ shards, capacity: 100 });
    let hint = 0;
    while (scheduler.shardOf(hint) !== 0) hint += 1;
    const before = scheduler.scheduleMany(new Array(60).fill(hint), new Array(60).fill(50));
    for (let round = 0; round < 5; round++) {
      const ids = new Float64Array(41);
      const refused = () => scheduler.scheduleMany(new Array(41).fill(hint), new Array(41).fill(40), ids);
      expect(refused).toThrow(expect.objectContaining({ code: 'ERR_CAPACITY_EXCEEDED', shard: 0, capacity: 100 }));
      expect([ids.some((id) => scheduler.has(id)), scheduler.size]).toEqual([false, 60]);
    }
    const after = scheduler.scheduleMany(new Array(40).fill(hint), new Array(40).fill(40));
    expect(scheduler.size).toBe(100);
    expect(await scheduler.stats()).toMatchObject({ scheduled: 100, cancelled: 0, size: 100 });
    expect(await scheduler.advanceTo(49)).toBe(40);
    expect([scheduler.cancelMany([...before, ...before, ...after]), scheduler.cancelMany([])]).toEqual([60, 0]);
  });

  test('nothing of the caller runs between two timers of a call: neither species, nor methods, nor getters', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    let live = -1;
    const look = () => {
      if (scheduler.size !== live && live >= 0) throw new Error(`ran while ${scheduler.size} timers were live`);
      live = scheduler.size;
    };
    class Spying extends Array<number> {
      static override get [Symbol.species]() {
        look();
        return Array;
      }
    }
    class SpyingIds extends Float64Array {
      static get [Symbol.species](): Float64ArrayConstructor {
        throw new Error('asked for a species');
      }
      override set(): void {
        throw new Error('called a method');
      }
      override get length(): number {
        throw new Error('called a getter');
      }
    }
    const times = Spying.from([5, 6, 7]);
    Object.defineProperty(times, 1, {
      get() {
        look();
        return 6;
      },
    });
    const ids = scheduler.scheduleMany(Spying.from([1, 2, 3]), times, new SpyingIds(3));
    expect(scheduler.size).toBe(3);
    expect(() => scheduler.scheduleMany([1, 2], [5, Number.NaN], new SpyingIds(2))).toThrow('deadline');
    expect(scheduler.size).toBe(3);
    live = -1;
    expect(scheduler.cancelMany(Spying.from([0, 1, 2].map((at) => ids[at])))).toBe(3);
  });

  test("the caller's array is filled and handed back: longer, over the deadlines, of memory that others write to", async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    const longer = new Float64Array(5).fill(-1);
    expect(scheduler.scheduleMany([1, 2, 3], [10, 20, 30], longer)).toBe(longer);
    expect(Array.from(longer, (id) => scheduler.deadlineOf(id))).toEqual([10, 20, 30, undefined, undefined]);
    expect([...longer.subarray(3)]).toEqual([-1, -1]);
    const both = new Float64Array([10, 20, 30, 40]);
    expect(scheduler.scheduleMany([1, 2, 3], both.subarray(0, 3), both.subarray(1))).toEqual(both.subarray(1));
    expect(Array.from(both.subarray(1), (id) => scheduler.deadlineOf(id))).toEqual([10, 20, 30]);
    const shared = new Float64Array(new SharedArrayBuffer(16));
    expect(scheduler.scheduleMany([1, 2], [50, 60], shared)).toBe(shared);
    expect(Array.from(shared, (id) => scheduler.deadlineOf(id))).toEqual([50, 60]);
  });

  test('arrays of another realm are arrays', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    const [hints, deadlines, ids] = runInNewContext('[[1, 2], new Float64Array([5, 6]), new Float64Array(2)]');
    expect(scheduler.scheduleMany(hints, deadlines, ids)).toBe(ids);
    expect(Array.from(ids as Float64Array, (id) => scheduler.deadlineOf(id))).toEqual([5, 6]);
    expect(scheduler.cancelMany(ids)).toBe(2);
    const others = [new Float32Array(2), new Proxy(new Float64Array(2), {}), Object.create(Float64Array.prototype)];
    for (const other of others) expect(() => scheduler.scheduleMany([1, 2], [5, 6], other)).toThrow('Float64Array');
    expect(scheduler.size).toBe(0);
  });
});

test('cancelMany() of what somebody waits for, who closes the scheduler: each timer is cancelled or handed back, never both', async () => {
  const scheduler = createScheduler({ shards: 0, clock: 'manual' });
  let closing: Promise<unknown[]> | undefined;
  scheduler.signalAfter(1000).addEventListener('abort', () => {
    closing = scheduler.close();
  });
  const ids = [...scheduler.liveTimers()].map(({ id }) => id as number);
  for (let i = 0; i < 5; i++) ids.push(scheduler.scheduleAfter(i, 1000));
  expect(scheduler.cancelMany(ids)).toBe(1);
  expect(await closing).toHaveLength(5);
});

test('scheduleMany() with what is refused, and closes the scheduler as it is shown, starts nothing', async () => {
  for (const place of ['workerHints', 'deadlines'] as const) {
    const scheduler = createScheduler({ shards: 0, clock: 'manual' });
    let closing: Promise<unknown[]> | undefined;
    const shown = () => {
      closing = scheduler.close();
      return 'closed';
    };
    const bad = { [Symbol.for('nodejs.util.inspect.custom')]: shown } as never;
    const given = { workerHints: [1, 2, 3], deadlines: [5, 6, 7], [place]: [1, 2, bad] };
    expect(() => scheduler.scheduleMany(given.workerHints, given.deadlines)).toThrow('got closed');
    expect(await closing).toEqual([]);
    expect(await scheduler.stats()).toMatchObject({ scheduled: 0, cancelled: 0 });
  }
});
