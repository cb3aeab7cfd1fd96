import type { ReplayRun } from './fork-replay.ts';
import { count } from './format.ts';
import type { Options } from './options.ts';
import { type ColumnName, type ReplayColumn, titleOf } from './replay-columns.ts';
import type { ReplayResult } from './replay-result.ts';

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

/** A run on timers. */
type TimedRun = ReplayResult & { readonly cost: Cost };

/** What a call of the command came to: the columns by their names, see `replayColumns`. */
export interface Summary {
  readonly options: Options;
  readonly machine: { readonly node: string; readonly cpus: number; readonly model: string };
  readonly driver: ReplayResult;
  /** Inline. */
  readonly shardwheel?: TimedRun;
  /** The driver on the event loops of `shards`, where those are more than the other columns have. */
  readonly loops?: ReplayResult;
  readonly shards?: TimedRun;
  readonly native?: TimedRun;
  /**
   * In every column of shardwheel: 0 early, 0 lost, 0 doubled, 0 refused, 0 in a wrong context, and its process ended
   * by itself.
   */
  readonly correct: boolean;
  /** The columns in which it was not so. */
  readonly wrong: readonly ColumnName[];
  /** What a reader of the figures has to know: a rate that was not held, replays that differ, … */
  readonly remarks: readonly string[];
}

/** A column, and what came of it. */
export interface ColumnRun {
  readonly column: ReplayColumn;
  readonly run: ReplayRun;
}

/** `runs`: of all columns, in their order. */
export function summaryOf(options: Options, machine: Summary['machine'], runs: readonly ColumnRun[]): Summary {
  const of = (name: ColumnName) => runs.find(({ column }) => column.name === name)?.run;
  const timed = (name: ColumnName): TimedRun | undefined => {
    const found = runs.find(({ column }) => column.name === name);
    if (found === undefined) return undefined;
    const { result } = found.run;
    return { ...result, cost: costOf(result, of(found.column.base)!.result) };
  };
  const judged = runs.filter(({ column }) => column.subject === 'shardwheel');
  const wrong = judged.filter(({ run }) => !isCorrect(run)).map(({ column }) => column.name);
  return {
    options,
    machine,
    driver: of('driver')!.result,
    shardwheel: timed('shardwheel'),
    loops: of('loops')?.result,
    shards: timed('shards'),
    native: timed('native'),
    correct: wrong.length === 0,
    wrong,
    remarks: runs.flatMap(({ column, run }) => remarksOn(column, run, of(column.base)!)),
  };
}

export function operationsOf(run: ReplayResult): number {
  return run.armed + run.moved + run.cancelled;
}

function costOf(run: ReplayResult, driver: ReplayResult): Cost {
  const operations = operationsOf(run);
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

export function isCorrect({ result: { verdict, strayed }, endedByItself }: ReplayRun): boolean {
  return verdict.early + verdict.lost + verdict.doubled + verdict.refused + strayed === 0 && endedByItself;
}

/** Share of a run that an event-loop thread may wait for a CPU before that is worth a remark. */
const crowded = 0.05;

/** A rate counts as held when it was missed by less than this share. */
const tolerance = 0.01;

function remarksOn(column: ReplayColumn, run: ReplayRun, base: ReplayRun): string[] {
  const onRun = [remarkOnRate, remarkOnCrowding, remarkOnEnd, remarkOnCpu, remarkOnOwnCounts].map((remark) =>
    remark(run),
  );
  return [...onRun, remarkOnSteps(run, base)]
    .filter((remark) => remark !== undefined)
    .map((remark) => `${titleOf(column)}: ${remark}`);
}

function remarkOnRate({ result: { asked, reached, longestLag } }: ReplayRun): string | undefined {
  if (reached >= asked * (1 - tolerance)) return undefined;
  return `this machine did not hold ${count(asked)} connections per second; it held ${count(reached)} (up to ${count(longestLag)} ms behind the plan).`;
}

function remarkOnCrowding({ result: { cpu, seconds, threads } }: ReplayRun): string | undefined {
  if (cpu.waiting === undefined || cpu.waiting < seconds * threads * 1000 * crowded) return undefined;
  const who = threads === 1 ? 'the event-loop thread was' : `the ${threads} event-loop threads were`;
  return `${who} ready to run but had no CPU for ${count(cpu.waiting)} ms; lateness and blocks are due to that, too.`;
}

function remarkOnEnd({ endedByItself }: ReplayRun): string | undefined {
  return endedByItself ? undefined : 'the process did not end by itself after the replay and had to be killed.';
}

function remarkOnCpu({ result }: ReplayRun): string | undefined {
  if (result.cpu.source !== 'eventLoopUtilization') return undefined;
  return 'this system does not tell the CPU of one thread; the time in which the event loop was not idle stands in.';
}

/** The subject's own counters, if any, against the ledger's. */
function remarkOnOwnCounts({ result }: ReplayRun): string | undefined {
  if (result.own === undefined) return undefined;
  const { scheduled, rescheduled, cancelled, delivered } = result.own as Record<string, unknown>;
  const own = [scheduled, rescheduled, cancelled, delivered].join(', ');
  const counted = [result.armed, result.moved, result.cancelled, result.verdict.fired].join(', ');
  return own === counted
    ? undefined
    : `its own counts (scheduled, moved, cancelled, delivered: ${own}) differ from the ledger's (${counted}).`;
}

function remarkOnSteps({ result }: ReplayRun, { result: driver }: ReplayRun): string | undefined {
  if (result.checksum === driver.checksum) return undefined;
  return (
    `not exactly the steps of the driver alone (${count(operationsOf(result))} timer operations, not ${count(operationsOf(driver))}): ` +
    'a timer fired just before the event that would have ended it, or the replay fell behind its plan.'
  );
}
