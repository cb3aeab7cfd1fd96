import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { open } from 'lmdb';
import { bullmqStore, type DurableStore, lmdbStore, openDurableTimers } from 'shardwheel/durable';
import type { CreateDurable } from './durable-subject.ts';
import { bullmqAlone, nodeScheduleOnLmdb, onBullmq, onLmdb } from './subjects.ts';

/** Calls under way at a time while a store is filled. */
const BATCH = 2000;
/** ms by which all are overdue when the store is opened, at least. */
const OVERDUE = 1000;

/** A store that can be filled with overdue timers, none of which is delivered meanwhile, and then opened. */
export interface Recoverable {
  fill(count: number): Promise<void>;
  readonly open: CreateDurable;
}

async function inBatches(count: number, put: (keys: readonly string[]) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    await put(Array.from({ length: Math.min(BATCH, count - from) }, (_, at) => `session-${from + at}`));
  }
}

async function fillShardwheel(store: DurableStore, count: number): Promise<void> {
  const timers = await openDurableTimers({ store });
  const due = Date.now() - OVERDUE;
  await inBatches(count, (keys) => Promise.all(keys.map((key) => timers.schedule('bench', key, due, { user: key }))));
  await timers.close();
}

export const recoverShardwheelOnLmdb = (path: string): Recoverable => ({
  fill: (count) => fillShardwheel(lmdbStore({ path }), count),
  open: onLmdb(path, 0),
});

export const recoverShardwheelOnBullmq = (connection: Redis): Recoverable => ({
  fill: (count) => fillShardwheel(bullmqStore({ connection, queue: 'bench' }), count),
  open: onBullmq(connection, 0),
});

export const recoverBullmq = (connection: Redis): Recoverable => ({
  fill: async (count) => {
    const queue = new Queue('bench', { connection });
    await inBatches(count, (keys) =>
      queue.addBulk(
        keys.map((jobId) => ({ name: 'bench', data: { user: jobId }, opts: { jobId, delay: 1, attempts: 10 } })),
      ),
    );
    await queue.close();
  },
  open: bullmqAlone(connection),
});

export const recoverNodeSchedule = (path: string): Recoverable => ({
  fill: async (count) => {
    const root = open<number, string>({ path });
    const due = Date.now() - OVERDUE;
    await inBatches(count, (keys) => Promise.all(keys.map((key) => root.put(key, due))));
    await root.flushed;
    await root.close();
  },
  open: nodeScheduleOnLmdb(path),
});
