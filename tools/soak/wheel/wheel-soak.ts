import { Worker } from 'node:worker_threads';
import type { Finding, WorldTally } from './differential.ts';
import type { ThreadReport, ThreadTask } from './differential-thread.ts';
import type { WheelSoakOptions } from './wheel-soak-options.ts';
import { type WorldKind, worldKinds } from './world.ts';

const ENTRY = new URL('./differential-thread.js', import.meta.url);
/** ms without a word after which a world counts as endless: many times what the longest takes, shrinking included. */
const SILENCE = 30_000;

export interface KindTally {
  worlds: number;
  operations: number;
  fired: number;
  /** ms of the threads. */
  took: number;
}

/** Plays worlds on threads of their own, so that one that does not end is seen. */
export class WheelSoak {
  readonly tallies = new Map<WorldKind, KindTally>(
    worldKinds.map((kind) => [kind, { worlds: 0, operations: 0, fired: 0, took: 0 }]),
  );
  readonly findings: Finding[] = [];
  /** Worlds that did not end, or threads that did before their time. */
  readonly failures: string[] = [];
  private readonly options: WheelSoakOptions;
  private readonly threads: Worker[] = [];
  private isStopped = false;

  constructor(options: WheelSoakOptions) {
    this.options = options;
  }

  get operations(): number {
    return [...this.tallies.values()].reduce((sum, { operations }) => sum + operations, 0);
  }

  /** Resolves when all threads have come to their ends; with the first finding, the others are ended. */
  async run(): Promise<void> {
    const { world, threads } = this.options;
    const count = world === undefined ? threads : 1;
    await Promise.all(Array.from({ length: count }, (_, index) => this.play(index, count)));
  }

  /** Ends the run as it stands. */
  stop(): void {
    this.isStopped = true;
    for (const thread of this.threads) void thread.terminate();
  }

  private play(index: number, count: number): Promise<void> {
    const { operations, seed, world } = this.options;
    const current = new Int32Array(new SharedArrayBuffer(4));
    const plan = {
      seed,
      first: world ?? index,
      stride: count,
      operations: world === undefined ? operations / count : 1,
    };
    const thread = new Worker(ENTRY, { workerData: { plan, current } satisfies ThreadTask });
    this.threads.push(thread);
    let isOver = false;
    const silence = setTimeout(() => {
      this.failures.push(`world ${current[0]} does not end`);
      this.stop();
    }, SILENCE);
    thread.on('message', (report: ThreadReport) => {
      silence.refresh();
      for (const tally of report.tallies) this.count(tally);
      isOver = report.isOver;
      if (report.finding === undefined) return;
      this.findings.push(report.finding);
      this.stop();
    });
    thread.on('error', (error) => this.failures.push(`world ${current[0]}: ${error}`));
    return new Promise((resolve) => {
      thread.once('exit', () => {
        clearTimeout(silence);
        if (!isOver && !this.isStopped) this.failures.push(`ended in world ${current[0]}`);
        resolve();
      });
    });
  }

  private count({ kind, operations, fired, took }: WorldTally): void {
    const tally = this.tallies.get(kind) as KindTally;
    tally.worlds++;
    tally.operations += operations;
    tally.fired += fired;
    tally.took += took;
  }
}
