import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { createScheduler, type Scheduler } from 'shardwheel';
import { registerMetrics } from 'shardwheel/prometheus';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { CpuMeter } from '../../replay/cpu-meter.ts';
import { CHUNK } from './random-timers.ts';

const LIVE = 1_000_000;
const READINGS = 500;
const LABELS = 254;

/** By name: sets up what reads a scheduler's metrics, and returns what reads them once. */
const readers: Readonly<Record<string, (scheduler: Scheduler) => () => Promise<unknown>>> = {
  'stats()': (scheduler) => () => scheduler.stats(),
  Prometheus: (scheduler) => {
    const registry = new Registry();
    registerMetrics(scheduler, registry);
    return () => registry.metrics();
  },
};

/** (q) What a reading of the metrics costs the event loop. */
export const scrape: Suite = {
  name: 'steering scrape',
  title: 'Metrics: one reading at 1 M live timers',
  codes: ['q'],
  about:
    `Delays of 60 to 120 s, of which none comes due, on one shard, under ${LABELS} labels. One reading after the other, each in a turn of its own: CPU of ` +
    "the event loop's thread for it, the text included, and the time until it is there. A scrape of Prometheus comes every 15 s or so.",
  base: 'stats()',
  subjects: Object.keys(readers).map((name) => ({ name })),
  figures: [
    { key: 'loop', title: 'event-loop CPU', unit: 'µs' },
    { key: 'answer', title: 'answered within', unit: 'µs' },
  ],
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const live = quick ? 4000 : LIVE;
  const scheduler = createScheduler({ shards: 1, capacity: 2 ** 20 });
  await scheduler.ready;
  const labels = Array.from({ length: LABELS }, (_, label) => scheduler.label(`label ${label}`));
  for (let timer = 0; timer < live; timer++) {
    labels[timer % LABELS].scheduleAfter(timer, 60_000 + (timer % 60_000));
    if (timer % CHUNK === 0) await nextTurn();
  }
  const figures = await readings(readers[name](scheduler), quick ? 10 : READINGS);
  const left = (await scheduler.close()).length;
  if (left !== live) throw new Error(`of ${live} timers ${left} are left`);
  return { figures, checksums: {} };
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
