import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createScheduler, type Scheduler, watchLateness } from 'shardwheel';
import { expect, test } from 'vitest';
import { families } from '../../src/exporters/metric-source.ts';
import { prometheusName } from '../../src/exporters/prometheus-metric.ts';
import { LATENESS_BOUNDS } from '../../src/metrics/lateness-histogram.ts';
import { until } from '../fixtures/event-loop.ts';
import { killShard, restartShard } from '../fixtures/shard-threads.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}${path}`, 'utf8');
const text = read('docs/operate.md');

const metrics = families.flatMap((family) => family.metrics);

/** Cells of the table under a heading. */
function rowsUnder(heading: string): string[][] {
  const section = text.slice(text.indexOf(`## ${heading}\n`)).split('\n## ')[0];
  const rows = section.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('|---'));
  return rows.slice(1).map((line) => line.slice(2, -2).split(' | '));
}

const namesIn = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name);

test('the table of metrics is that of the code', () => {
  const told = metrics.map((metric) => {
    const { name, kind, unit, labels, help } = metric;
    const names = [`\`${prometheusName(metric)}\``, `\`shardwheel.${name}\``];
    return [...names, kind, unit.replace(/[{}]/g, ''), labels.join(', '), help];
  });
  expect(rowsUnder('Every metric')).toEqual(told);
  expect(metrics.length).toBeGreaterThan(30);
});

test('the bounds of the buckets are those of the code', () => {
  const [, told] = /Buckets of lateness end at ([^.]*(?:\.\d[^.]*)*)\./.exec(text.replaceAll('\n', ' ')) ?? [];
  const units: Record<string, number> = { ms: 1, s: 1000, minute: 60_000 };
  let unit = 1;
  const bounds = (told ?? '')
    .split(/,? and at |, at |, | and /)
    .reverse()
    .map((bound) => {
      const [number, named] = bound.split(' ');
      unit = units[named] ?? unit;
      return number === 'infinity' ? Number.POSITIVE_INFINITY : Number(number) * unit;
    });
  expect(bounds.reverse()).toEqual(LATENESS_BOUNDS);
});

