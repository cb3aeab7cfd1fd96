import { createScheduler, type SchedulerStats } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { expect, test } from 'vitest';
import { Model } from '../../src/dashboard/page/model.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { ask, Watcher } from './dashboard-client.ts';
import { anyPort, served } from './served.ts';

test('the page, its script and its style, which name no other host, and nothing else', async () => {
  await using served_ = await served();
  const { url } = served_;
  const [page, script, style] = await Promise.all(['/', '/main.js', '/style.css'].map((path) => ask(url, path)));
  expect([page.status, script.status, style.status]).toEqual([200, 200, 200]);
  expect([page.text, script.text, style.text]).toEqual(
    ['/main.js', 'EventSource', '.dial'].map((part) => expect.stringContaining(part)),
  );
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  expect(script.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(style.headers['content-type']).toBe('text/css; charset=utf-8');
  for (const { text } of [page, style]) {
    expect(text.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|url\(/);
  }
  const head = await ask(url, '/', { method: 'HEAD' });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', page.headers['content-length']]);
  const others = ['/../package.json', '/src', '/main.js/', '//x', '/%2e%2e/src', '/events/x'];
  expect((await Promise.all(others.map((path) => ask(url, path)))).map(({ status }) => status)).toEqual(
    others.map(() => 404),
  );
  expect((await ask(url, '/', { method: 'POST' })).status).toBe(405);
  expect((await ask(url, 'http://127.0.0.1/', {})).status).toBe(400);
});

test('events: a hello, then a sample at once, and one each second, which have what the scheduler says', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const told: SchedulerStats[] = [];
  const stats = scheduler.stats.bind(scheduler);
  scheduler.stats = async () => {
    told.push(await stats());
    return told[told.length - 1];
  };
  for (let i = 0; i < 30; i++) scheduler.scheduleAfter(i, 3_600_000);
  using watcher = await Watcher.open(url);
  const hello = await watcher.hello();
  expect(hello).toMatchObject({ protocol: 2, pid: process.pid, interval: 1000, shards: 1, points: [] });
  const model = new Model(hello);
  const first = model.take(await watcher.sample());
  expect(first).toMatchObject({ size: 30, scheduled: 30, rescheduled: 0, cancelled: 0, delivered: 0 });
  expect([first.rates, first.cores, first.recent]).toEqual([undefined, undefined, undefined]);
  for (let i = 0; i < 20; i++) scheduler.scheduleAfter(i, 1);
  const sample = await watcher.sample();
  expect(sample.stats).toEqual(JSON.parse(JSON.stringify(told[1])));
  expect(sample.stats.lateness.count).toBe(20);
  const second = model.take(sample);
  expect(second).toMatchObject({ size: 30, scheduled: 50, delivered: 20 });
  expect(second.rates?.scheduled).toBe(Math.round(20 / second.seconds));
  expect(second.recent?.count).toBe(20);
  expect(second.recent?.buckets.reduce((sum, count) => sum + count, 0)).toBe(20);
  expect(second.shards[0].levels.reduce((sum, { entries }) => sum + entries, 0)).toBeGreaterThanOrEqual(30);
});

test('shards by eight', async () => {
  await using scheduler = createScheduler({ shards: 12, clock: 'manual', capacity: 16 });
  const { url } = await serveDashboard(scheduler, anyPort);
  for (const [query, first, shown] of [
    ['', 0, 8],
    ['?from=8', 8, 4],
    ['?from=11', 8, 4],
    ['?from=999', 8, 4],
    ['?from=-3', 0, 8],
    ['?from=x', 0, 8],
  ] as const) {
    using watcher = await Watcher.open(url, query);
    expect((await watcher.hello()).from).toBe(first);
    const { stats, wheels } = await watcher.sample();
    expect(stats.shards).toHaveLength(12);
    expect(wheels.map(({ shard }) => shard)).toEqual(Array.from({ length: shown }, (_, at) => first + at));
  }
});

test('a scheduler that is connected in another thread: its own timers alone', async () => {
  await using scheduler = createScheduler({ shards: 1, capacity: 4096 });
  await scheduler.ready;
  await using client = ClientThread.connect(scheduler.share());
  scheduler.scheduleAfter(1, 3_600_000);
  const url = await client.run(
    async ({ scheduler }, module) => {
      for (let i = 0; i < 30; i++) scheduler.scheduleAfter(1, 3_600_000);
      // Vitest would put a function of its own in the place of a plain import().
      const { serveDashboard } = await new Function('module', 'return import(module)')(module);
      return (await serveDashboard(scheduler, { port: 0 })).url as string;
    },
    new URL('../../lib/dashboard.js', import.meta.url).href,
  );
  using watcher = await Watcher.open(url);
  await watcher.hello();
  const { point, stats } = await watcher.sample();
  expect(point).toMatchObject({ size: 30, scheduled: 30 });
  expect([stats.client, stats.clients]).toEqual([1, []]); // it goes by its number
});

test('restarts of shards', async () => {
  await using scheduler = createScheduler({ shards: 1, capacity: 64 });
  await scheduler.ready;
  const { url } = await serveDashboard(scheduler, anyPort);
  await restartShard(scheduler, 0);
  using watcher = await Watcher.open(url);
  await watcher.hello();
  expect(await watcher.sample()).toMatchObject({
    stats: { shards: [{ deaths: 1, restarts: 1 }] },
    restarted: [{ shard: 0, rescheduled: 0 }],
  });
});

test('that a shard does not answer', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const { stats } = scheduler;
  scheduler.stats = () => new Promise(() => undefined);
  using watcher = await Watcher.open(url);
  await watcher.hello();
  expect(await watcher.expect('waiting')).toEqual({ seconds: 1 });
  scheduler.stats = stats;
});
