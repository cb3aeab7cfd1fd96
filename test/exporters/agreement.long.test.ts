import type { ResourceMetrics } from '@opentelemetry/sdk-metrics';
import { Registry } from 'prom-client';
import { createScheduler, type Scheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { describe, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { expectParsedAlike } from './agreement.ts';
import { expectSameSeries, newProvider } from './collected.ts';
import { type Family, familiesOf, scrape, valueIn } from './exposition.ts';
import { expectLatenesses, Ledger } from './ledger.ts';

const sumOf = (families: Map<string, Family>, name: string): number =>
  (families.get(name) as Family).lines.reduce((sum, { value }) => sum + value, 0);

/** Names that a parser, or who writes the text, may stumble over. */
const LABELS = ['idle', 'a "quoted" \\ name\nof {two}, lines', 'é', ' ', '__proto__'];

async function expectAgreement(
  scheduler: Scheduler,
  registry: Registry,
  collect: () => Promise<ResourceMetrics>,
  ledger: Ledger,
) {
  const text = await scrape(registry);
  const families = familiesOf(text);
  expectParsedAlike(text, families);
  ledger.expectIn(families, '0');
  expect(sumOf(families, 'shardwheel_shard_timers_live')).toBe(ledger.live);
  expect(families.get('shardwheel_shard_fired_total')?.lines.length).toBe(Math.max(1, scheduler.shards));
  expectSameSeries(await collect(), families);
  return families;
}

describe.each([0, 1, 3])('Prometheus, OpenTelemetry and a ledger agree: shards %i', (shards) => {
  test(`under load, on a manual clock, seed ${SEED}`, async () => {
    const draws = new Draws(SEED);
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 16_384 });
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    const { provider, collect } = newProvider();
    observeMetrics(scheduler, provider.getMeter('test'));
    await scheduler.ready;
    const ledger = new Ledger(scheduler, draws, LABELS);
    for (let round = 0; round < 8; round++) {
      ledger.work(1000, 100);
      await scheduler.advanceTo(scheduler.now() + draws.between(0, draws.pick([3, 60, 4000])));
      await expectAgreement(scheduler, registry, collect, ledger);
    }
    expect(ledger.delivered).toBeGreaterThan(2000);
  });
});

test(`shards that die: counts of timers go on, restarts are told, seed ${SEED}`, async () => {
  await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 16_384 });
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  const { provider, collect } = newProvider();
  observeMetrics(scheduler, provider.getMeter('test'));
  await scheduler.ready;
  const ledger = new Ledger(scheduler, new Draws(SEED), LABELS);
  for (let round = 1; round <= 3; round++) {
    ledger.work(1000, 100);
    await scheduler.advanceTo(scheduler.now() + 50);
    await restartShard(scheduler, 0);
    const families = await expectAgreement(scheduler, registry, collect, ledger);
    const count = (name: string, shard: string) =>
      valueIn(families, `shardwheel_shard_${name}_total`, { client: '0', shard });
    expect([count('deaths', '0'), count('restarts', '0'), count('restarts', '1')]).toEqual([round, round, 0]);
  }
});

test('what only stats() knows besides is told as it says: shards, scaling, what serves them', async () => {
  await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 1024 });
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  await scheduler.ready;
  const idle = scheduler.label('idle', { min: 250 });
  for (let i = 0; i < 300; i++) idle.schedule(i, 100 * i);
  for (let i = 0; i < 50; i++) scheduler.reschedule(scheduler.schedule(i, 5), 500);
  await scheduler.label('idle').setScale(0.75);
  await scheduler.advanceTo(400);
  const families = familiesOf(await scrape(registry));
  const { shards, wakes, serving, labels } = await scheduler.stats();
  const value = (name: string, more: Record<string, string> = {}) =>
    valueIn(families, `shardwheel_${name}`, { client: '0', ...more });
  expect(shards.length).toBe(2);
  // Turns of a shard are no metric: each scrape would be one more.
  for (const told of shards) {
    const of = (name: string) => value(`shard_${name}`, { shard: `${told.shard}` });
    expect({
      size: of('timers_live'),
      capacity: of('capacity'),
      highWater: of('high_water'),
      retired: of('retired'),
      deaths: of('deaths_total'),
      restarts: of('restarts_total'),
      lanes: of('lanes'),
      commands: of('commands_total'),
      fired: of('fired_total'),
      refiled: of('refiled_total'),
      dropped: of('dropped_total'),
      cascaded: of('cascaded_total'),
      filed: of('filed'),
      bytes: of('memory_bytes'),
      reservedBytes: of('memory_reserved_bytes'),
      inline: of('inline') === 1,
    }).toEqual(Object.fromEntries(Object.entries(told).filter(([key]) => !['shard', 'turns'].includes(key))));
  }
  expect([value('label_min_seconds', { label: 'idle' }), value('label_factor', { label: 'idle' })]).toEqual([
    0.25, 0.75,
  ]);
  expect(labels[0]).toMatchObject({ min: 250, factor: 0.75 });
  expect([value('client_wakes_total'), value('serving_changes_total')]).toEqual([wakes, serving.changes]);
  expect(value('serving_info', { by: serving.by })).toBe(1);
});

