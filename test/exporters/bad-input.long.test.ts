import { Registry } from 'prom-client';
import { createScheduler, type Scheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
import { registerMetrics } from 'shardwheel/prometheus';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { killShard, restartShard } from '../fixtures/shard-threads.ts';
import { expectParsedAlike } from './agreement.ts';
import { expectSameSeries, newProvider, pointsOf } from './collected.ts';
import { familiesOf, scrape, valueIn } from './exposition.ts';
import { Ledger } from './ledger.ts';

const manual = (shards = 1): Scheduler => createScheduler({ shards, clock: 'manual', capacity: 16_384 });

/** Codes of the warnings of the process meanwhile. */
async function warningsOf(act: () => Promise<void>): Promise<string[]> {
  const codes: string[] = [];
  const note = (warning: Error & { code?: string }) => codes.push(warning.code ?? warning.name);
  process.on('warning', note);
  try {
    await act();
    await new Promise(setImmediate);
  } finally {
    process.off('warning', note);
  }
  return codes;
}

test('ten thousand labels are 255 series of each metric, with one warning, and no timer is lost', async () => {
  await using scheduler = manual();
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  let fired = 0;
  const fire = () => (fired += 1);
  const warnings = await warningsOf(async () => {
    for (let i = 0; i < 10_000; i++) scheduler.label(`connection ${i}`).schedule(i, 5, fire);
    const families = familiesOf(await scrape(registry));
    const lines = families.get('shardwheel_label_timers_live')?.lines ?? [];
    expect(lines.length).toBe(255);
    expect(lines.reduce((sum, { value }) => sum + value, 0)).toBe(10_000);
    const other = { client: '0', label: '(other)' };
    expect(valueIn(families, 'shardwheel_label_timers_live', other)).toBe(10_000 - 254);
    await scheduler.advanceTo(10);
    const late = familiesOf(await scrape(registry));
    expect(valueIn(late, 'shardwheel_label_timer_lateness_seconds_count', other)).toBe(10_000 - 254);
  });
  expect(warnings).toEqual(['SHARDWHEEL_LABELS']);
  expect(fired).toBe(10_000);
});

test('so many labels are more than a reader of OpenTelemetry takes, unless it is told to: docs/operate.md says how', async () => {
  await using scheduler = manual();
  const counted = async (limit: number | undefined) => {
    const { provider, collect } = newProvider(1, limit);
    const stop = observeMetrics(scheduler, provider.getMeter('test'));
    const points = pointsOf(await collect()).filter(({ name }) => name === 'shardwheel.label.timer.lateness.bucket');
    stop();
    return [points.length, points.some(({ labels }) => labels['otel.metric.overflow'] !== undefined)];
  };
  for (let i = 0; i < 124; i++) scheduler.label(`label ${i}`).schedule(i, 5);
  expect(await counted(undefined)).toEqual([124 * 16, false]);
  for (let i = 0; i < 300; i++) scheduler.label(`label ${i}`).schedule(i, 5);
  expect(await counted(undefined)).toEqual([2000, true]);
  expect(await counted(5000)).toEqual([255 * 16, false]);
});

test('a label that the program calls (other) is that of all others, warned of all the same, and cannot be scaled', async () => {
  await using scheduler = manual();
  expect(() => scheduler.label('(other)', { min: 5 })).toThrow(/must not be '\(other\)'/);
  const warnings = await warningsOf(async () => {
    scheduler.label('(other)').schedule(1, 5);
    for (let i = 0; i < 260; i++) scheduler.label(`label ${i}`).schedule(1, 5);
  });
  expect(warnings).toEqual(['SHARDWHEEL_LABELS']);
  const { labels } = await scheduler.stats();
  expect([labels.length, labels[0].label, labels[0].size]).toEqual([254, '(other)', 261 - 253]);
});

test('whatever a label or a name is written with comes back out of the text', async () => {
  await using scheduler = manual();
  const registry = new Registry();
  registerMetrics(scheduler, registry, { name: 'a "b"\n\\c\\n' });
  const { provider, collect } = newProvider();
  observeMetrics(scheduler, provider.getMeter('test'), { name: 'a "b"\n\\c\\n' });
  const draws = new Draws(SEED);
  const odd = ['"', '\\', '\n', '\\n', '{', '}', ',', '=', '#', ' ', '\t', '\r', 'é', '🕰', '\u2028', '\0', 'le="1"'];
  const labels = new Set(odd);
  for (let i = 0; i < 100; i++) labels.add(Array.from({ length: 1 + draws.below(6) }, () => draws.pick(odd)).join(''));
  for (const label of labels) scheduler.label(label).schedule(1, 5);
  await scheduler.advanceTo(1); // the thread has them all, so the two readings agree
  const text = await scrape(registry);
  const families = familiesOf(text);
  const told = families.get('shardwheel_label_timers_live')?.lines.map(({ labels }) => labels.label);
  expect(told?.sort()).toEqual([...labels].sort());
  expect(families.get('shardwheel_timers_live')?.lines[0].labels.scheduler).toBe('a "b"\n\\c\\n');
  expectSameSeries(await collect(), families);
  expectParsedAlike(text, families);
});

test(`a scrape while shards restart tells what is known, and disturbs no timer, seed ${SEED}`, async () => {
  await using scheduler = manual(2);
  const registry = new Registry();
  registerMetrics(scheduler, registry, { timeout: 50 });
  const { provider, collect } = newProvider();
  observeMetrics(scheduler, provider.getMeter('test'), { timeout: 50 });
  await scheduler.ready;
  scheduler.on('error', () => undefined); // so many deaths that a shard goes on inline
  const ledger = new Ledger(scheduler, new Draws(SEED), ['idle']);
  for (let round = 0; round < 5; round++) {
    ledger.work(500, 100);
    const restarted = restartShard(scheduler, round % 2);
    for (let scrapes = 0; scrapes < 3; scrapes++) {
      const [text] = await Promise.all([scrape(registry), collect()]);
      ledger.expectIn(familiesOf(text), '0');
    }
    killShard(scheduler, (round + 1) % 2);
    await restarted;
    await scheduler.advanceTo(scheduler.now() + 60);
    ledger.expectIn(familiesOf(await scrape(registry)), '0');
  }
  await scheduler.advanceTo(scheduler.now() + 200);
  await until(() => ledger.live === 0);
  ledger.expectIn(familiesOf(await scrape(registry)), '0');
});

test('schedulers on one registry are closed, and taken out, between scrapes', async () => {
  const registry = new Registry();
  const { provider, collect } = newProvider();
  const meter = provider.getMeter('test');
  const schedulers = ['one', 'two', 'three'].map((name) => {
    const scheduler = manual();
    const ends = [registerMetrics(scheduler, registry, { name }), observeMetrics(scheduler, meter, { name })];
    return { name, scheduler, ends };
  });
  let count = 0;
  for (const { scheduler } of schedulers) {
    count += 1;
    for (let i = 0; i < count; i++) scheduler.schedule(i, 5);
    await scheduler.advanceTo(10);
  }
  const told = async () => {
    const families = familiesOf(await scrape(registry));
    await collect();
    const lines = families.get('shardwheel_timers_delivered_total')?.lines ?? [];
    return Object.fromEntries(lines.map(({ labels, value }) => [labels.scheduler, value]));
  };
  expect(await told()).toEqual({ one: 1, two: 2, three: 3 });
  await schedulers[0].scheduler.close();
  expect(await told()).toEqual({ one: 1, two: 2, three: 3 });
  const [, text] = await Promise.all([schedulers[1].scheduler.close(), scrape(registry), collect()]);
  expect(valueIn(familiesOf(text), 'shardwheel_timers_delivered_total', { scheduler: 'two', client: '0' })).toBe(2);
  for (const end of schedulers[0].ends) end();
  expect(await told()).toEqual({ two: 2, three: 3 });
  for (const { scheduler, ends } of schedulers) {
    for (const end of ends) end();
    await scheduler.close();
  }
  expect(registry.getMetricsAsArray()).toEqual([]);
});

test('a prom-client that asks for plain lines alone is told the same', async () => {
  await using scheduler = manual();
  const registry = new Registry();
  registerMetrics(scheduler, registry);
  scheduler.label('idle').schedule(1, 5);
  await scheduler.advanceTo(10);
  const text = await scrape(registry);
  const plain = new Registry();
  for (const metric of registry.getMetricsAsArray()) {
    const { name, get } = metric as unknown as { name: string; get(): Promise<unknown> };
    plain.registerMetric({ name, get: get.bind(metric) } as never);
  }
  const series = (text: string) => [...familiesOf(text).values()];
  expect(series(await scrape(plain))).toEqual(series(text));
});
