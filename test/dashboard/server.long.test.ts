import { createScheduler } from 'shardwheel';
import { serveDashboard } from 'shardwheel/dashboard';
import { expect, test, vi } from 'vitest';
import { Model } from '../../src/extras/dashboard/page/model.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { pass } from '../fixtures/event-loop.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { ask, Watcher } from './dashboard-client.ts';
import { anyPort, served } from './served.ts';

test('one page with script and style within, which names no other file or host, and nothing else', async () => {
  await using shown = await served();
  const page = await ask(shown.url, '/');
  expect(page.status).toBe(200);
  for (const part of ['EventSource', '.dial']) expect(page.text).toContain(part);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  expect(page.headers['content-security-policy']).toMatch(/script-src 'sha256-[^']+='; style-src 'sha256-[^']+=';/);
  expect(page.headers['content-security-policy']).not.toContain('unsafe');
  expect(page.text.match(/<(?:script|style|link)\b[^>]*>/g)).toEqual([
    expect.stringMatching(/^<link\s+rel="icon"\s+href="data:/),
    '<style>',
    '<script type="module">',
  ]);
  const text = page.text.replaceAll('http://www.w3.org/2000/svg', '').replace(/<script.*<\/script>/s, '');
  expect(text).not.toMatch(/https?:|url\(|(?:src|href)="(?!data:)/);
  const head = await ask(shown.url, '/', { method: 'HEAD' });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', page.headers['content-length']]);
  const others = ['/../package.json', '/src', '/main.js', '//x', '/%2e%2e/src', '/events/x'];
  expect((await Promise.all(others.map((path) => ask(shown.url, path)))).map(({ status }) => status)).toEqual(
    others.map(() => 404),
  );
  expect((await ask(shown.url, '/', { method: 'POST' })).status).toBe(405);
  expect((await ask(shown.url, 'http://127.0.0.1/', {})).status).toBe(400);
});

test('events: a hello, then a sample at once, and one each second, which have what the scheduler says', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const stats = vi.spyOn(scheduler, 'stats');
  for (let i = 0; i < 30; i++) scheduler.scheduleAfter(i, 3_600_000);
  using watcher = await Watcher.open(url);
  const { hello } = watcher;
  expect(hello).toMatchObject({ protocol: 3, pid: process.pid, interval: 1000, shards: 1, points: [] });
  const model = new Model(hello);
  const first = model.take(await watcher.sample());
  expect(first).toMatchObject({ size: 30, scheduled: 30, rescheduled: 0, cancelled: 0, delivered: 0 });
  expect([first.rates, first.cores, first.recent]).toEqual([undefined, undefined, undefined]);
  for (let i = 0; i < 20; i++) scheduler.scheduleAfter(i, 1);
  const sample = await watcher.sample();
  expect(sample.stats).toEqual(JSON.parse(JSON.stringify(await stats.mock.results[1].value)));
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
    expect(watcher.hello.from).toBe(first);
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
  expect(await watcher.expect('waiting')).toEqual({ seconds: 1 });
  scheduler.stats = stats;
});

test('nothing is asked while nobody looks', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const asking = [vi.spyOn(scheduler, 'stats'), vi.spyOn(scheduler, 'wheels')];
  const asked = () => asking.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  await ask(url, '/');
  await pass(1100);
  expect(asked()).toBe(0);
  const watcher = await Watcher.open(url);
  const samples = [await watcher.sample(), await watcher.sample()];
  expect(asked()).toBe(4); // stats() and wheels(), twice
  watcher[Symbol.dispose]();
  await pass(200);
  const before = asked();
  await pass(1500);
  expect(asked()).toBe(before);
  using again = await Watcher.open(url);
  const { points } = again.hello;
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
