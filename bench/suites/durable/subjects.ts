import { Job as BullmqJob, Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { open } from 'lmdb';
import nodeSchedule from 'node-schedule';
import { bullmqStore, type DurableTimers, lmdbStore, openDurableTimers } from 'shardwheel/durable';
import type { CreateDurable, DurableSubject, OnDelivery } from './durable-subject.ts';

/** How many handlers may run at a time, for all. */
const CONCURRENCY = 100;
/** ms between two looks of what polls. */
const POLL = 100;

/** shardwheel's durable timers on a store. `persistAfter` in ms. */
async function shardwheelOn(
  store: Parameters<typeof openDurableTimers>[0]['store'],
  persistAfter: number,
  onDelivery: OnDelivery,
): Promise<DurableSubject & { timers: DurableTimers }> {
  const timers = await openDurableTimers({ store, persistAfter, concurrency: CONCURRENCY });
  timers.handle('bench', (_, { key }) => onDelivery(key));
  return {
    timers,
    schedule: (key, delay) => timers.schedule('bench', key, Date.now() + delay),
    move: (key, delay) => timers.schedule('bench', key, Date.now() + delay),
    cancel: (key) => timers.cancel('bench', key),
    writes: async () => (await timers.stats()).store?.writes ?? 0,
    close: () => timers.close(),
  };
}

export const onLmdb =
  (path: string, persistAfter: number): CreateDurable =>
  (onDelivery) =>
    shardwheelOn(lmdbStore({ path }), persistAfter, onDelivery);

export const onBullmq =
  (connection: Redis, persistAfter: number): CreateDurable =>
  (onDelivery) =>
    shardwheelOn(bullmqStore({ connection, queue: 'bench' }), persistAfter, onDelivery);

/**
 * BullMQ's own delayed jobs, as its documentation has them: a job id per timer, `changeDelay` to move it, `remove` to
 * cancel it.
 */
export const bullmqAlone =
  (connection: Redis): CreateDurable =>
  async (onDelivery) => {
    let writes = 0;
    const queue = new Queue('bench', { connection });
    const blocking = connection.duplicate();
    const worker = new Worker(
      'bench',
      async ({ id }) => {
        writes += 2; // it is taken, and removed
        onDelivery(id as string);
      },
      { connection: blocking, concurrency: CONCURRENCY, removeOnComplete: { count: 0 } },
    );
    return {
      schedule: (jobId, delay) => {
        writes += 1;
        return queue.add('bench', {}, { jobId, delay, attempts: 10, removeOnComplete: true });
      },
      move: (key, delay) => {
        writes += 1;
        return new BullmqJob(queue, 'bench', {}, {}, key).changeDelay(delay);
      },
      cancel: (key) => {
        writes += 1;
        return queue.remove(key);
      },
      writes: () => writes,
      close: async () => {
        await worker.close();
        blocking.disconnect();
        await queue.close();
      },
    };
  };

/**
 * As agenda does it: records with a due time, of which those that are due are looked for every so often, and claimed.
 */
export const pollingRedis =
  (connection: Redis): CreateDurable =>
  async (onDelivery) => {
    let writes = 0;
    let isClosed = false;
    const poll = async (): Promise<void> => {
      while (!isClosed) {
        const due = await connection.zrangebyscore('due', 0, Date.now(), 'LIMIT', 0, 1000);
        await Promise.all(
          due.map(async (key) => {
            writes += 1;
            if ((await connection.zrem('due', key)) === 0) return;
            onDelivery(key);
            writes += 1;
            await connection.del(`record:${key}`);
          }),
        );
        if (due.length === 0) await new Promise((resolve) => setTimeout(resolve, POLL));
      }
    };
    const polling = poll();
    const put = (key: string, delay: number): Promise<unknown> => {
      writes += 1;
      const due = Date.now() + delay;
      return connection.multi().set(`record:${key}`, '{}').zadd('due', due, key).exec();
    };
    return {
      schedule: put,
      move: put,
      cancel: (key) => {
        writes += 1;
        return connection.multi().del(`record:${key}`).zrem('due', key).exec();
      },
      writes: () => writes,
      close: async () => {
        isClosed = true;
        await polling;
      },
    };
  };

/**
 * node-schedule, which keeps its jobs in memory, with a record of each in LMDB, so that they outlive the process as the
 * others do.
 */
export const nodeScheduleOnLmdb =
  (path: string): CreateDurable =>
  async (onDelivery) => {
    let writes = 0;
    const root = open<number, string>({ path });
    const fire = async (key: string): Promise<void> => {
      onDelivery(key);
      writes += 1;
      await root.remove(key);
    };
    // It takes no job whose time has passed.
    const take = (key: string, due: number): void => {
      if (due <= Date.now()) void fire(key);
      else nodeSchedule.scheduleJob(key, new Date(due), () => fire(key));
    };
    for (const { key, value } of root.getRange()) take(key, value);
    const put = async (key: string, delay: number): Promise<void> => {
      const due = Date.now() + delay;
      nodeSchedule.scheduledJobs[key]?.cancel();
      take(key, due);
      writes += 1;
      await root.put(key, due);
      await root.flushed;
    };
    return {
      schedule: put,
      move: put,
      cancel: async (key) => {
        nodeSchedule.scheduledJobs[key]?.cancel();
        writes += 1;
        await root.remove(key);
        await root.flushed;
      },
      writes: () => writes,
      close: async () => {
        await nodeSchedule.gracefulShutdown();
        await root.close();
      },
    };
  };
