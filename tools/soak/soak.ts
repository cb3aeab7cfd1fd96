import { readdirSync } from 'node:fs';
import type { Verdict } from '../../bench/replay/ledger.ts';
import type { Progress } from '../../bench/replay/replay-result.ts';
import { createScheduler } from '../../src/entries/index.ts';
import { findDrift, type Sample } from './drift.ts';
import { Faults } from './faults.ts';
import type { SoakOptions } from './options.ts';
import { SoakClients } from './soak-clients.ts';
import { SoakLoad } from './soak-load.ts';
import { type CrashKind, ThreadFaults } from './thread-faults.ts';

/** ms */
const SAMPLE_PERIOD = 1000;
const HANG_TIMEOUT = 1000;
/** The thread's heap may grow so large, MB: so that running out of it takes no machine down. */
const THREAD_HEAP = 64;

export interface SoakResult {
  readonly options: SoakOptions;
  readonly seconds: number;
  readonly connections: number;
  /** ms: the most by which the driver was behind its plan. */
  readonly longestLag: number;
  readonly armed: number;
  readonly moved: number;
  readonly cancelled: number;
  readonly peakLive: number;
  readonly verdict: Verdict;
  readonly crashes: Readonly<Record<CrashKind, number>>;
  /** Threads that were replaced, as 'shard-restart' told. */
  readonly restarts: number;
  readonly blocks: number;
  /** Seconds. */
  readonly blocked: number;
  readonly bursts: number;
  /** Threads of clients that were ended in the midst of what they did. */
  readonly clientsEnded: number;
  /** Times that the scheduler's count of live timers was not the ledger's. */
  readonly miscounts: number;
  readonly samples: readonly Sample[];
  /** What is wrong; empty if nothing is. */
  readonly faults: readonly string[];
}

/** Runs the workload of the replay for as long as asked, with faults, and judges what became of each timer. */
export class Soak {
  readonly #options: SoakOptions;
  readonly #onProgress: (progress: Progress) => void;
  readonly #load: SoakLoad;
  readonly #clients: SoakClients;
  readonly #threads: ThreadFaults;
  readonly #faults: Faults;
  readonly #samples: Sample[] = [];
  /** By shard, the most live timers seen. */
  readonly #peaks: number[] = [];
  #restarts = 0;
  #peakLive = 0;
  #nextSample = SAMPLE_PERIOD;
  #last = { opened: 0, at: 0 };
  readonly #errors: string[] = [];

