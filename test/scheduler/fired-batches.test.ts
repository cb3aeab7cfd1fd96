import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

describe.each([0, 1, 2])('fired batches: shards %i', (shards) => {
  test('carry ids, deadlines, arguments, shard and time of the timers that have no callback', async () => {
    await using scheduler = await manual({ shards });
    const wanted = new Map<number, unknown[]>();
    const kept: unknown[][] = [];
    const answers: boolean[] = [];
    scheduler.on('fired', ({ ids, deadlines, args, length, now, shard }) => {
      expect([ids, deadlines]).toEqual([expect.any(Float64Array), expect.any(Float64Array)]);
      expect(length).toBeGreaterThan(0);
      for (const [i, id] of ids.subarray(0, length).entries()) {
        expect([deadlines[i], args[i], shard, now]).toEqual([...(wanted.get(id) as unknown[]), scheduler.now()]);
        wanted.delete(id);
        answers.push(scheduler.has(id), scheduler.cancel(id)); // no longer live when they are handed over
      }
      kept.push(Object.freeze(args) as unknown[]); // a listener may do with it whatever it likes
    });
    const given = [undefined, { a: 'connection' }, 7, undefined, 'text', Number.NaN, null];
    for (let i = 0; i < 1000; i++) {
      const [deadline, argument] = [1 + (i % 37) / 2, given[i % 7]];
      wanted.set(scheduler.schedule(i, deadline, undefined, argument), [deadline, argument, scheduler.shardOf(i)]);
    }
    for (const [hint, id] of scheduler.scheduleMany([0, 1], [15, 15]).entries()) {
      wanted.set(id, [15, undefined, scheduler.shardOf(hint)]);
    }
    for (const now of [5, 6, 7, 20]) await scheduler.advanceTo(now);
    expect([wanted.size, answers.length, new Set(answers)]).toEqual([0, 2004, new Set([false])]);
    expect(new Set(kept).size).toBe(kept.length); // each batch has an array of its own
  });

  test('stand in line with the callbacks of their shard', async () => {
    await using scheduler = await manual({ shards });
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
    await using scheduler = await manual({ shards });
    const log: string[] = [];
    for (const now of [5, 6, 7]) {
      scheduler.schedule(1, now);
      expect(await scheduler.advanceTo(now)).toBe(1);
      if (now > 5) continue;
      scheduler.on('fired', () => log.push('first'));
      scheduler.once('fired', () => log.push('once'));
    }
    expect(log).toEqual(['first', 'once', 'first']);
    expect(await scheduler.stats()).toMatchObject({ delivered: 3, size: 0 });
  });

  test('a listener may transfer, freeze and empty what it is given: later batches are whole', async () => {
    await using scheduler = await manual({ shards, maxBatch: 7 });
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
    for (let i = 0; i < 100; i++) scheduler.schedule(i, 1 + (i % 5), () => undefined);
    expect(await scheduler.advanceTo(10)).toBe(600);
    expect([new Set(seen), seen.length]).toEqual([new Set(ids), 500]);
    expect(batches).toBeGreaterThan(50);
  });

  test('a listener transfers its batch later, between two callbacks of the turn', async () => {
    await using scheduler = await manual({ shards });
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

  test.each(['a listener', "a listener's tick"])(
    '%s closes: no callback runs, their timers are handed back',
    async (who) => {
      const scheduler = await manual({ shards });
      const ran: unknown[] = [];
      let closing: Promise<{ argument: unknown }[]> | undefined;
      const close = () => {
        closing = scheduler.close();
      };
      scheduler.on('fired', () => (who === 'a listener' ? close() : process.nextTick(close)));
      scheduler.schedule('one', 1);
      for (const argument of ['a', 'b']) scheduler.schedule('one', 1, (given) => ran.push(given), argument);
      await scheduler.advanceTo(5);
      expect((await closing)?.map(({ argument }) => argument)).toEqual(['a', 'b']);
      expect(ran).toEqual([]);
    },
  );
});

describe.each([0, 1, 2])('maxBatch: shards %i', (shards) => {
  test.each([1, 10, 333])('no turn of the event loop delivers more than %i timers', async (maxBatch) => {
    await using scheduler = await manual({ shards, maxBatch });
    let delivered = 0;
    let batched = 0;
    scheduler.on('fired', ({ length }) => {
      delivered += length;
      batched = Math.max(batched, length);
    });
    const count = () => {
      delivered += 1;
    };
    for (let i = 0; i < 2000; i++) scheduler.schedule(i, 5, i % 4 === 0 ? count : undefined);
    let turns = 0;
    let most = 0;
    let before = 0;
    let isOver = false;
    const watch = () => {
      turns += 1;
      most = Math.max(most, delivered - before);
      before = delivered;
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    expect(await scheduler.advanceTo(5)).toBe(2000);
    isOver = true;
    expect(delivered).toBe(2000);
    expect(most).toBeLessThanOrEqual(maxBatch);
    expect(batched).toBeLessThanOrEqual(maxBatch);
    // The last turn may be over before it is watched.
    expect(turns).toBeGreaterThanOrEqual(Math.ceil(2000 / maxBatch) - 1);
  });

  test('a batch as large as all that is due is delivered in one go', async () => {
    await using scheduler = await manual({ shards: Math.min(shards, 1) });
    const lengths: number[] = [];
    scheduler.on('fired', ({ length }) => lengths.push(length));
    for (let i = 0; i < 3000; i++) scheduler.schedule(i, 5);
    await scheduler.advanceTo(5);
    expect(lengths).toEqual([3000]);
  });
});
