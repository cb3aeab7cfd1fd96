// Entry of a thread that plays worlds: started by `WheelSoak`.
import { parentPort, workerData } from 'node:worker_threads';
import { type DifferentialPlan, type Finding, playWorlds, type WorldTally } from './differential.ts';

export interface ThreadTask {
  readonly plan: DifferentialPlan;
  /** The number of the world that is being played. */
  readonly current: Int32Array;
}

/** Told now and then, and at the end. */
export interface ThreadReport {
  readonly tallies: readonly WorldTally[];
  readonly isOver: boolean;
  readonly finding?: Finding;
}

/** ms */
const PERIOD = 250;

const { plan, current } = workerData as ThreadTask;
let tallies: WorldTally[] = [];
let nextReport = performance.now() + PERIOD;

function report(rest: Omit<ThreadReport, 'tallies'>): void {
  parentPort?.postMessage({ tallies, ...rest } satisfies ThreadReport);
  tallies = [];
  nextReport = performance.now() + PERIOD;
}

const finding = playWorlds(
  plan,
  (number) => Atomics.store(current, 0, number),
  (tally) => {
    tallies.push(tally);
    if (performance.now() >= nextReport) report({ isOver: false });
  },
);
report({ isOver: true, finding });
