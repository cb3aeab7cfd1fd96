import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { read } from '../docs/documents.ts';
import { InstalledProject } from './installed-project.ts';

const peers: Readonly<Record<string, string>> = JSON.parse(read('package.json')).peerDependencies;

/** The majors of each peer: the lowest release of each, and the newest. */
const majors = Object.entries(peers).map(([name, range]) => {
  const bounds = range.split(' || ');
  if (bounds.some((bound) => !/^\^\d+\.\d+\.\d+$/.test(bound))) throw new Error(`${name} is open at an end: ${range}`);
  return { name, lowest: bounds.map((bound) => bound.slice(1)), newest: bounds };
});

/** `at`: which major of a peer that has several. */
const chosen = (which: 'lowest' | 'newest', at: 0 | -1) =>
  majors.map(({ name, [which]: versions }) => `${name}@${versions.at(at)}`);

/** What feeds metrics of OpenTelemetry is no peer, and belongs to a release of the API. */
const sets: readonly [title: string, packages: readonly string[]][] = [
  ['the lowest of the lowest major', [...chosen('lowest', 0), '@opentelemetry/sdk-metrics@1.8.0']],
  ['the newest of the lowest major', [...chosen('newest', 0), '@opentelemetry/sdk-metrics@3']],
  ['the lowest of the newest major', [...chosen('lowest', -1), '@opentelemetry/sdk-metrics@1.8.0']],
  ['the newest of the newest major', [...chosen('newest', -1), '@opentelemetry/sdk-metrics@3']],
];

const durable = (store: string) => `
const open = async (handler) => {
  const durable = await openDurableTimers({ store: ${store} });
  durable.handle('greet', handler);
  return durable;
};
const nobody = () => { throw new Error('called too early'); };

const before = await open(nobody);
await before.scheduleAfter('greet', 'later', 1_000, 'ada');
await before.scheduleAfter('greet', 'cancelled', 1_000, 'bob');
const isCancelled = await before.cancel('greet', 'cancelled');
await before.close();

const heard = [];
let after;
await new Promise((resolve, reject) => {
  open((name, { key }) => { heard.push(name, key); resolve(); }).then((opened) => { after = opened; }, reject);
});
await after.close();
console.log(JSON.stringify({ isCancelled, heard }));
`;

const programs: Readonly<Record<string, string>> = {
  'lmdb.mjs': `
import { lmdbStore, openDurableTimers } from 'shardwheel/durable';
${durable("lmdbStore({ path: './timers' })")}`,
  'bullmq.mjs': `
import { Cluster, Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
const connection = new Redis(process.argv[2]);
if (connection instanceof Cluster) throw new Error('one server is no cluster');
${durable("bullmqStore({ connection, queue: 'tried' })")}
connection.disconnect();`,
  'prometheus.mjs': `
import { register } from 'prom-client';
import { createScheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';
const scheduler = createScheduler();
registerMetrics(scheduler);
scheduler.label('idle').scheduleAfter('hint', 60_000);
console.log((await register.metrics()).match(/^shardwheel_label_timers_live.*/m)[0]);
await scheduler.close();`,
  'opentelemetry.mjs': `
import { AggregationTemporality, InMemoryMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { createScheduler } from 'shardwheel';
import { observeMetrics } from 'shardwheel/opentelemetry';
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
const provider = new MeterProvider({ readers: [reader] });
provider.addMetricReader?.(reader); // as the first releases have it
const scheduler = createScheduler();
observeMetrics(scheduler, provider.getMeter('shardwheel'));
scheduler.label('idle').scheduleAfter('hint', 60_000);
const { resourceMetrics } = await reader.collect();
const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
const live = metrics.find(({ descriptor }) => descriptor.name === 'shardwheel.label.timers.live');
console.log(JSON.stringify(live.dataPoints.map(({ value, attributes }) => [value, attributes['shardwheel.label']])));
await provider.shutdown();
await scheduler.close();`,
};

let redis: RedisServer;
beforeAll(async () => {
  redis = await RedisServer.start();
});
afterAll(() => redis?.stop());

describe.each(sets)('with %s of each peer', (_, packages) => {
  const project = new InstalledProject(...packages);
  for (const [name, text] of Object.entries(programs)) project.write(name, text);

  const said = (...argv: string[]) => {
    const { status, stdout, stderr } = project.try('node', argv);
    expect(status, `${packages.join(' ')}\n${stderr}`).toBe(0);
    return stdout;
  };
  const delivered = `${JSON.stringify({ isCancelled: true, heard: ['ada', 'later'] })}\n`;

  test('timers live on in LMDB', () => {
    expect(said('lmdb.mjs')).toBe(delivered);
  });

  test('timers live on in Redis, by BullMQ', () => {
    expect(said('bullmq.mjs', redis.url)).toBe(delivered);
  });

  test('prom-client is told', () => {
    expect(said('prometheus.mjs')).toMatch(/^shardwheel_label_timers_live.* 1\n$/);
  });

  test('OpenTelemetry is told', () => {
    expect(said('opentelemetry.mjs')).toBe('[[1,"idle"]]\n');
  });
});