  constructor(options: SoakOptions, onProgress: (progress: Progress) => void) {
    this.#options = options;
    this.#onProgress = onProgress;
    const scheduler = createScheduler({
      shards: options.shards,
      thread: {
        hangTimeout: HANG_TIMEOUT,
        inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 },
        resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP, maxYoungGenerationSizeMb: 16 },
      },
    });
    scheduler.on('shard-restart', () => {
      this.#restarts++;
    });
    scheduler.on('error', (error) => this.#errors.push(`error: ${error}`));
    this.#load = new SoakLoad(options, 0, scheduler, {
      extraConnections: () => this.#faults.burstConnections,
      onTurn: (now) => this.#onTurn(now),
    });
    this.#clients = new SoakClients(scheduler.share(), options);
    this.#threads = new ThreadFaults(scheduler);
    this.#faults = new Faults(this.#threads, this.#clients, options);
  }

  /** Ends the run as soon as possible; it is judged all the same. */
  stop(): void {
    this.#load.stop();
  }

  async run(): Promise<SoakResult> {
    const load = this.#load;
    await load.run();
    const seconds = load.clock.read() / 1000;
    await this.#clients.finish(); // before the scheduler that they use is closed
    const verdict = await load.judge(() => this.#report(load.clock.read(), 'draining'));
    const others = this.#clients.sums();
    const { ledger } = load;
    const all = withOthers(verdict, others);
    return {
      options: this.#options,
      seconds,
      connections: load.opened + others.opened,
      longestLag: load.driver.longestLag,
      armed: ledger.armed + others.armed,
      moved: ledger.moved + others.moved,
      cancelled: ledger.cancelled + others.cancelled,
      peakLive: this.#peakLive,
      verdict: all,
      crashes: this.#threads.counts,
      restarts: this.#restarts,
      blocks: this.#faults.blocks,
      blocked: this.#faults.blocked / 1000,
      bursts: this.#faults.bursts,
      clientsEnded: this.#clients.ended,
      miscounts: load.miscounts + others.miscounts,
      samples: this.#samples,
      faults: [...this.#wrongs(all, load.miscounts + others.miscounts), ...findDrift(this.#samples)],
    };
  }

  #wrongs(verdict: Verdict, miscounts: number): string[] {
    const wrongs = [...this.#errors, ...this.#clients.errors];
    for (const kind of ['early', 'lost', 'doubled', 'refused'] as const) {
      if (verdict[kind] > 0) wrongs.push(`${verdict[kind]} timers ${kind}`);
    }
    if (miscounts > 0) wrongs.push(`${miscounts} times a scheduler miscounted its live timers`);
    return wrongs;
  }

  #onTurn(now: number): void {
    this.#faults.happen(now);
    if (now < this.#nextSample) return;
    this.#nextSample = now + SAMPLE_PERIOD;
    this.#load.count();
    this.#peakLive = Math.max(this.#peakLive, this.#live);
    void this.#sample(now);
    this.#report(now, 'arrivals');
  }

  /** Of all loops. */
  get #live(): number {
    return this.#load.ledger.live + this.#clients.live;
  }

  /** Takes its time where a shard has to be replaced before it answers; several may be under way. */
  async #sample(now: number): Promise<void> {
    const live = this.#live;
    const [rss, handles, threads] = [
      process.memoryUsage.rss(),
      process.getActiveResourcesInfo().length,
      countThreads(),
    ];
    const { shards } = await this.#load.scheduler.stats();
    const sum = (field: 'filed' | 'bytes' | 'highWater') => shards.reduce((total, shard) => total + shard[field], 0);
    if (shards.length === 0) return; // closed meanwhile
    shards.forEach(({ size }, shard) => {
      this.#peaks[shard] = Math.max(this.#peaks[shard] ?? 0, size);
    });
    this.#samples.push({
      at: now / 1000,
      live,
      rss,
      handles,
      threads,
      filed: sum('filed'),
      wheelBytes: sum('bytes'),
      highWater: sum('highWater'),
      peak: this.#peaks.reduce((total, peak) => total + peak, 0),
    });
  }

  #report(now: number, phase: Progress['phase']): void {
    const { ledger } = this.#load;
    const opened = this.#load.opened + this.#clients.sums().opened;
    const rate = ((opened - this.#last.opened) / Math.max(1, now - this.#last.at)) * 1000;
    this.#last = { opened, at: now };
    const { p50, p99, max } = ledger.lateness.summary();
    const lateness = { p50, p99, max };
    this.#onProgress({ phase, elapsed: now / 1000, rate, live: this.#live, fired: ledger.fired, lateness });
  }
}

/** The owner's verdict, with what its clients have counted. */
function withOthers(verdict: Verdict, others: ReturnType<SoakClients['sums']>): Verdict {
  const { lateness } = verdict;
  return {
    ...verdict,
    fired: verdict.fired + others.fired,
    handedBack: verdict.handedBack + others.handedBack,
    early: verdict.early + others.early,
    lost: verdict.lost + others.lost,
    doubled: verdict.doubled + others.doubled,
    refused: verdict.refused + others.refused,
    lateness: { ...lateness, max: Math.max(lateness.max, others.latest) },
  };
}

/** Threads of this process where the system tells, else 0. */
function countThreads(): number {
  try {
    return readdirSync('/proc/self/task').length;
  } catch {
    return 0; // no such file on this system
  }
}
