import { setTimeout as sleep } from 'node:timers/promises';
import { createScheduler, type TimerId } from 'shardwheel';
import { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import { readMemory } from '../../engine/memory.ts';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { CpuMeter } from '../../replay/cpu-meter.ts';

const LIVE = 1_000_000;
const PERIOD = 30_000;
/** ms between two lots of heartbeats that begin. */
const LOT = 5;

/** Starts the heartbeats, and ends them. */
interface Heartbeats {
  readonly ready: Promise<unknown>;
  begin(heartbeat: number): void;
  end(): Promise<unknown>;
}

const subjects: Record<string, (period: number, beat: (heartbeat: number) => void) => Heartbeats> = {
  setInterval(period, beat) {
    const intervals: NodeJS.Timeout[] = [];
    return {
      ready: Promise.resolve(),
      begin: (heartbeat) => void intervals.push(setInterval(beat, period, heartbeat)),
      end: async () => {
        for (const interval of intervals) clearInterval(interval);
      },
    };
  },
  'scheduleAfter in each call'(period, beat) {
    const scheduler = createScheduler({ shards: 1 });
    const ids: TimerId[] = [];
    const call = (heartbeat: number): void => {
      ids[heartbeat] = scheduler.scheduleAfter(heartbeat, period, call, heartbeat);
      beat(heartbeat);
    };
    const begin = (heartbeat: number): void => {
      ids[heartbeat] = scheduler.scheduleAfter(heartbeat, period, call, heartbeat);
    };
    return { ready: scheduler.ready, begin, end: () => scheduler.close() };
  },
  scheduleEvery(period, beat) {
    const scheduler = createScheduler({ shards: 1 });
    const ids: TimerId[] = [];
    const begin = (heartbeat: number): void => {
      ids[heartbeat] = scheduler.scheduleEvery(heartbeat, period, beat, heartbeat);
    };
    return { ready: scheduler.ready, begin, end: () => scheduler.close() };
  },
};

/** (q) What repeating timers cost. */
export const heartbeats: Suite = {
  name: 'steering heartbeats',
  title: 'Heartbeats: a million, each called every 30 s',
  codes: ['q'],
  about:
    '1 M heartbeats that begin one after the other within a period, so that 33,000 calls a second are due, evenly; measured for ' +
    'a third of the next period. Lateness: against the call before and the period.',
  base: 'setInterval',
  subjects: Object.keys(subjects).map((name) => ({ name })),
  figures: [
    { key: 'call', title: 'event-loop CPU per call', unit: 'ns' },
    { key: 'bytes', title: 'resident', unit: 'B/timer' },
    { key: 'late', title: 'late, p99', unit: 'ms' },
    { key: 'most', title: 'late, most', unit: 'ms' },
  ],
  run: measure,
};

async function measure(name: string, scale: Scale): Promise<Measurement> {
  const live = scale.quick ? 4000 : LIVE;
  const period = scale.quick ? 600 : PERIOD;
  const due = new Float64Array(live);
  let calls = 0;
  let early = 0;
  let lateness = new LatenessHistogram();
  const beat = (heartbeat: number): void => {
    calls += 1;
    const now = performance.now();
    const late = now - due[heartbeat];
    if (late < -1) early += 1; // Node counts whole milliseconds
    lateness.record(Math.max(0, late));
    due[heartbeat] = name === 'scheduleEvery' ? due[heartbeat] + period : now + period;
  };
  due.fill(0);
  const subject = subjects[name](period, beat);
  await subject.ready;
  await sleep(scale.quick ? 20 : 500);
  const before = readMemory().resident;
  const start = performance.now();
  for (let begun = 0; begun < live; ) {
    const now = performance.now();
    for (const end = Math.min(live, ((now - start) * live) / period); begun < end; begun++) {
      due[begun] = performance.now() + period;
      subject.begin(begun);
    }
    await sleep(LOT);
  }
  const bytes = (readMemory().resident - before) / live;
  calls = 0;
  lateness = new LatenessHistogram();
  const meter = new CpuMeter();
  meter.start();
  await sleep(period / 3);
  const { thread } = meter.read();
  const { p99, max } = lateness.summary();
  const figures = { call: (thread * 1e6) / calls, bytes, late: p99, most: max };
  await subject.end();
  return { figures, checksums: { early } };
}
