import { AggregatorRegistry, Gauge, Registry, register } from 'prom-client';
import { createScheduler, InvalidArgumentError, InvalidConfigError, MetricsError, type Scheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';
import { afterEach, describe, expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { Fault, withFaults } from '../fixtures/fault.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { familiesOf, scrape, valueIn } from './exposition.ts';

const manual = (shards = 1): Scheduler => createScheduler({ shards, clock: 'manual', capacity: 1024 });

const namesIn = (registry: Registry): string[] => registry.getMetricsAsArray().map(({ name }) => name);

const delivered = (text: string, labels: Record<string, string>): number | undefined =>
  valueIn(familiesOf(text), 'shardwheel_timers_delivered_total', labels);

/** Counts how often the scheduler is read, and its shards are asked. */
function countReadings(scheduler: Scheduler): () => { readings: number; questions: number } {
  let questions = 0;
  let readings = 0;
  const { coordinator } = internalsOf(scheduler);
  const publishAll = coordinator.publishAll.bind(coordinator);
  coordinator.publishAll = () => {
    readings += 1;
    publishAll();
  };
  for (const { host } of coordinator.hosted) {
    const call = host.call.bind(host);
    host.call = (name) => {
      questions += 1;
      return call(name);
    };
  }
  return () => ({ readings, questions });
}

afterEach(() => register.clear());

describe('registration', () => {
  test("without a registry it is prom-client's own", async () => {
    await using scheduler = manual();
    const unregister = registerMetrics(scheduler);
    expect(namesIn(register)).toContain('shardwheel_timers_live');
    unregister();
    expect(namesIn(register)).toEqual([]);
  });

  test('is refused for the same scheduler, and for another of the same name, and leaves what is there', async () => {
    await using one = manual();
    await using two = manual();
    await using three = manual();
    const registry = new Registry();
    registerMetrics(one, registry);
    registerMetrics(two, registry, { name: 'edge' });
    const refused = { name: 'MetricsError', code: 'ERR_METRICS_REGISTERED' };
    expect(() => registerMetrics(one, registry)).toThrow(expect.objectContaining(refused));
    expect(() => registerMetrics(one, registry, { name: 'other' })).toThrow(expect.objectContaining(refused));
    expect(() => registerMetrics(three, registry)).toThrow(expect.objectContaining(refused));
    expect(() => registerMetrics(three, registry, { name: 'edge' })).toThrow(/"?edge/);
    const families = familiesOf(await scrape(registry));
    expect(families.get('shardwheel_timers_live')?.lines.map(({ labels }) => labels)).toEqual([
      { client: '0' },
      { scheduler: 'edge', client: '0' },
    ]);
    registerMetrics(three, new Registry()); // another registry knows nothing of it
  });

  test('is taken back, for one scheduler at a time, and can be done again', async () => {
    await using one = manual();
    await using two = manual();
    const registry = new Registry();
    const first = registerMetrics(one, registry, { name: 'a "b"\n\\c' });
    const second = registerMetrics(two, registry, { name: 'two' });
    expect(delivered(await scrape(registry), { client: '0', scheduler: 'a "b"\n\\c' })).toBe(0);
    first();
    first();
    const text = await scrape(registry);
    expect(delivered(text, { client: '0', scheduler: 'two' })).toBe(0);
    expect(text).not.toContain('a \\"b\\"');
    registerMetrics(one, registry, { name: 'one' })();
    second();
    expect(namesIn(registry)).toEqual([]);
    registerMetrics(one, registry);
    first();
    expect(namesIn(registry).length).toBeGreaterThan(20);
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
    expect(delivered(await scrape(registry), { client: '0' })).toBe(0);
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
    expect(delivered(await scrape(registry), { client: '0' })).toBe(0);
  });

  test('refuses what cannot work', async () => {
    await using scheduler = manual();
    const register =
      (...args: unknown[]) =>
      () =>
        (registerMetrics as (...args: unknown[]) => unknown)(...args);
    const registry = new Registry();
    for (const value of [undefined, null, 1, {}, registry])
      expect(register(value, registry)).toThrow(InvalidArgumentError);
    for (const value of [null, 1, 'x', {}, scheduler]) {
      if (value !== null) expect(register(scheduler, value)).toThrow(InvalidArgumentError);
    }
    for (const value of [null, 1, 'x']) expect(register(scheduler, registry, value)).toThrow(InvalidArgumentError);
    for (const name of ['', 1, null, {}]) expect(register(scheduler, registry, { name })).toThrow(InvalidArgumentError);
    for (const timeout of [0, -1, Number.NaN, 60_001, Number.POSITIVE_INFINITY, '5']) {
      expect(register(scheduler, registry, { timeout })).toThrow(InvalidConfigError);
    }
    expect(namesIn(registry)).toEqual([]);
  });
});

describe('a scrape', () => {
  test.each([0, 2])(
    'reads the scheduler once for all metrics, and nobody does between two: shards %i',
    async (shards) => {
      await using scheduler = manual(shards);
      await scheduler.ready;
      const registry = new Registry();
      registerMetrics(scheduler, registry);
      const counted = countReadings(scheduler);
      for (let scrapes = 1; scrapes <= 3; scrapes++) {
        await scrape(registry);
        expect(counted()).toEqual({ readings: scrapes, questions: scrapes * Math.max(1, shards) });
        await scheduler.advanceTo(scrapes * 1000);
      }
      await Promise.all([registry.metrics(), registry.metrics()]);
      expect(counted()).toEqual({ readings: 4, questions: 4 * Math.max(1, shards) });
    },
  );

  test('after close() answers what was counted, also where close() comes in its midst', async () => {
    for (const shards of [0, 1]) {
      const scheduler = manual(shards);
      await scheduler.ready;
      const registry = new Registry();
      registerMetrics(scheduler, registry);
      scheduler.schedule(1, 5);
      scheduler.schedule(1, 50);
      await scheduler.advanceTo(10);
      const during = scrape(registry);
      const [text] = await Promise.all([during, scheduler.close()]);
      expect(delivered(text, { client: '0' })).toBe(1);
      const counted = countReadings(scheduler);
      const families = familiesOf(await scrape(registry));
      expect(counted()).toEqual({ readings: 0, questions: 0 }); // nobody is there to be asked
      expect(valueIn(families, 'shardwheel_timers_delivered_total', { client: '0' })).toBe(1);
      expect(valueIn(families, 'shardwheel_timers_live', { client: '0' })).toBe(0);
      expect(families.get('shardwheel_shard_capacity')?.lines).toEqual([]);
      registerMetrics(scheduler, new Registry())();
    }
  });

  test('does not wait for a shard that hangs, and leaves out what only that one knows', async () => {
    const fault = new Fault('between draining and advancing', 'hang');
    await using scheduler = withFaults([fault], () =>
      createScheduler({ shards: 1, thread: { hangTimeout: Number.POSITIVE_INFINITY } }),
    );
    const registry = new Registry();
    registerMetrics(scheduler, registry, { timeout: 20 });
    const counted = countReadings(scheduler);
    await scheduler.ready;
    scheduler.scheduleAfter('a', 1e6);
    await until(() => fault.isReached);
    for (let scrapes = 0; scrapes < 3; scrapes++) {
      const families = familiesOf(await scrape(registry));
      const value = (name: string) => valueIn(families, `shardwheel_${name}`, { client: '0', shard: '0' });
      expect(valueIn(families, 'shardwheel_timers_live', { client: '0' })).toBe(1);
      expect([value('shard_timers_live'), value('shard_deaths_total'), value('shard_inline')]).toEqual([1, 0, 0]);
      expect([value('shard_fired_total'), value('shard_filed'), value('shard_memory_bytes')]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    }
    expect(counted()).toMatchObject({ readings: 3, questions: 1 }); // none is asked again before it has answered
  });

  test('of the OpenMetrics format, as JSON, merged, with default labels, and of a cluster', async () => {
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
    expect(delivered(await scrape(registry), { client: '0', app: 'x' })).toBe(1);
    registry.setDefaultLabels({});
    registry.resetMetrics();
    expect(delivered(await scrape(registry), { client: '0' })).toBe(1);
    expect(delivered(await scrape(Registry.merge([registry, new Registry()])), { client: '0' })).toBe(1);
    const json = await registry.getMetricsAsJSON();
    const cluster = AggregatorRegistry.aggregate([JSON.parse(JSON.stringify(json)), JSON.parse(JSON.stringify(json))]);
    const families = familiesOf(await cluster.metrics());
    expect(valueIn(families, 'shardwheel_timers_delivered_total', { client: '0' })).toBe(2);
    expect(valueIn(families, 'shardwheel_timer_lateness_seconds_count', { client: '0' })).toBe(2);
    expect(valueIn(families, 'shardwheel_shard_inline', { client: '0', shard: '0' })).toBeLessThanOrEqual(1);
  });
});
