import { type DurableStore, lmdbStore, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { newFolder } from './folder.ts';

const NAMES = ['a', 'b', 'c', 'd'];
/** More than one page of the index, and than what waits in memory. */
const COUNTS = { lmdb: 700, memory: 150 };

function storesOf(kind: keyof typeof COUNTS): () => DurableStore {
  if (kind === 'lmdb') {
    const path = newFolder();
    return () => lmdbStore({ path });
  }
  const first = memoryStore();
  return () => memoryStore(first);
}

test.each(Object.entries(COUNTS) as [keyof typeof COUNTS, number][])(
  `after a restart what is overdue begins the oldest first, over all names, seed ${SEED}: %s, %i of each`,
  async (kind, count) => {
    const draws = new Draws(SEED);
    const open = storesOf(kind);
    const before = await openDurableTimers({ store: open() });
    const now = Date.now();
    const scheduled: Promise<boolean>[] = [];
    for (const name of ['nobody handles', ...NAMES]) {
      // Names that overlap in time, some of which are over before others begin.
      const [from, length] = [draws.below(1000), 1000 + draws.below(5000)];
      for (let at = 0; at < count; at++) {
        scheduled.push(before.schedule(name, `${at}`, now - 10_000 + from + draws.below(length)));
      }
    }
    await Promise.all(scheduled);
    await before.close();

    const timers = await openDurableTimers({ store: open(), concurrency: 10_000 });
    const seen: number[] = [];
    for (const name of NAMES) timers.handle(name, (_, { deadline }) => void seen.push(deadline));
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(NAMES.length * count);
    expect(seen).toEqual([...seen].sort((one, other) => one - other));
    expect(await timers.count()).toBe(count);
    await timers.close();
  },
);
