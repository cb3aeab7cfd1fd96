import { setTimeout as sleep } from 'node:timers/promises';
import { Driver } from '../../bench/replay/driver.ts';
import { Ledger, type Verdict } from '../../bench/replay/ledger.ts';
import { LoopShare } from '../../bench/replay/loop-share.ts';
import { ModelProxy } from '../../bench/replay/model-proxy.ts';
import { parseOptions, type ReplayOptions } from '../../bench/replay/options.ts';
import { StepClock } from '../../bench/replay/step-clock.ts';
import { ShardwheelTimers } from '../../bench/replay/subjects/shardwheel-timers.ts';
import type { Scheduler } from '../../src/entries/index.ts';
import type { SoakOptions } from './options.ts';

/**
 * Most connections that are open at a time, and most timers that have numbers, over all loops: tables are laid out for
 * them.
 */
const MAX_CONNECTIONS = 4_000_000;
const MAX_NUMBERS = 16_000_000;
/** Timers that must have ended before an ended timer's number is used again. */
const KEEP = 2 ** 20;
/** A timer that is so late when all is over counts as lost; waiting for it is given up after `PATIENCE`. ms. */
const GRACE = 2000;
const PATIENCE = 20_000;

/** What befalls the load while it runs. */
export interface SoakHooks {
  /** Connections that have come on top of the plan until now. */
  extraConnections(): number;
  /** Called in each turn of the driver, with the time, ms. */
  onTurn(now: number): void;
}

/** One event loop's share of the soak's load: a proxy's timers on a scheduler, each of them accounted for. */
export class SoakLoad {
  readonly clock = new StepClock();
  readonly ledger: Ledger;
  readonly driver: Driver;
  /** Times that the scheduler's count of live timers was not the ledger's. */
  miscounts = 0;
  readonly #proxy: ModelProxy;
  readonly #timers: ShardwheelTimers;
  #isStopped = false;

  /** The share number `index` of `options.clients` + 1. */
  constructor(options: SoakOptions, index: number, scheduler: Scheduler, hooks: SoakHooks) {
    const loops = options.clients + 1;
    const share = new LoopShare(index, loops);
    const open = Math.ceil(MAX_CONNECTIONS / loops);
    this.ledger = new Ledger(Math.ceil(MAX_NUMBERS / loops), this.clock, KEEP);
    this.#proxy = new ModelProxy(workloadOf(options), open, this.clock, this.ledger, share);
    this.#timers = new ShardwheelTimers(2 * open, this.#proxy.onFire, scheduler);
    this.#proxy.use(this.#timers, false);
    const end = Math.round(options.minutes * 60_000);
    this.driver = new Driver(this.#proxy, this.clock, {
      end,
      connectionsBy: (millisecond) =>
        share.of(Math.floor(((millisecond + 1) * options.cps) / 1000)) + hooks.extraConnections(),
      onTurn: (now) => hooks.onTurn(now),
      isOver: () => this.#isStopped || this.clock.read() >= end,
    });
  }

  get scheduler(): Scheduler {
    return this.#timers.scheduler;
  }

  get opened(): number {
    return this.#proxy.opened;
  }

  /** Ends the run as soon as possible; it is judged all the same. */
  stop(): void {
    this.#isStopped = true;
  }

  async run(): Promise<void> {
    await this.#timers.ready;
    this.clock.start();
    await this.driver.run();
  }

  /** Holds the scheduler's own count against the ledger's. */
  count(): void {
    if (this.scheduler.size !== this.ledger.live) this.miscounts++;
  }

  /** Waits for timers that are long overdue, as long as there is hope; closes the scheduler, and judges. */
  async judge(waiting: () => void): Promise<Verdict> {
    const { ledger, clock } = this;
    const until = clock.read() + PATIENCE;
    do {
      await sleep(250);
      waiting();
    } while (ledger.isWaitingFor(clock.read() - GRACE) && clock.read() < until);
    const expected = clock.read() - GRACE;
    await this.#timers.close((timer) => ledger.handBack(timer, expected));
    await sleep(200); // whatever fires now has been handed back before, and is counted as doubled
    return ledger.verdict();
  }
}

/** The replay's workload, its connections and timeouts as they are by default. */
function workloadOf({ cps, shards, seed }: SoakOptions): ReplayOptions {
  const defaults = parseOptions([]);
  if (defaults === undefined) throw new Error('The replay has no default options');
  return { ...defaults, cps, shards, seed };
}
