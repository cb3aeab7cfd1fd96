import { expect, test } from 'vitest';
import { families } from '../../src/extras/exporters/metric-source.ts';
import { prometheusName } from '../../src/extras/exporters/prometheus-metric.ts';
import { LATENESS_BOUNDS } from '../../src/metrics/lateness-histogram.ts';
import type { Messages } from '../../src/scheduler/scheduler-events.ts';
import { read } from '../docs/documents.ts';
import { runNode } from '../fixtures/child-process.ts';

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
  const told = 'at 0.5, 1, 2, 5, 10, 20, 50, 100, 200 and 500 ms, at 1, 2, 5 and 10 s, at 1 minute, and at infinity.';
  expect(text).toContain(`Buckets of lateness end ${told}`);
  const seconds = [1, 2, 5, 10, 60].map((bound) => bound * 1000);
  expect(LATENESS_BOUNDS).toEqual([0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, ...seconds, Number.POSITIVE_INFINITY]);
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

test.each(['prometheus', 'cluster', 'opentelemetry', 'lateness'])('the code of %s is that of the example', (name) => {
  const code = text.split(`\`\`\`ts\n// ${name}.ts\n`)[1]?.split('```')[0];
  expect(code).toBe(read(`examples/metrics/${name}.ts`));
});

const run = (name: string) => runNode([`dist/examples/metrics/${name}.js`], { limit: 30_000 });

test('the example for Prometheus is scraped over HTTP, and ends', async () => {
  const { stdout, stderr } = await run('prometheus');
  const series = (name: string, value: number) => `shardwheel_label_timers_${name}{client="0",label="idle"} ${value}\n`;
  const told = [series('live', 1), series('scheduled_total', 2), series('cancelled_total', 0)];
  expect([stdout, stderr]).toEqual([[...told, series('delivered_total', 1)].join(''), '']);
});

test('the example for a cluster sums what its processes count, tells the least of their factors, and ends', async () => {
  const { code, stdout, stderr } = await run('cluster');
  const told = ['timers_live{client="0",label="idle"} 6', 'factor{client="0",label="idle"} 0.5'];
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: told.map((line) => `shardwheel_label_${line}\n`).join(''),
    stderr: '',
  });
  for (const line of told) expect(text).toContain(`\`shardwheel_label_${line}\``);
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

/** The keys of the messages, as the compiler holds them to the code: no more, and no fewer. */
const messages: { readonly [Name in keyof Messages]: Record<keyof Messages[Name], 1> } = {
  'shard-restart': { scheduler: 1, shard: 1, cause: 1, rescheduled: 1, deaths: 1 },
  inline: { scheduler: 1, shard: 1, error: 1 },
  serving: { scheduler: 1, shards: 1, by: 1, since: 1, reason: 1, changes: 1 },
  capacity: { scheduler: 1, shard: 1, capacity: 1, refused: 1 },
  late: { scheduler: 1, threshold: 1, count: 1, max: 1, timers: 1 },
};
const lateTimer: Record<keyof Messages['late']['timers'][number], 1> = {
  id: 1,
  deadline: 1,
  now: 1,
  lateness: 1,
  shard: 1,
  callback: 1,
};

test('the table of channels has the messages of the code, with their keys', () => {
  const told = rowsUnder('Events').map(([channel, keys]) => [...namesIn(channel), ...namesIn(keys)]);
  expect(told).toEqual(Object.entries(messages).map(([name, keys]) => [`shardwheel:${name}`, ...Object.keys(keys)]));
  expect(text).toContain(`\`{ ${Object.keys(lateTimer).join(', ')} }\`, with the callback's name`);
});
