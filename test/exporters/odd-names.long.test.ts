import { Registry } from 'prom-client';
import { createScheduler, type Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { scrape } from './exposition.ts';
import { expectSameLines, linesOf, OpenTelemetryPlace, PrometheusPlace } from './places.ts';

const manual = (): Scheduler => createScheduler({ shards: 1, clock: 'manual', capacity: 16_384 });

test('labels are at most 255 series of each metric; so many are more than a reader of OpenTelemetry takes, unless it is told to: docs/operate.md says how', async () => {
  await using scheduler = manual();
  const counted = async (limit?: number) => {
    const place = new OpenTelemetryPlace(limit === undefined ? {} : { limit });
    const stop = place.add(scheduler);
    const lines = (await place.read()).filter(({ name }) => name === 'shardwheel_label_timer_lateness_seconds_bucket');
    stop();
    return [lines.length, lines.some(({ labels }) => labels['otel.metric.overflow'] !== undefined)];
  };
  for (let i = 0; i < 124; i++) scheduler.label(`label ${i}`).schedule(i, 5);
  expect(await counted()).toEqual([124 * 16, false]);
  for (let i = 0; i < 300; i++) scheduler.label(`label ${i}`).schedule(i, 5);
  expect(await counted()).toEqual([2000, true]);
  expect(await counted(5000)).toEqual([255 * 16, false]);
});

test('a label that the program calls (other) is that of all others, warned of all the same, and cannot be scaled', async () => {
  await using scheduler = manual();
  expect(() => scheduler.label('(other)', { min: 5 })).toThrow(/must not be '\(other\)'/);
  scheduler.label('(other)').schedule(1, 5);
  for (let i = 0; i < 260; i++) scheduler.label(`label ${i}`).schedule(1, 5);
  const { labels } = await scheduler.stats();
  expect([labels.length, labels[0].label, labels[0].size]).toEqual([254, '(other)', 261 - 253]);
  // In a process of its own, since a process is warned once.
  const { stdout } = await runText(`
    import { createScheduler } from 'shardwheel';
    process.removeAllListeners('warning').on('warning', ({ code }) => console.log(code));
    const scheduler = createScheduler({ shards: 0, clock: 'manual' });
    scheduler.label('(other)');
    for (let i = 0; i < 260; i++) scheduler.label(\`label \${i}\`);`);
  expect(stdout).toBe('SHARDWHEEL_LABELS\n');
});

test(`whatever a label or a name is written with comes back out of the text, seed ${SEED}`, async () => {
  await using scheduler = manual();
  await scheduler.ready;
  const [prometheus, openTelemetry] = [new PrometheusPlace(), new OpenTelemetryPlace()];
  const name = 'a "b"\n\\c\\n';
  for (const place of [prometheus, openTelemetry]) place.add(scheduler, { name });
  const draws = new Draws(SEED);
  const odd = ['"', '\\', '\n', '\\n', '{', '}', ',', '=', '#', ' ', '\t', '\r', 'é', '🕰', '\u2028', '\0', 'le="1"'];
  const labels = new Set(odd);
  for (let i = 0; i < 100; i++) labels.add(Array.from({ length: 1 + draws.below(6) }, () => draws.pick(odd)).join(''));
  for (const label of labels) scheduler.label(label).schedule(1, 5);
  await scheduler.advanceTo(1); // the thread has them all, so the two readings agree
  const lines = await prometheus.read();
  const told = lines.filter(({ name }) => name === 'shardwheel_label_timers_live').map(({ labels }) => labels.label);
  expect(told.sort()).toEqual([...labels].sort());
  expect(lines.every(({ labels }) => labels.scheduler === name)).toBe(true);
  expectSameLines(await openTelemetry.read(), lines);
});

test('a prom-client that asks for plain lines alone is told the same', async () => {
  await using scheduler = manual();
  await scheduler.ready; // a thread that comes up between the two readings would tell them apart
  const place = new PrometheusPlace();
  place.add(scheduler);
  scheduler.label('idle').schedule(1, 5);
  await scheduler.advanceTo(10);
  const plain = new Registry();
  for (const metric of place.registry.getMetricsAsArray()) {
    const { name, get } = metric as unknown as { name: string; get(): Promise<unknown> };
    plain.registerMetric({ name, get: get.bind(metric) } as never);
  }
  expect(linesOf(await scrape(plain))).toEqual(await place.read());
});
