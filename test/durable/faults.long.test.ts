import { createScheduler } from 'shardwheel';
import {
  type DurableStore,
  DurableStoreError,
  type DurableTimers,
  lmdbStore,
  memoryStore,
  openDurableTimers,
} from 'shardwheel/durable';
import { describe, expect, onTestFinished, test } from 'vitest';
import { all, pause } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

async function open(...[options]: Parameters<typeof openDurableTimers>): Promise<DurableTimers> {
  const timers = await openDurableTimers(options);
  onTestFinished(() => timers.close().catch(() => undefined));
  return timers;
}

/** A store that can write, or cannot. */
function failingStore(): { store: DurableStore; fail(isFull: boolean): void } {
  const store = memoryStore();
  let isFull = false;
  for (const call of ['put', 'bury'] as const) {
    const work = store[call].bind(store) as (...args: unknown[]) => Promise<never>;
    store[call] = async (...args: unknown[]) => {
      if (isFull) throw new DurableStoreError('ERR_STORE_FULL', 'full');
      return work(...args);
    };
  }
  return {
    store,
    fail: (is) => {
      isFull = is;
    },
  };
}

describe('a store that cannot write', () => {
  test.each([60_000, 50])('attempts are counted, and the last is the last, persistAfter %i', async (persistAfter) => {
    const { store, fail } = failingStore();
    const timers = await open({ store, persistAfter, retry: { attempts: 3, delay: 5, maxDelay: 5 } });
    timers.on('error', () => undefined);
    const attempts: number[] = [];
    timers.handle('a', (_, { attempt }) => {
      attempts.push(attempt);
      throw new Error('as the test wants it');
    });
    fail(true);
    await timers.schedule('a', 'k', Date.now(), 'p');
    await pause(1500);
    expect(attempts).toEqual([1, 2, 3]);
    expect(await all(timers.deadLetters('a'))).toEqual([]);
    fail(false);
    await expect
      .poll(() => all(timers.deadLetters('a')), { timeout: 20_000 })
      .toMatchObject([{ key: 'k', attempts: 3 }]);
    expect(attempts).toEqual([1, 2, 3]);
  });

  test('close says what is unknown, and ends', async () => {
    const { store, fail } = failingStore();
    const timers = await openDurableTimers({ store, persistAfter: 60_000 });
    timers.handle('a', () => undefined);
    await timers.schedule('a', 'k', Date.now() + 1e6);
    fail(true);
    await expect(timers.close()).rejects.toMatchObject({
      code: 'ERR_STORE_FULL',
      message: expect.stringContaining('whether those in memory alone were stored'),
    });
  });
});

describe.each([0, 60_000])("the caller's scheduler is closed first, persistAfter %i", (persistAfter) => {
  test('timers are delivered all the same, and close loses none', async () => {
    const scheduler = createScheduler({ shards: 0 });
    const store = memoryStore();
    const timers = await open({ store, scheduler, persistAfter });
    const seen: string[] = [];
    timers.handle('a', (_, { key }) => seen.push(key));
    await timers.schedule('a', 'soon', Date.now() + 200);
    await timers.schedule('a', 'far', Date.now() + 1e6);
    await timers.schedule('a', 'cancelled', Date.now() + 200);
    const closed = scheduler.close();
    expect(await timers.cancel('a', 'cancelled')).toBe(true);
    await closed;
    await timers.schedule('a', 'after', Date.now() + 100);
    await expect.poll(() => seen.sort(), { timeout: 2000 }).toEqual(['after', 'soon']);
    await timers.close();
    const next = await open({ store: memoryStore(store) });
    expect(await next.count()).toBe(1);
    expect((await next.get('a', 'far'))?.key).toBe('far');
  });
});

describe.each([0, 60_000])(
  'the program ends what it has not set on its own scheduler, persistAfter %i',
  (persistAfter) => {
    test.each([0, 1])(
      'by id, all at once, elsewhere: timers are delivered, and the others kept, shards %i',
      async (shards) => {
        await using scheduler = createScheduler({ shards });
        await scheduler.ready;
        const store = memoryStore();
        const timers = await open({ store, scheduler, persistAfter });
        const seen: string[] = [];
        timers.handle('a', (_, { key }) => seen.push(key));
        const ends: Record<string, (ids: number[]) => unknown> = {
          cancel: (ids) => ids.map((id) => scheduler.cancel(id)),
          cancelMany: (ids) => scheduler.cancelMany(ids),
          cancelAnywhere: (ids) => Promise.all(ids.map((id) => scheduler.cancelAnywhere(id))),
        };
        for (const [way, end] of Object.entries(ends)) {
          await timers.schedule('a', `${way}, soon`, Date.now() + 300);
          await timers.schedule('a', `${way}, far`, Date.now() + 1e6);
          await end([...scheduler.liveTimers()].flatMap(({ id }) => id ?? []));
          expect(scheduler.size).toBe(0);
          expect(await timers.cancel('a', `${way}, none`)).toBe(false);
        }
        await timers.schedule('a', 'cancel, soon', Date.now() + 200); // moved where it is now
        const soon = Object.keys(ends)
          .map((way) => `${way}, soon`)
          .sort();
        await expect.poll(() => seen.sort(), { timeout: 20_000 }).toEqual(soon);
        await timers.close();
        const next = await open({ store: memoryStore(store) });
        expect(await next.count()).toBe(3);
      },
    );
  },
);

test('a store may be opened twice in a process while the first begins to deliver', async () => {
  const path = newFolder();
  for (let at = 0; at < 20; at++) {
    const one = await open({ store: lmdbStore({ path }) });
    one.handle('a', () => undefined);
    const other = await open({ store: lmdbStore({ path }) });
    await Promise.all([one.close(), other.close()]);
  }
});
