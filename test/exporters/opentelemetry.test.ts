import { createNoopMeter } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createScheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { valueIn } from './exposition.ts';
import { collectedLines, OpenTelemetryPlace } from './places.ts';

const manual = () => createScheduler({ shards: 1, clock: 'manual', capacity: 1024 });

test.each(['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback'] as const)(
  'a meter whose %s throws observes nothing',
  async (method) => {
    await using scheduler = manual();
    const place = new OpenTelemetryPlace();
    const cause = new Error('no more');
    const { [method]: original } = place.meter;
    place.meter[method] = () => {
      throw cause;
    };
    expect(() => place.add(scheduler)).toThrow(
      expect.objectContaining({ name: 'MetricsError', code: 'ERR_METRICS_REFUSED', cause }),
    );
    expect(await place.read()).toEqual([]);
    place.meter[method] = original as never;
    place.add(scheduler);
    expect(valueIn(await place.read(), 'shardwheel_timers_delivered_total', { client: '0' })).toBe(0);
  },
);

test('a meter may do nothing', async () => {
  await using scheduler = manual();
  observeMetrics(scheduler, createNoopMeter())();
});

test.each([AggregationTemporality.CUMULATIVE, AggregationTemporality.DELTA])(
  'by a reader that exports periodically, over restarts of a shard: temporality %i',
  async (temporality) => {
    await using scheduler = manual();
    await scheduler.ready;
    const exporter = new InMemoryMetricExporter(temporality);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    const provider = new MeterProvider({ readers: [reader] });
    observeMetrics(scheduler, provider.getMeter('test'));
    let due = 0;
    const rounds = [100, 60, 30];
    for (const count of rounds) {
      for (let i = 0; i < count; i++) scheduler.schedule(i, ++due);
      await scheduler.advanceTo(due);
      await provider.forceFlush();
      await restartShard(scheduler, 0);
    }
    const isDelta = temporality === AggregationTemporality.DELTA;
    const exported = exporter.getMetrics().map(collectedLines);
    const seen = (name: string, labels = {}) =>
      exported.map((lines) => valueIn(lines, `shardwheel_${name}_total`, { client: '0', ...labels }));
    expect(seen('timers_delivered')).toEqual(isDelta ? rounds : [100, 160, 190]);
    expect(seen('shard_fired', { shard: '0' })).toEqual(rounds); // from nothing, after each restart
    await provider.shutdown();
  },
);

test('a client that has left raises no alarm: its shares are 1', async () => {
  await using owner = createScheduler({ shards: 0 });
  const client = ClientThread.connect(owner.share());
  await client.run(({ scheduler }) => scheduler.label('its own', { min: 5 }).setScale(0.25));
  const place = new OpenTelemetryPlace();
  place.add(owner);
  const seen = async () => {
    const lines = await place.read();
    const value = (name: string, labels: Record<string, string>) => valueIn(lines, `shardwheel_${name}`, labels);
    const factor = value('label_factor', { client: '0', label: 'its own' });
    return [factor, value('client_answered', { client: '1' }), value('client_answered', { client: '0' })];
  };
  let first: unknown[] = [];
  await until(async () => {
    first = await seen();
    return first[1] === 1; // on a busy machine it may answer too late
  });
  expect(first).toEqual([0.25, 1, 1]);
  await client.run(({ scheduler }) => scheduler.close().then(() => undefined));
  await until(async () => (await owner.stats()).clients.length === 1);
  expect(await seen()).toEqual([1, 1, 1]);
  await client.worker.terminate();
});
