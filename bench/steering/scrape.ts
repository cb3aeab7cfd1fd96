import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { createScheduler, type Scheduler } from 'shardwheel';
import { CpuMeter } from '../../tools/replay/cpu-meter.ts';
import type { Measurement, Scale, Suite } from '../suite.ts';
import { metricReaders } from './metric-readers.ts';
import { CHUNK } from './random-timers.ts';

const LIVE = 1_000_000;
const READINGS = 500;

/** What is read, and how. */
interface Subject {
  readonly reader: string;
  readonly live?: number;
  /** 1 where nothing is said. */
  readonly shards?: number;
  readonly labels?: number;
  /** Further ones, in threads of their own, each with its part of the timers. */
  readonly clients?: number;
}

const subjects: Readonly<Record<string, Subject>> = {
  'stats()': { reader: 'stats()' },
  'stats(), 254 labels': { reader: 'stats()', labels: 254 },
  'interval().next()': { reader: 'interval().next()' },
  Prometheus: { reader: 'Prometheus' },
  'Prometheus, no timers': { reader: 'Prometheus', live: 0 },
  'Prometheus, inline': { reader: 'Prometheus', shards: 0 },
  'Prometheus, 4 shards': { reader: 'Prometheus', shards: 4 },
  'Prometheus, 4 clients': { reader: 'Prometheus', clients: 3 },
  'Prometheus, 254 labels': { reader: 'Prometheus', labels: 254 },
  OpenTelemetry: { reader: 'OpenTelemetry' },
  'OpenTelemetry, 4 shards': { reader: 'OpenTelemetry', shards: 4 },
  'OpenTelemetry, 4 clients': { reader: 'OpenTelemetry', clients: 3 },
  'OpenTelemetry, 254 labels': { reader: 'OpenTelemetry', labels: 254 },
};

/** (q) What a reading of the metrics costs the event loop. */
export const scrape: Suite = {
  name: 'steering scrape',
  title: 'Metrics: one reading at 1 M live timers',
  codes: ['q'],
  about:
    'Delays of 60 to 120 s, of which none comes due; one shard and one client where nothing else is said. One reading after the ' +
    "other, each in a turn of its own: CPU of the event loop's thread for it, the text or the points of the library included, and " +
    'the time until it is there. A scrape of Prometheus comes every 15 s or so.',
  base: 'stats()',
  subjects: Object.keys(subjects).map((name) => ({ name })),
  figures: [
    { key: 'loop', title: 'event-loop CPU', unit: 'µs' },
    { key: 'answer', title: 'answered within', unit: 'µs' },
  ],
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const { reader, shards = 1, labels = 0, clients = 0, live = LIVE } = subjects[name];
  const each = Math.floor((quick ? Math.min(live, 4000) : live) / (1 + clients));
  const scheduler = createScheduler({ shards, capacity: 2 ** 20 });
  await scheduler.ready;
  const others = await connected(scheduler, clients, each);
  const names = Array.from({ length: labels }, (_, label) => scheduler.label(`label ${label}`));
  for (let timer = 0; timer < each; timer++) {
    const start = names.length === 0 ? scheduler : names[timer % names.length];
    start.scheduleAfter(timer, 60_000 + (timer % 60_000));
    if (timer % CHUNK === 0) await nextTurn();
  }
  // One of each label comes due, so that there is a lateness to tell.
  let late = 0;
  const note = (): void => {
    late += 1;
  };
  for (const label of names) label.scheduleAfter(0, 1, note);
  while (late < labels) await sleep(1);
  const figures = await readings(metricReaders[reader](scheduler), quick ? 10 : READINGS);
  let left = 0;
  for (const other of others) left += await answerOf(other, 'close');
  left += (await scheduler.close()).length;
  if (left !== each * (1 + clients)) throw new Error(`of ${each * (1 + clients)} timers ${left} are left`);
  return { figures, checksums: {} };
}

async function connected(scheduler: Scheduler, count: number, live: number): Promise<Worker[]> {
  if (count === 0) return [];
  const workerData = { handle: scheduler.share(), live };
  const entry = new URL(`./connected-client${import.meta.url.slice(-3)}`, import.meta.url);
  const threads = Array.from({ length: count }, () => new Worker(entry, { workerData, execArgv: [] }));
  await Promise.all(threads.map((thread) => answerOf(thread)));
  return threads;
}

/** What a thread says next. Rejects where it ends instead. */
function answerOf(thread: Worker, question?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
    if (question !== undefined) thread.postMessage(question);
  });
}

async function readings(read: () => Promise<unknown>, count: number): Promise<Record<string, number>> {
  for (let reading = 0; reading < count; reading++) await read();
  await sleep(count);
  const cpu = new CpuMeter();
  let answer = 0;
  cpu.start();
  for (let reading = 0; reading < count; reading++) {
    const asked = performance.now();
    await read();
    answer += performance.now() - asked;
    await nextTurn();
  }
  return { loop: (cpu.read().thread * 1000) / count, answer: (answer * 1000) / count };
}
