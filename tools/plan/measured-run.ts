import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CpuMeter } from '../../bench/replay/cpu-meter.ts';
import { NativeTimers } from '../../bench/replay/subjects/native-timers.ts';
import { NoTimers } from '../../bench/replay/subjects/no-timers.ts';
import type { OnFire, Subject } from '../../bench/replay/subjects/subject.ts';
import type { Service } from './costs.ts';
import type { PlannedTimer } from './planned-load.ts';
import { cpuOf, threadIds } from './thread-cpu.ts';
import { type Phase, SETTLING, TimerLoad } from './timer-load.ts';

export interface RunTask {
  readonly service: Service | 'none';
  readonly timers: readonly PlannedTimer[];
  /** Live timers of each kind when it begins, and the most there may be. */
  readonly live: readonly number[];
  readonly places: number;
  /**
   * Connections per second: one measurement for each. The first is preceded by as long again, for the compiler. None:
   * memory alone.
   */
  readonly rates: readonly number[];
  /** ms of each measurement. */
  readonly milliseconds: number;
}

/** CPU in ms for a number of connections. */
export interface RateMeasurement {
  readonly connections: number;
  /** ms that it took. */
  readonly elapsed: number;
  readonly loop: number;
  readonly shard: number;
  readonly helpers: number;
  readonly pauses: readonly number[];
  readonly latenesses: readonly number[];
}

export interface RunResult {
  readonly rates: readonly RateMeasurement[];
  readonly live: number;
  /**
   * Bytes of memory: of the service with no timer in it, of those that were there from the beginning, and that it grew
   * by as it worked.
   */
  readonly bytesAtRest: number;
  readonly bytesFilled: number;
  readonly bytesGrown: number;
}

const noTimers = 'none';

async function createSubject(service: RunTask['service'], handles: number, onFire: OnFire): Promise<Subject> {
  if (service === noTimers) return new NoTimers(handles);
  if (service === 'native') return new NativeTimers(onFire);
  const { createScheduler } = await import('shardwheel');
  const { ShardwheelTimers } = await import('../../bench/replay/subjects/shardwheel-timers.ts');
  return new ShardwheelTimers(handles, onFire, createScheduler({ shards: service === 'shard' ? 1 : 0 }));
}

const resident = (): number => {
  globalThis.gc?.();
  return process.memoryUsage.rss();
};

/** Runs the timers of one event loop, this one, on a service, and measures the cost. */
export async function measuredRun({ service, timers, live, places, rates, milliseconds }: RunTask): Promise<RunResult> {
  const own = threadIds();
  const load = new TimerLoad(timers, live, places, service === noTimers);
  const before = resident();
  await load.use((handles, onFire) => createSubject(service, handles, onFire));
  await load.subject.ready;
  const shards = threadIds().filter((id) => !own.includes(id));
  const atRest = resident();
  await load.fill();
  await sleep(200); // a shard catches up
  const filled = resident();
  const bytesOf = { bytesAtRest: atRest - before, bytesFilled: filled - atRest, live: load.live };
  const measurements: RateMeasurement[] = [];
  const [first] = rates;
  if (first === undefined) return { ...bytesOf, bytesGrown: 0, rates: measurements };
  const warmup: Phase = { cps: first, milliseconds };
  const settling = rates.map((cps): Phase => ({ cps, milliseconds: SETTLING }));
  const measured = rates.map((cps): Phase => ({ cps, milliseconds }));
  load.startDueSoon([warmup, ...rates.flatMap((_, at) => [settling[at], measured[at]])]);
  await load.run(warmup);
  for (const [at, phase] of measured.entries()) {
    await load.run(settling[at]);
    measurements.push(await measurePhase(load, phase, shards));
  }
  return { ...bytesOf, bytesGrown: process.memoryUsage.rss() - filled, rates: measurements };
}

async function measurePhase(load: TimerLoad, phase: Phase, shards: string[]): Promise<RateMeasurement> {
  const meter = new CpuMeter();
  const pauses: number[] = [];
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) pauses.push(duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  const begun = load.connections;
  load.latenesses = [];
  const start = performance.now();
  const shardBefore = cpuOf(shards);
  meter.start();
  await load.run(phase);
  const cpu = meter.read();
  const shard = cpuOf(shards) - shardBefore;
  const elapsed = performance.now() - start;
  await sleep(0); // the observer hears of the last pauses
  observer.disconnect();
  return {
    connections: load.connections - begun,
    elapsed,
    loop: cpu.thread,
    shard,
    helpers: Math.max(0, cpu.process - cpu.thread - shard),
    pauses,
    latenesses: load.latenesses,
  };
}
