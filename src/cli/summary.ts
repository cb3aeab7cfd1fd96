import type { ReplayRun } from './fork-replay.ts';
import type { Options } from './options.ts';
import type { ReplayResult } from './result.ts';

/** What one subject cost, after the driver's own share has been taken off. */
export interface Cost {
  readonly operations: number;
  readonly operationsPerSecond: number;
  /** ms of the event-loop thread and of the whole process, the driver's taken off. */
  readonly threadCpu: number;
  readonly processCpu: number;
  /** ns of the event-loop thread per timer operation. */
  readonly perOperation: number;
  /** Bytes of growth between rest and peak per timer live at the peak. */
  readonly perLiveTimer: number;
}

export interface Summary {
  readonly options: Options;
  readonly machine: { readonly node: string; readonly cpus: number; readonly model: string };
  readonly driver: ReplayResult;
  readonly shardwheel: ReplayResult & { readonly cost: Cost };
  readonly native?: ReplayResult & { readonly cost: Cost };
  /** 0 early, 0 lost, 0 doubled, 0 refused, and its process ended by itself. */
  readonly correct: boolean;
  /** What a reader of the figures has to know: a rate that was not held, replays that differ, … */
  readonly remarks: readonly string[];
}

export function costOf(run: ReplayResult, driver: ReplayResult): Cost {
  const operations = run.armed + run.moved + run.cancelled;
  const threadCpu = run.cpu.thread - driver.cpu.thread;
  const growth = run.memory.peak - run.memory.rest - (driver.memory.peak - driver.memory.rest);
  return {
    operations,
    operationsPerSecond: operations / run.seconds,
    threadCpu,
    processCpu: run.cpu.process - driver.cpu.process,
    perOperation: (threadCpu * 1e6) / operations,
    perLiveTimer: growth / run.memory.live,
  };
}

export function isCorrect({ result: { verdict }, endedByItself }: ReplayRun): boolean {
  return verdict.early + verdict.lost + verdict.doubled + verdict.refused === 0 && endedByItself;
}

/** A rate counts as held when it was missed by less than this share. */
const tolerance = 0.01;

export function remarksOn(driver: ReplayRun, shardwheel: ReplayRun, native: ReplayRun | undefined): string[] {
  const remarks: string[] = [];
  const runs = [driver, shardwheel, ...(native ? [native] : [])];
  for (const { result, endedByItself } of runs) {
    const { subject, asked, reached, longestLag } = result;
    if (reached < asked * (1 - tolerance)) {
      remarks.push(
        `${subject}: this machine did not hold ${asked} connections per second; it held ${Math.floor(reached)} (up to ${Math.round(longestLag)} ms behind the plan).`,
      );
    }
    if (!endedByItself)
      remarks.push(`${subject}: the process did not end by itself after the replay and had to be killed.`);
    if (result.cpu.source === 'eventLoopUtilization') {
      remarks.push(`${subject}: no per-thread CPU on this system; the time in which the loop was not idle stands in.`);
    }
    if (result.checksum !== driver.result.checksum) {
      remarks.push(
        `${subject}: did not perform the same steps as the driver alone, because it fell behind the plan; compare with care.`,
      );
    }
  }
  return remarks;
}