test('on the real clock: nothing is told that the callbacks have not seen', async () => {
  await using scheduler = createScheduler({ shards: 2 });
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  const ledger = new Ledger(scheduler, new Draws(SEED));
  const scrapes: Promise<string>[] = [];
  for (let round = 0; round < 10; round++) {
    ledger.work(2000, 100);
    scrapes.push(scrape(registry));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await until(() => ledger.live === 0);
  let before = 0;
  for (const text of await Promise.all(scrapes)) {
    const families = familiesOf(text);
    const delivered = valueIn(families, 'shardwheel_timers_delivered_total', { client: '0' }) as number;
    expect(delivered).toBe(valueIn(families, 'shardwheel_timer_lateness_seconds_count', { client: '0' }));
    expect(delivered).toBeLessThanOrEqual(ledger.delivered);
    before = Math.max(before, delivered);
  }
  const families = familiesOf(await scrape(registry));
  const value = (name: string) => valueIn(families, `shardwheel_${name}`, { client: '0' });
  expect(value('timers_delivered_total')).toBe(ledger.delivered);
  expect(value('timers_cancelled_total')).toBe(ledger.cancelled);
  expect(value('timers_rescheduled_total')).toBe(ledger.rescheduled);
  // The scheduler reads its clock before a callback runs, so that the callback finds itself at least as late.
  for (const { name, labels, value } of families.get('shardwheel_timer_lateness_seconds')?.lines ?? []) {
    if (!name.endsWith('_bucket')) continue;
    const bound = Number(labels.le.replace('+Inf', 'Infinity')) * 1000;
    expect(value).toBeGreaterThanOrEqual(ledger.latenesses.filter((lateness) => lateness < bound * 0.996).length);
  }
});

test('clients of other threads are told by their numbers, up to their end and no further', async () => {
  await using scheduler = createScheduler({ shards: 1, clock: 'manual', capacity: 4096 });
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  const { provider, collect } = newProvider(2);
  observeMetrics(scheduler, provider.getMeter('test'));
  await scheduler.ready;
  const client = ClientThread.connect(scheduler.share());
  await client.run(({ scheduler }) => {
    const late: number[] = [];
    (globalThis as { late?: number[] }).late = late;
    for (let i = 0; i < 500; i++) {
      const deadline = 1 + (i % 50) / 7;
      scheduler.schedule(i, deadline, () => late.push(scheduler.now() - deadline));
    }
    for (let i = 0; i < 10; i++) scheduler.schedule(i, 1e6);
  });
  const ledger = new Ledger(scheduler, new Draws(SEED));
  ledger.work(100, 5);
  await scheduler.advanceTo(20);
  const told = async () => familiesOf(await scrape(registry));
  await until(async () => valueIn(await told(), 'shardwheel_timers_delivered_total', { client: '1' }) === 500);
  const families = await told();
  ledger.expectIn(families, '0');
  const value = (name: string) => valueIn(families, `shardwheel_timers_${name}`, { client: '1' });
  expect([value('live'), value('scheduled_total'), value('cancelled_total')]).toEqual([10, 510, 0]);
  const latenesses = await client.run(() => (globalThis as { late?: number[] }).late as number[]);
  expectLatenesses(families, { client: '1' }, latenesses);
  for (const reader of [0, 1]) expectSameSeries(await collect(reader), families);

  await client[Symbol.asyncDispose]();
  await until(async () => (await scheduler.stats()).clients.length === 1);
  const after = await told();
  expect(valueIn(after, 'shardwheel_timers_live', { client: '1' })).toBeUndefined();
  ledger.expectIn(after, '0');
  for (const reader of [0, 1]) {
    const { scopeMetrics } = await collect(reader);
    const points = (name: string) =>
      scopeMetrics[0].metrics
        .find(({ descriptor }) => descriptor.name === name)
        ?.dataPoints.map(({ attributes, value }) => [attributes['shardwheel.client'], value]);
    // The SDK goes on to report a series that is observed no more: counters as they were, and amounts must not be.
    expect(points('shardwheel.timers.live')).toEqual([
      ['0', ledger.live],
      ['1', 0],
    ]);
    expect(points('shardwheel.timers.delivered')).toEqual([
      ['0', ledger.delivered],
      ['1', 500],
    ]);
  }
});

test('a connected scheduler that is registered in its own thread goes by its number there', async () => {
  await using scheduler = createScheduler({ shards: 1, clock: 'manual', capacity: 64 });
  await using client = ClientThread.connect(scheduler.share());
  const numbers = await client.run(async ({ scheduler }) => {
    const { client, clients } = await scheduler.stats();
    return [client, clients.length];
  });
  expect(numbers).toEqual([1, 0]);
  expect((await scheduler.stats()).client).toBe(0);
});
