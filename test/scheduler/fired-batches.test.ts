import { createScheduler, type FiredBatch } from 'shardwheel';
import { describe, expect, test } from 'vitest';

interface Copy {
  shard: number;
  now: number;
  ids: number[];
  deadlines: number[];
}

const copyOf = ({ shard, now, length, ids, deadlines }: FiredBatch): Copy => ({
  shard,
  now,
  ids: [...ids.subarray(0, length)],
  deadlines: [...deadlines.subarray(0, length)],
});

describe.each([0, 1, 2])('fired batches: shards %i', (shards) => {
  test('carry ids, deadlines, shard and time of the timers that have no callback', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const batches: Copy[] = [];
    const answers: boolean[] = [];
    scheduler.on('fired', (batch) => {
      expect(batch.ids).toBeInstanceOf(Float64Array);
      expect(batch.deadlines).toBeInstanceOf(Float64Array);
      expect(batch.length).toBeGreaterThan(0);
      for (const id of batch.ids.subarray(0, batch.length)) answers.push(scheduler.has(id), scheduler.cancel(id));
      batches.push(copyOf(batch));
    });
    const wanted = new Map<number, { deadline: number; shard: number }>();
    for (let i = 0; i < 1000; i++) {
      const deadline = 1 + (i % 37) / 2;
      wanted.set(scheduler.schedule(i, deadline, undefined, 'an argument, for nobody'), {
        deadline,
        shard: scheduler.shardOf(i),
      });
    }
    for (const now of [5, 6, 7, 20]) {
      await scheduler.advanceTo(now);
      for (const batch of batches.splice(0)) {
        expect(batch.now).toBe(now);
        for (const [i, id] of batch.ids.entries()) {
          expect(wanted.get(id)).toEqual({ deadline: batch.deadlines[i], shard: batch.shard });
          wanted.delete(id);
        }
      }
    }
    expect(wanted.size).toBe(0);
    expect(new Set(answers)).toEqual(new Set([false])); // no longer live when they are handed over
    expect(answers.length).toBe(2000);
  });

  test('carry the arguments, each in an array of its own', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const carried: [number, unknown][] = [];
    const kept: unknown[][] = [];
    scheduler.on('fired', ({ length, ids, args }) => {
      for (let i = 0; i < length; i++) carried.push([ids[i], args[i]]);
      kept.push(Object.freeze(args) as unknown[]); // a listener may do with it whatever it likes
    });
    const given = [undefined, { a: 'connection' }, 7, undefined, 'text', Number.NaN, null, undefined];
    for (const time of [5, 10]) {
      const wanted = given.map((argument) => [scheduler.schedule(1, time, undefined, argument), argument]);
      await scheduler.advanceTo(time);
      expect(carried.splice(0)).toEqual(wanted);
    }
    scheduler.scheduleMany([1, 2, 3], [15, 15, 15]);
    await scheduler.advanceTo(15);
    expect(carried.map(([, argument]) => argument)).toEqual([undefined, undefined, undefined]);
    expect(new Set(kept).size).toBe(kept.length); // each batch has an array of its own
  });

  test('stand in line with the callbacks of their shard', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const log: string[] = [];
    scheduler.on('fired', ({ length }) => log.push(`batch of ${length}`));
    const callback = (name: string) => log.push(name);
    for (const name of ['', '', 'one', '', 'two', 'three', '', '', '']) {
      scheduler.schedule('one shard', 5, name === '' ? undefined : callback, name);
    }
    await scheduler.advanceTo(5);
    expect(log).toEqual(['batch of 2', 'one', 'batch of 1', 'two', 'three', 'batch of 3']);
  });

  test('reach every listener; without any, timers are delivered all the same', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    scheduler.schedule(1, 5);
    expect(await scheduler.advanceTo(5)).toBe(1);
    const log: string[] = [];
    scheduler.on('fired', () => log.push('first'));
    scheduler.once('fired', () => log.push('once'));
    scheduler.schedule(1, 6);
    expect(await scheduler.advanceTo(6)).toBe(1);
    scheduler.schedule(1, 7);
    expect(await scheduler.advanceTo(7)).toBe(1);
    expect(log).toEqual(['first', 'once', 'first']);
    expect(await scheduler.stats()).toMatchObject({ delivered: 3, size: 0 });
  });

  test('a listener may transfer, freeze and empty what it is given: later batches are whole', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096, maxBatch: 7 });
    await scheduler.ready;
    const seen: number[] = [];
    let batches = 0;
    scheduler.on('fired', (batch) => {
      seen.push(...batch.ids.subarray(0, batch.length));
      const spoil = [
        () => structuredClone(batch, { transfer: [batch.ids.buffer as ArrayBuffer] }),
        () => structuredClone(batch, { transfer: [batch.deadlines.buffer as ArrayBuffer] }),
        () => Object.freeze(batch),
        () => Object.assign(batch, { ids: undefined, deadlines: undefined, length: 99, shard: -1 }),
        () => batch.ids.fill(-1),
      ];
      spoil[batches++ % spoil.length]();
    });
    const ids = Array.from({ length: 500 }, (_, i) => scheduler.schedule(i, 1 + (i % 5)));
    const callback = Array.from({ length: 100 }, (_, i) => scheduler.schedule(i, 1 + (i % 5), () => undefined));
    expect(await scheduler.advanceTo(10)).toBe(ids.length + callback.length);
    expect(new Set(seen)).toEqual(new Set(ids));
    expect(seen.length).toBe(ids.length);
    expect(batches).toBeGreaterThan(50);
  });

  test('a listener transfers its batch later, between two callbacks of the turn', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const seen: number[] = [];
    let go: () => void = () => undefined;
    const wait = new Promise<void>((resolve) => {
      go = resolve;
    });
    scheduler.on('fired', async (batch) => {
      seen.push(...batch.ids.subarray(0, batch.length));
      await wait;
      if (batch.ids.length > 0) structuredClone(batch, { transfer: [batch.ids.buffer as ArrayBuffer] });
    });
    const ids = [scheduler.schedule('one', 1)];
    scheduler.schedule('one', 1, () => go());
    ids.push(scheduler.schedule('one', 1), scheduler.schedule('one', 1));
    expect(await scheduler.advanceTo(5)).toBe(4);
    expect(seen).toEqual(ids);
  });

  test('a listener closes the scheduler: no callback of that turn runs, and its timer is handed back', async () => {
    const scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    let closing: Promise<{ argument: unknown }[]> | undefined;
    const ran: unknown[] = [];
    scheduler.on('fired', () => {
      closing = scheduler.close();
    });
    scheduler.schedule('one', 1);
    for (const argument of ['a', 'b']) scheduler.schedule('one', 1, (given) => ran.push(given), argument);
    await scheduler.advanceTo(5);
    expect((await closing)?.map(({ argument }) => argument)).toEqual(['a', 'b']);
    expect(ran).toEqual([]);
  });
});
