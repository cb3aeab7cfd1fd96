import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Driver } from '../replay/driver.ts';
import { Ledger, type Verdict } from '../replay/ledger.ts';
import { ModelProxy } from '../replay/model-proxy.ts';
import { parseOptions, type ReplayOptions } from '../replay/options.ts';
import type { Progress } from '../replay/replay-result.ts';
import { StepClock } from '../replay/step-clock.ts';
import { ShardwheelTimers } from '../replay/subjects/shardwheel-timers.ts';
import { createScheduler } from '../src/index.ts';
import { findDrift, type Sample } from './drift.ts';
import { Faults } from './faults.ts';
import type { SoakOptions } from './options.ts';
import { type CrashKind, ThreadFaults } from './thread-faults.ts';

/** Most connections that are open at a time, and most timers that have numbers: tables are laid out for them. */
const MOST_OPEN = 4_000_000;
const MOST_NUMBERS = 16_000_000;
/** Timers that must have ended before an ended timer's number is used again. */
const KEEP = 2 ** 20;

/** ms */
const SAMPLE_PERIOD = 1000;
const HANG_TIMEOUT = 1000;
/** A timer that is so late when all is over counts as lost; waiting for it is given up after `PATIENCE`. ms. */
const GRACE = 2000;
const PATIENCE = 20_000;
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
  readonly #clock = new StepClock();
  readonly #end: number;
  readonly #proxy: ModelProxy;
  readonly #driver: Driver;
  readonly #timers: ShardwheelTimers;
  readonly #threads: ThreadFaults;
  readonly #faults: Faults;
  readonly #samples: Sample[] = [];
  /** By shard, the most live timers seen. */
  readonly #peaks: number[] = [];
  #restarts = 0;
  #miscounts = 0;
  #nextSample = SAMPLE_PERIOD;
  #last = { opened: 0, at: 0 };
  #isStopped = false;
  readonly #errors: string[] = [];

  constructor(options: SoakOptions, onProgress: (progress: Progress) => void) {
    this.#options = options;
    this.#onProgress = onProgress;
    this.#end = Math.round(options.minutes * 60_000);
    const replay = workloadOf(options);
    const ledger = new Ledger(MOST_NUMBERS, this.#clock, KEEP);
    this.#proxy = new ModelProxy(replay, MOST_OPEN, this.#clock, ledger);
    const scheduler = createScheduler({
      shards: replay.shards,
      hangTimeout: HANG_TIMEOUT,
      inlineAfter: { deaths: Number.POSITIVE_INFINITY, within: 1 },
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP, maxYoungGenerationSizeMb: 16 },
    });
    this.#timers = new ShardwheelTimers(2 * MOST_OPEN, this.#proxy.onFire, scheduler);
    this.#proxy.use(this.#timers, false);
    scheduler.on('shard-restart', () => {
      this.#restarts++;
    });
    scheduler.on('error', (error) => this.#errors.push(`error: ${error}`));
    this.#threads = new ThreadFaults(scheduler);
    const { shards, seed, burst, crashEvery, blockEvery, burstEvery } = options;
    const every = { crash: crashEvery * 1000, block: blockEvery * 1000, burst: burstEvery * 1000 };
    this.#faults = new Faults(this.#threads, { shards, seed, burst, every });
    this.#driver = new Driver(this.#proxy, this.#clock, {
      end: this.#end,
      connectionsBy: (millisecond) =>
        Math.floor(((millisecond + 1) * options.cps) / 1000) + this.#faults.burstConnections,
      onTurn: (now) => this.#onTurn(now),
      isOver: () => this.#isStopped || this.#clock.read() >= this.#end,
    });
  }

  /** Ends the run as soon as possible; it is judged all the same. */
  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<SoakResult> {
    await this.#timers.ready;
    this.#clock.start();
    await this.#driver.run();
    const seconds = this.#clock.read() / 1000;
    const { ledger } = this.#proxy;
    await this.#settle();
    const expected = this.#clock.read() - GRACE;
    await this.#timers.close((timer) => ledger.handBack(timer, expected));
    await sleep(200); // whatever fires now has been handed back before, and is counted as doubled
    const verdict = ledger.verdict();
    const { armed, moved, cancelled, peakLive } = ledger;
    return {
      options: this.#options,
      seconds,
      connections: this.#proxy.opened,
      longestLag: this.#driver.longestLag,
      armed,
      moved,
      cancelled,
      peakLive,
      verdict,
      crashes: this.#threads.counts,
      restarts: this.#restarts,
      blocks: this.#faults.blocks,
      blocked: this.#faults.blocked / 1000,
      bursts: this.#faults.bursts,
      miscounts: this.#miscounts,
      samples: this.#samples,
      faults: [...this.#wrongs(verdict), ...findDrift(this.#samples)],
    };
  }

  #wrongs(verdict: Verdict): string[] {
    const wrongs = [...this.#errors];
    for (const kind of ['early', 'lost', 'doubled', 'refused'] as const) {
      if (verdict[kind] > 0) wrongs.push(`${verdict[kind]} timers ${kind}`);
    }
    if (this.#miscounts > 0) wrongs.push(`${this.#miscounts} times the scheduler miscounted its live timers`);
    return wrongs;
  }

  #onTurn(now: number): void {
    this.#faults.happen(now);
    if (now < this.#nextSample) return;
    this.#nextSample = now + SAMPLE_PERIOD;
    if (this.#timers.scheduler.size !== this.#proxy.ledger.live) this.#miscounts++;
    void this.#sample(now);
    this.#report(now, 'arrivals');
  }

  /** Takes its time where a shard has to be replaced before it answers; several may be under way. */
  async #sample(now: number): Promise<void> {
    const { live } = this.#proxy.ledger;
    const [rss, handles, threads] = [
      process.memoryUsage.rss(),
      process.getActiveResourcesInfo().length,
      countThreads(),
    ];
    const { shards } = await this.#timers.scheduler.stats();
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

  /** Waits for timers that are long overdue, as long as there is hope. */
  async #settle(): Promise<void> {
    const until = this.#clock.read() + PATIENCE;
    do {
      await sleep(250);
      this.#report(this.#clock.read(), 'draining');
    } while (this.#proxy.ledger.isWaitingFor(this.#clock.read() - GRACE) && this.#clock.read() < until);
  }

  #report(now: number, phase: Progress['phase']): void {
    const { ledger, opened } = this.#proxy;
    const rate = ((opened - this.#last.opened) / Math.max(1, now - this.#last.at)) * 1000;
    this.#last = { opened, at: now };
    const { p50, p99, max } = ledger.lateness.summary();
    const lateness = { p50, p99, max };
    this.#onProgress({ phase, elapsed: now / 1000, rate, live: ledger.live, fired: ledger.fired, lateness });
  }
}

/** The replay's workload, its connections and timeouts as they are by default. */
function workloadOf({ cps, shards, seed }: SoakOptions): ReplayOptions {
  const defaults = parseOptions([]);
  if (defaults === undefined) throw new Error('The replay has no default options');
  return { ...defaults, cps, shards, seed };
}

/** Threads of this process where the system tells, else 0. */
function countThreads(): number {
  try {
    return readdirSync('/proc/self/task').length;
  } catch {
    return 0; // no such file on this system
  }
}
