import { Worker } from 'node:worker_threads';
import { createScheduler, type SchedulerHandle } from 'shardwheel';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { isExhaustive, TIME_LIMIT } from '../fixtures/depth.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

const TIMES = isExhaustive ? 10_000 : 600;

/** Fails, and says what has not ended, well before the test's own limit. */
async function inTime<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} has not ended in time`)), TIME_LIMIT / 4);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** What the thread holds open when it has connected and closed so often. */
async function connectOften(handle: SchedulerHandle, times: number): Promise<number> {
  const worker = new Worker(new URL('../fixtures/connect-often.mjs', import.meta.url), {
    workerData: { handle, times },
    execArgv: [],
  });
  const connected = new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`ended with ${code} before it had connected so often`)));
  });
  const open = await inTime('a thread that connects', connected);
  await inTime('terminate()', worker.terminate());
  return open;
}

test(`${TIMES} connections that came and went leave memory, handles and lanes as they were`, {
  timeout: TIME_LIMIT,
}, async () => {
  await using scheduler = await readyScheduler({ shards: 2, capacity: 4096 });
  const handle = scheduler.share();
  // Code is compiled, and heaps and the allocator's arenas have reached the size that they keep.
  const open = await connectOften(handle, TIMES / 2);
  await pass(100);
  // Each has touched some 100 KB, on its side and the shards': kept, they would show in every round. What else grows,
  // on a busy machine, does so in one.
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4 && least > TIMES * 30_000; round++) {
    const before = process.memoryUsage().rss;
    expect(await connectOften(handle, TIMES)).toBe(open);
    least = Math.min(least, process.memoryUsage().rss - before);
  }
  expect(least).toBeLessThan(TIMES * 30_000);
  const lanesNow = async () => (await inTime('stats()', scheduler.stats())).shards.map(({ lanes }) => lanes);
  const end = performance.now() + TIME_LIMIT / 4;
  while ((await lanesNow()).some((lanes) => lanes !== 1) && performance.now() < end) await pass(5);
  expect(await lanesNow()).toEqual([1, 1]);
  expect((await scheduler.stats()).clients.length).toBe(1);
});

test('threads that ended without a word are found out, and what they had is given back', async () => {
  await using scheduler = createScheduler({ shards: 2, capacity: 4096 });
  const handle = scheduler.share();
  for (let round = 0; round < 3; round++) {
    const clients = Array.from({ length: 4 }, () => ClientThread.connect(handle));
    await Promise.all(clients.map((client) => client.scheduleAll(100, 60_000)));
    const { clients: known } = await scheduler.stats();
    expect(known.filter(({ size }) => size === 100).length).toBeLessThanOrEqual(4);
    await Promise.all(clients.map((client) => client.worker.terminate()));
    await until(async () => {
      const { clients, shards } = await scheduler.stats();
      return clients.length === 1 && shards.every(({ lanes }) => lanes === 1);
    });
  }
  expect((await scheduler.stats()).clients[0]).toMatchObject({ client: 0, size: 0 });
});
