import { AggregatorRegistry, Gauge, Registry, register } from 'prom-client';
import { createScheduler, MetricsError, type Scheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';
import { afterEach, describe, expect, test } from 'vitest';
import { scrape, valueIn } from './exposition.ts';
import { linesOf } from './places.ts';

const manual = (): Scheduler => createScheduler({ shards: 1, clock: 'manual', capacity: 1024 });

const namesIn = (registry: Registry): string[] => registry.getMetricsAsArray().map(({ name }) => name);

const delivered = (text: string, labels: Record<string, string> = {}): number | undefined =>
  valueIn(linesOf(text), 'shardwheel_timers_delivered_total', { client: '0', ...labels });

afterEach(() => register.clear());

describe('registration', () => {
  test("without a registry it is prom-client's own", async () => {
    await using scheduler = manual();
    const unregister = registerMetrics(scheduler);
    expect(namesIn(register)).toContain('shardwheel_timers_live');
    unregister();
    expect(namesIn(register)).toEqual([]);
  });

  test.each([0, 1, 17])('a registry that throws at metric %i has none of them', async (at) => {
    await using scheduler = manual();
    const cause = new Error('no more');
    let registered = 0;
    class Refusing extends Registry {
      override registerMetric(metric: never): void {
        registered += 1;
        if (registered === at + 1) throw cause;
        super.registerMetric(metric);
      }
    }
    const registry = new Refusing();
    expect(() => registerMetrics(scheduler, registry)).toThrow(
      expect.objectContaining({ name: 'MetricsError', code: 'ERR_METRICS_REFUSED', cause }),
    );
    expect(namesIn(registry)).toEqual([]);
    registerMetrics(scheduler, registry); // it has thrown once
    expect(delivered(await scrape(registry))).toBe(0);
  });

  test("what is somebody else's stays, by whatever name", async () => {
    await using scheduler = manual();
    const registry = new Registry();
    const theirs = new Gauge({ name: 'shardwheel_shard_filed', help: 'theirs', registers: [registry] });
    expect(() => registerMetrics(scheduler, registry)).toThrow(MetricsError);
    expect(registry.getMetricsAsArray()).toEqual([theirs]);
    registry.clear();
    const unregister = registerMetrics(scheduler, registry);
    registry.clear();
    const other = new Gauge({ name: 'shardwheel_shard_filed', help: 'theirs', registers: [registry] });
    unregister();
    expect(registry.getMetricsAsArray()).toEqual([other]);
  });

  test('can be done again where the registry has been cleared', async () => {
    await using scheduler = manual();
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    registry.clear();
    registerMetrics(scheduler, registry);
    expect(delivered(await scrape(registry))).toBe(0);
  });
});

test('a scrape of the OpenMetrics format, as JSON, merged, with default labels, and of a cluster', async () => {
  await using scheduler = manual();
  scheduler.schedule(1, 5);
  await scheduler.advanceTo(10);
  const open = new (Registry as new (type: string) => Registry)(Registry.OPENMETRICS_CONTENT_TYPE);
  const unregister = registerMetrics(scheduler, open);
  for (let scrapes = 0; scrapes < 2; scrapes++) {
    const text = await open.metrics();
    expect(text).toContain(
      '# TYPE shardwheel_timers_delivered counter\nshardwheel_timers_delivered_total{client="0"} 1\n',
    );
    expect(text.endsWith('# EOF\n')).toBe(true);
  }
  unregister();
  expect(open.getMetricsAsArray()).toEqual([]);

  const registry = new Registry();
  registerMetrics(scheduler, registry);
  registry.setDefaultLabels({ app: 'x' });
  expect(delivered(await scrape(registry), { app: 'x' })).toBe(1);
  registry.setDefaultLabels({});
  registry.resetMetrics();
  expect(delivered(await scrape(registry))).toBe(1);
  expect(delivered(await scrape(Registry.merge([registry, new Registry()])))).toBe(1);
  const json = await registry.getMetricsAsJSON();
  const cluster = AggregatorRegistry.aggregate([JSON.parse(JSON.stringify(json)), JSON.parse(JSON.stringify(json))]);
  const lines = linesOf(await cluster.metrics());
  expect(valueIn(lines, 'shardwheel_timers_delivered_total', { client: '0' })).toBe(2);
  expect(valueIn(lines, 'shardwheel_timer_lateness_seconds_count', { client: '0' })).toBe(2);
  expect(valueIn(lines, 'shardwheel_shard_inline', { client: '0', shard: '0' })).toBeLessThanOrEqual(1);
});

test('▲ of the processes of a cluster: counts are summed, of the factors and of who answers the least is told', async () => {
  await using one = manual();
  await using other = manual();
  const told: unknown[] = [];
  for (const [at, scheduler] of [one, other].entries()) {
    const idle = scheduler.label('idle', { min: 5 });
    for (let timer = 0; timer <= at; timer++) idle.schedule(timer, 100);
    await idle.setScale(at === 0 ? 0.25 : 1);
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    told.push(await registry.getMetricsAsJSON());
  }
  for (const all of [told, told.toReversed()]) {
    const lines = linesOf(await AggregatorRegistry.aggregate(JSON.parse(JSON.stringify(all))).metrics());
    const value = (name: string, labels = {}) => valueIn(lines, `shardwheel_${name}`, { client: '0', ...labels });
    expect([value('timers_live'), value('label_timers_live', { label: 'idle' })]).toEqual([3, 3]);
    expect([value('label_factor', { label: 'idle' }), value('client_answered')]).toEqual([0.25, 1]);
  }
});
