import { createNoopMeter } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createScheduler, InvalidArgumentError, InvalidConfigError, type Scheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { describe, expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { Fault, withFaults } from '../fixtures/fault.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { newProvider, pointsOf } from './collected.ts';

const manual = (shards = 1): Scheduler => createScheduler({ shards, clock: 'manual', capacity: 1024 });

const valuesOf = (points: ReturnType<typeof pointsOf>, name: string): unknown[] =>
  points.filter((point) => point.name === `shardwheel.${name}`).map(({ labels, value }) => [labels, value]);

const own = { 'shardwheel.client': '0' };

describe('observation', () => {
  test('is refused for the same scheduler, and for another of the same name', async () => {
    await using one = manual();
    await using two = manual();
    await using three = manual();
    const { provider, collect } = newProvider();
    const meter = provider.getMeter('test');
    observeMetrics(one, meter);
    observeMetrics(two, meter, { name: 'edge' });
    const refused = { name: 'MetricsError', code: 'ERR_METRICS_REGISTERED' };
    expect(() => observeMetrics(one, meter)).toThrow(expect.objectContaining(refused));
    expect(() => observeMetrics(three, meter)).toThrow(expect.objectContaining(refused));
    expect(() => observeMetrics(three, meter, { name: 'edge' })).toThrow(expect.objectContaining(refused));
    expect(valuesOf(pointsOf(await collect()), 'timers.delivered')).toEqual([
      [own, 0],
      [{ 'shardwheel.scheduler': 'edge', ...own }, 0],
    ]);
  });

  test('is stopped, and can be begun again', async () => {
    await using scheduler = manual();
    const { provider, collect } = newProvider();
    const meter = provider.getMeter('test');
    const stop = observeMetrics(scheduler, meter);
    scheduler.schedule(1, 5);
    await scheduler.advanceTo(10);
    expect(valuesOf(pointsOf(await collect()), 'timers.delivered')).toEqual([[own, 1]]);
    stop();
    stop();
    scheduler.schedule(1, 15);
    await scheduler.advanceTo(20);
    const values = valuesOf(pointsOf(await collect()), 'timers.delivered');
    expect(values.every((value) => (value as [unknown, number])[1] === 1)).toBe(true); // nobody has looked since
    observeMetrics(scheduler, meter);
    expect(valuesOf(pointsOf(await collect()), 'timers.delivered')).toEqual([[own, 2]]);
  });

  test.each(['createObservableCounter', 'createObservableGauge', 'addBatchObservableCallback'] as const)(
    'a meter whose %s throws observes nothing',
    async (method) => {
      await using scheduler = manual();
      const { provider, collect } = newProvider();
      const meter = provider.getMeter('test');
      const cause = new Error('no more');
      const original = meter[method];
      meter[method] = () => {
        throw cause;
      };
      expect(() => observeMetrics(scheduler, meter)).toThrow(
        expect.objectContaining({ name: 'MetricsError', code: 'ERR_METRICS_REFUSED', cause }),
      );
      expect(pointsOf(await collect())).toEqual([]);
      meter[method] = original as never;
      observeMetrics(scheduler, meter);
      expect(valuesOf(pointsOf(await collect()), 'timers.delivered')).toEqual([[own, 0]]);
    },
  );

  test('refuses what cannot work, and takes a meter that does nothing', async () => {
    await using scheduler = manual();
    const meter = createNoopMeter();
    const observe =
      (...args: unknown[]) =>
      () =>
        (observeMetrics as (...args: unknown[]) => unknown)(...args);
    for (const value of [undefined, null, 1, {}, meter]) expect(observe(value, meter)).toThrow(InvalidArgumentError);
    for (const value of [undefined, null, 1, {}, scheduler]) {
      expect(observe(scheduler, value)).toThrow(InvalidArgumentError);
    }
    expect(observe(scheduler, meter, { name: '' })).toThrow(InvalidArgumentError);
    expect(observe(scheduler, meter, { timeout: 0 })).toThrow(InvalidConfigError);
    observeMetrics(scheduler, meter)();
  });
});

describe('a collection', () => {
  test('after close() has what was counted', async () => {
    const scheduler = manual();
    await scheduler.ready;
    const { provider, collect } = newProvider();
    observeMetrics(scheduler, provider.getMeter('test'));
    for (let i = 0; i < 3; i++) scheduler.schedule(i, i === 2 ? 50 : 5);
    await scheduler.advanceTo(10);
    expect(valuesOf(pointsOf(await collect()), 'shard.filed')).toEqual([[{ ...own, 'shardwheel.shard': '0' }, 1]]);
    await scheduler.close();
    const points = pointsOf(await collect());
    expect(valuesOf(points, 'timers.delivered')).toEqual([[own, 2]]);
    expect(valuesOf(points, 'timers.live')).toEqual([[own, 0]]);
    expect(valuesOf(points, 'shard.filed')).toEqual([[{ ...own, 'shardwheel.shard': '0' }, 0]]);
  });

  test('does not wait for a shard that hangs, and takes nothing that it cannot know to be 0', async () => {
    const fault = new Fault('between draining and advancing', 'hang', { passes: 20 });
    await using scheduler = withFaults([fault], () =>
      createScheduler({ shards: 1, thread: { hangTimeout: Number.POSITIVE_INFINITY } }),
    );
    const { provider, collect } = newProvider();
    observeMetrics(scheduler, provider.getMeter('test'), { timeout: 20 });
    await scheduler.ready;
    const filed = async () => (valuesOf(pointsOf(await collect()), 'shard.filed') as [unknown, number][])[0]?.[1];
    while (((await filed()) ?? 0) === 0) scheduler.scheduleAfter('a', 1e6);
    await until(() => {
      scheduler.scheduleAfter('a', 1);
      return fault.isReached;
    });
    const points = pointsOf(await collect());
    expect(valuesOf(points, 'timers.live')).toEqual([[own, scheduler.size]]);
    expect(await filed()).not.toBe(0); // nothing, or as it was told before the shard hung
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
      const exported = exporter.getMetrics().map(pointsOf);
      const seen = (name: string) => exported.map((points) => valuesOf(points, name));
      expect(seen('timers.delivered')).toEqual((isDelta ? rounds : [100, 160, 190]).map((count) => [[own, count]]));
      const shard = { ...own, 'shardwheel.shard': '0' };
      expect(seen('shard.fired')).toEqual(rounds.map((count) => [[shard, count]])); // from nothing, after each restart
      await provider.shutdown();
    },
  );
});
