import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { createScheduler, type Scheduler } from 'shardwheel';
import { type DurableTimers, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { afterEach, beforeEach, expect, test } from 'vitest';

let timers: DurableTimers;
beforeEach(async () => {
  timers = await openDurableTimers({ store: memoryStore(), retry: { attempts: 2, delay: 10 } });
  timers.handle('a', (_, { key }) => {
    if (key === 'fails') throw new Error('broken');
  });
  const died = new Promise((resolve) => timers.once('dead', resolve));
  for (const key of ['fails', 'fine']) await timers.schedule('a', key, Date.now());
  await timers.schedule('a', 'far', Date.now() + 1e6);
  await timers.schedule('a', 'cancelled', Date.now() + 1e6);
  await timers.cancel('a', 'cancelled');
  await died;
});
afterEach(() => timers.close());

/** What has happened, by metric. */
const expected: Record<string, number> = {
  young: 0,
  scheduled: 4,
  cancelled: 1,
  delivered: 1,
  failed: 2,
  retried: 1,
  died: 1,
  ended_young: 0,
  'store.timers': 1,
  'store.overdue': 0,
  'store.active': 0,
  'store.dead': 1,
};

test('prom-client scrapes durable timers, beside a scheduler, until they are removed', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  const remove = registerMetrics(timers, registry, { name: 'sessions' });
  const text = await registry.metrics();
  for (const [name, value] of Object.entries(expected)) {
    const series = name.replaceAll('.', '_');
    const labels = name.startsWith('store.') ? '{durable="sessions",store="memory"}' : '{durable="sessions"}';
    expect(text).toMatch(new RegExp(`^shardwheel_durable_${series}(_total)?${labels} ${value}$`, 'm'));
  }
  expect(text).toContain('shardwheel_durable_lateness_seconds_count{durable="sessions"} 3');
  expect(text).toContain('shardwheel_timers_live{client="0"} 0');
  expect(() => registerMetrics(timers, registry)).toThrow(
    'The metrics of the durable timers are in this registry already',
  );
  remove();
  expect(await registry.metrics()).not.toContain('shardwheel_durable_');
  expect(await registry.metrics()).toContain('shardwheel_timers_live');
});

test('after the close the last counts are reported, without those of the store', async () => {
  const registry = new Registry();
  registerMetrics(timers, registry);
  await timers.close();
  const text = await registry.metrics();
  expect(text).toContain('shardwheel_durable_delivered_total 1');
  expect(text).not.toMatch(/^shardwheel_durable_store_timers\{/m);
});

test('OpenTelemetry observes the same', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  observeMetrics(timers, provider.getMeter('test'));
  await reader.forceFlush();
  const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  const found = Object.fromEntries(
    all.map(({ descriptor, dataPoints }) => [descriptor.name.replace('shardwheel.durable.', ''), dataPoints[0]?.value]),
  );
  expect(found).toMatchObject(expected);
  expect(found['lateness.count']).toBe(3);
  await provider.shutdown();
});

test('what is neither a scheduler nor durable timers is refused', () => {
  expect(() => registerMetrics({} as Scheduler, new Registry())).toThrow('The scheduler must be a Scheduler');
});
