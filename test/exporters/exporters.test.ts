import { createScheduler, InvalidArgumentError, InvalidConfigError, type Scheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { describe, expect, test, vi } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { Fault, withFaults } from '../fixtures/fault.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { valueIn } from './exposition.ts';
import { OpenTelemetryPlace, type Place, PrometheusPlace } from './places.ts';

const manual = (shards = 1): Scheduler => createScheduler({ shards, clock: 'manual', capacity: 1024 });

const deliveredIn = async (place: Place, labels: Record<string, string> = {}): Promise<number | undefined> =>
  valueIn(await place.read(), 'shardwheel_timers_delivered_total', { client: '0', ...labels });

/** Counts how often the scheduler is read, and its shards are asked. */
function countReadings(scheduler: Scheduler): () => { readings: number; questions: number } {
  const { coordinator } = internalsOf(scheduler);
  const readings = vi.spyOn(coordinator, 'publishAll');
  const questions = coordinator.hosts.map((host) => vi.spyOn(host, 'call'));
  const sum = () => questions.reduce((total, { mock }) => total + mock.calls.length, 0);
  return () => ({ readings: readings.mock.calls.length, questions: sum() });
}

describe.each([
  // What has been told of a shard is no longer told; the SDK would go on to report the last value, so that must be 0.
  { format: 'Prometheus', placeOf: () => new PrometheusPlace(), start: registerMetrics, gone: undefined },
  { format: 'OpenTelemetry', placeOf: () => new OpenTelemetryPlace(), start: observeMetrics, gone: 0 },
])('$format', ({ placeOf, start, gone }) => {
  test('refuses the same scheduler, and another of the same name, and leaves what is there', async () => {
    const place = placeOf();
    await using one = manual();
    await using two = manual();
    await using three = manual();
    place.add(one);
    place.add(two, { name: 'edge' });
    const refused = expect.objectContaining({ name: 'MetricsError', code: 'ERR_METRICS_REGISTERED' });
    expect(() => place.add(one)).toThrow(refused);
    expect(() => place.add(one, { name: 'other' })).toThrow(refused);
    expect(() => place.add(three)).toThrow(refused);
    expect(() => place.add(three, { name: 'edge' })).toThrow(/"?edge/);
    const live = (await place.read()).filter(({ name }) => name === 'shardwheel_timers_live');
    expect(live.map(({ labels }) => labels)).toEqual([{ client: '0' }, { scheduler: 'edge', client: '0' }]);
    placeOf().add(three); // another place knows nothing of it
  });

  test('is taken back, for one scheduler at a time, and can be begun again', async () => {
    const place = placeOf();
    await using one = manual();
    await using two = manual();
    const [first, second] = [place.add(one, { name: 'one' }), place.add(two, { name: 'two' })];
    two.schedule(1, 5);
    one.schedule(1, 5);
    await Promise.all([one.advanceTo(10), two.advanceTo(10)]);
    expect([await deliveredIn(place, { scheduler: 'one' }), await deliveredIn(place, { scheduler: 'two' })]).toEqual([
      1, 1,
    ]);
    first();
    first();
    for (const scheduler of [one, two]) {
      scheduler.schedule(1, 15);
      await scheduler.advanceTo(20);
    }
    expect(await deliveredIn(place, { scheduler: 'two' })).toBe(2);
    // nobody has looked since
    expect(await deliveredIn(place, { scheduler: 'one' })).toBe(gone === undefined ? undefined : 1);
    second();
    place.add(one, { name: 'one' });
    first();
    expect(await deliveredIn(place, { scheduler: 'one' })).toBe(2);
  });

  test('refuses what cannot work', async () => {
    const place = placeOf();
    await using scheduler = manual();
    const where = place instanceof PrometheusPlace ? place.registry : (place as OpenTelemetryPlace).meter;
    const starting =
      (...args: unknown[]) =>
      () =>
        (start as (...args: unknown[]) => unknown)(...args);
    for (const value of [undefined, null, 1, {}, where]) expect(starting(value, where)).toThrow(InvalidArgumentError);
    for (const value of [1, 'x', {}, scheduler]) expect(starting(scheduler, value)).toThrow(InvalidArgumentError);
    for (const value of [null, 1, 'x']) expect(starting(scheduler, where, value)).toThrow(InvalidArgumentError);
    for (const name of ['', 1, null, {}]) expect(starting(scheduler, where, { name })).toThrow(InvalidArgumentError);
    for (const timeout of [0, -1, Number.NaN, 60_001, Number.POSITIVE_INFINITY, '5']) {
      expect(starting(scheduler, where, { timeout })).toThrow(InvalidConfigError);
    }
    expect(await place.read()).toEqual([]);
  });

  test.each([0, 2])(
    'reads the scheduler once for all metrics, and nobody does between two readings: shards %i',
    async (shards) => {
      const place = placeOf();
      await using scheduler = manual(shards);
      await scheduler.ready;
      place.add(scheduler);
      const counted = countReadings(scheduler);
      for (let readings = 1; readings <= 3; readings++) {
        await place.read();
        expect(counted()).toEqual({ readings, questions: readings * Math.max(1, shards) });
        await scheduler.advanceTo(readings * 1000);
      }
    },
  );

  test.each([0, 1])(
    'after close() has what was counted, also where close() comes in its midst: shards %i',
    async (shards) => {
      const place = placeOf();
      const scheduler = manual(shards);
      await scheduler.ready;
      place.add(scheduler);
      for (const deadline of [5, 5, 50]) scheduler.schedule(1, deadline);
      await scheduler.advanceTo(10);
      expect(valueIn(await place.read(), 'shardwheel_shard_filed', { client: '0', shard: '0' })).toBe(1);
      const [during] = await Promise.all([place.read(), scheduler.close()]);
      expect(valueIn(during, 'shardwheel_timers_delivered_total', { client: '0' })).toBe(2);
      const counted = countReadings(scheduler);
      const lines = await place.read();
      expect(counted()).toEqual({ readings: 0, questions: 0 }); // nobody is there to be asked
      expect(valueIn(lines, 'shardwheel_timers_delivered_total', { client: '0' })).toBe(2);
      expect(valueIn(lines, 'shardwheel_timers_live', { client: '0' })).toBe(0);
      expect(valueIn(lines, 'shardwheel_shard_filed', { client: '0', shard: '0' })).toBe(gone);
      placeOf().add(scheduler)();
    },
  );

  test('does not wait for a shard that hangs, and leaves out what only that one knows', async () => {
    const place = placeOf();
    const fault = new Fault('between draining and advancing', 'hang', { passes: 20 });
    await using scheduler = withFaults([fault], () =>
      createScheduler({ shards: 1, thread: { hangTimeout: Number.POSITIVE_INFINITY } }),
    );
    place.add(scheduler, { timeout: 20 });
    const counted = countReadings(scheduler);
    await scheduler.ready;
    const shard = { client: '0', shard: '0' };
    while (!valueIn(await place.read(), 'shardwheel_shard_filed', shard)) scheduler.scheduleAfter('a', 1e6);
    await until(() => {
      scheduler.scheduleAfter('a', 1);
      return fault.isReached;
    });
    const { readings, questions } = counted();
    for (let reading = 0; reading < 3; reading++) {
      const lines = await place.read();
      const value = (name: string) => valueIn(lines, `shardwheel_shard_${name}`, shard);
      expect(valueIn(lines, 'shardwheel_timers_live', { client: '0' })).toBe(scheduler.size);
      expect([value('timers_live'), value('deaths_total'), value('inline')]).toEqual([scheduler.size, 0, 0]);
      // The SDK tells again what it was told before the shard hung.
      if (gone === undefined) expect([value('fired_total'), value('filed')]).toEqual([undefined, undefined]);
      else expect(value('filed')).not.toBe(0);
    }
    // none is asked again before it has answered
    expect(counted()).toEqual({ readings: readings + 3, questions: questions + 1 });
  });
});