test('rules ask for metrics, and labels, that there are', () => {
  const [rules] = /```yaml\n[\s\S]*?```/.exec(text) ?? [''];
  const names = metrics.flatMap((metric) => {
    const name = prometheusName(metric);
    return metric.kind === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
  });
  const expressions = [...rules.matchAll(/expr: (.*)/g)].map(([, expression]) => expression);
  expect(expressions.length).toBe(rules.match(/- alert: [A-Z]\w+\n/g)?.length);
  for (const expression of expressions) {
    const used = expression.match(/shardwheel_\w+/g) ?? [];
    expect(used.length, expression).toBeGreaterThan(0);
    for (const name of used) expect(names).toContain(name);
    for (const [, labels] of expression.matchAll(/by \(([^)]*)\)/g)) {
      for (const label of labels.split(', ')) expect(['instance', 'le', 'client', 'shard', 'label']).toContain(label);
    }
  }
  // A rate is of a counter, and a quantile is of buckets.
  for (const [, name] of rules.matchAll(/(?:rate|increase)\((\w+)/g)) expect(name).toMatch(/_total$|_bucket$/);
  for (const [, inner] of rules.matchAll(/histogram_quantile\((.*)/g)) expect(inner).toMatch(/by \([^)]*\ble\b/);
  for (const [, name] of rules.matchAll(/predict_linear\((\w+)/g)) expect(name).not.toMatch(/_total$|_bucket$/);
});

test.each(['prometheus', 'opentelemetry', 'lateness'])('the code of %s is that of the example', (name) => {
  const code = text.split(`\`\`\`ts\n// ${name}.ts\n`)[1]?.split('```')[0];
  expect(code).toBe(read(`examples/metrics/${name}.ts`));
});

const run = (name: string) =>
  promisify(execFile)(process.execPath, [`${root}dist/examples/metrics/${name}.js`], { timeout: 30_000 });

test('the example for Prometheus is scraped over HTTP, and ends', async () => {
  const { stdout, stderr } = await run('prometheus');
  const series = (name: string, value: number) => `shardwheel_label_timers_${name}{client="0",label="idle"} ${value}\n`;
  const told = [series('live', 1), series('scheduled_total', 2), series('cancelled_total', 0)];
  expect([stdout, stderr]).toEqual([[...told, series('delivered_total', 1)].join(''), '']);
});

test('the example for OpenTelemetry exports by a real SDK, and ends', async () => {
  const { stdout, stderr } = await run('opentelemetry');
  expect(stderr).toBe('');
  const names = [...stdout.matchAll(/name: '(shardwheel\.[\w.]+)'/g)].map(([, name]) => name);
  const plain = families[0].metrics.filter(({ labels }) => !labels.includes('label')); // it has no labels
  for (const { name, kind } of plain) {
    expect(names).toContain(`shardwheel.${name}${kind === 'histogram' ? '.bucket' : ''}`);
  }
  const delivered = stdout.slice(stdout.indexOf("'shardwheel.timers.delivered'"));
  expect(/value: (\d+)/.exec(delivered)?.[1]).toBe('1');
});

test('the example of lateness by interval says what its comments say', async () => {
  const { stdout } = await run('lateness');
  const lines = stdout.trim().split('\n');
  const p99s = [...stdout.matchAll(/p99 ([\d.]+) ms late/g)].map(([, p99]) => Number(p99));
  expect(p99s[0]).toBeGreaterThan(80);
  expect(lines[0]).toMatch(/^\d+ timers of a turn were late, by up to \d+ ms, onTimeout among them$/);
});

/** Every channel that a source of the package opens. */
const opened = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .flatMap((path) => [...read(`src/${path}`).matchAll(/\bchannel\('([^']+)'\)/g)].map(([, name]) => name));

/** What brings a message about. */
const occasions: Record<string, () => Promise<void>> = {
  'shardwheel:shard-restart': async () => {
    await using scheduler = createScheduler({ shards: 1 });
    await scheduler.ready;
    await restartShard(scheduler, 0);
  },
  'shardwheel:inline': async () => {
    await using scheduler = createScheduler({ shards: 1, thread: { inlineAfter: { deaths: 1, within: 60_000 } } });
    const failed = new Promise((resolve) => scheduler.on('error', resolve));
    await scheduler.ready;
    killShard(scheduler, 0);
    await failed;
  },
  'shardwheel:serving': async () => {
    await using scheduler = createScheduler({ shards: 'auto', capacity: 2 ** 18 });
    for (let i = 0; i < 150_000; i++) scheduler.scheduleAfter(i, 60_000);
    await until(async () => (await scheduler.stats()).serving.changes > 0);
  },
  'shardwheel:capacity': async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 1, clock: 'manual' });
    scheduler.schedule(1, 5);
    expect(() => scheduler.schedule(1, 5)).toThrow(/capacity/);
  },
  'shardwheel:late': async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual' });
    const unwatch = watchLateness(1);
    scheduler.schedule(1, 5);
    await scheduler.advanceTo(100);
    unwatch();
  },
};

test('the table of channels has those of the code', () => {
  const told = rowsUnder('Events').map(([channel]) => namesIn(channel)[0]);
  expect(told.sort()).toEqual(opened.sort());
  expect(told).toEqual(Object.keys(occasions).sort());
});

test.each(rowsUnder('Events'))('%s: the message has these keys, and no others', async (cell, keys) => {
  const [name] = namesIn(cell);
  const heard: { scheduler: Scheduler }[] = [];
  const listener = (message: unknown) => heard.push(message as { scheduler: Scheduler });
  subscribe(name, listener);
  try {
    await occasions[name]();
  } finally {
    unsubscribe(name, listener);
  }
  expect(heard.length).toBeGreaterThan(0);
  for (const message of heard) expect(Object.keys(message).sort()).toEqual(namesIn(keys).sort());
  if (name !== 'shardwheel:late') return;
  const { timers } = heard[0] as unknown as { timers: object[] };
  const [, told] = /`\{ (id,[^}]*) \}`, with the callback's name/.exec(text) ?? [];
  expect(Object.keys(timers[0])).toEqual(told.split(', '));
});
