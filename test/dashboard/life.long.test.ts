import { createScheduler, type Scheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { expect, test } from 'vitest';
import { pass } from '../fixtures/event-loop.ts';
import { ask, Watcher } from './dashboard-client.ts';
import { anyPort, served } from './served.ts';

/** How often the scheduler is asked. */
function countAsking(scheduler: Scheduler): () => number {
  let asked = 0;
  const { stats, wheels } = scheduler;
  scheduler.stats = () => {
    asked += 1;
    return stats.call(scheduler);
  };
  scheduler.wheels = () => {
    asked += 1;
    return wheels.call(scheduler);
  };
  return () => asked;
}

test('nothing is asked while nobody looks', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const asked = countAsking(scheduler);
  await ask(url, '/');
  await pass(1100);
  expect(asked()).toBe(0);
  const watcher = await Watcher.open(url);
  await watcher.hello();
  const samples = [await watcher.sample(), await watcher.sample()];
  expect(asked()).toBe(4); // stats() and wheels(), twice
  watcher[Symbol.dispose]();
  await pass(200);
  const before = asked();
  await pass(1500);
  expect(asked()).toBe(before);
  using again = await Watcher.open(url);
  const { points } = await again.hello();
  expect(points).toEqual(samples.map(({ point }) => point));
  expect(points.map(({ run }) => run)).toEqual([1, 1]);
  // What has changed since is no rate: it would be that of the time when nobody looked.
  expect((await again.sample()).point.run).toBe(2);
});

test.each([
  ['close(), which may be called twice', 'The dashboard was closed.', 0],
  ['the close of its scheduler', 'The scheduler was closed.', 1],
] as const)('%s ends the streams with a last event, and frees the port', async (_name, reason, shards) => {
  await using scheduler = createScheduler({ shards });
  const dashboard = await serveDashboard(scheduler, anyPort);
  using watcher = await Watcher.open(dashboard.url);
  await watcher.hello();
  await watcher.sample();
  if (shards === 1) await scheduler.close();
  else await Promise.all([dashboard.close(), dashboard.close()]);
  expect(await watcher.expect('end')).toEqual({ reason });
  expect(await watcher.next()).toBeUndefined();
  await dashboard.close();
  await expect(ask(dashboard.url, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(scheduler.listenerCount('shard-restart')).toBe(0);
  const port = Number(new URL(dashboard.url).port);
  const again = serveDashboard(scheduler, { port });
  if (shards === 1) await expect(again).rejects.toMatchObject({ code: 'ERR_SCHEDULER_CLOSED' });
  else await (await again).close(); // the scheduler is open as before
});

test('a scheduler has one at a time', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const both = await Promise.allSettled([serveDashboard(scheduler, anyPort), serveDashboard(scheduler, anyPort)]);
  const [value, ...others] = both.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  expect(others).toEqual([]);
  const refused = { code: 'ERR_DASHBOARD_SERVED', message: expect.stringContaining(value.url) };
  await expect(serveDashboard(scheduler, anyPort)).rejects.toMatchObject(refused);
  expect((await ask(value.url, '/')).status).toBe(200);
  await using other = createScheduler({ shards: 0 });
  await serveDashboard(other, anyPort);
  await value.close();
  await serveDashboard(scheduler, anyPort);
});
