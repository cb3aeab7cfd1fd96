import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SchedulerHandle } from 'shardwheel';
import { CpuMeter, type CpuUse } from './cpu-meter.ts';
import { Driver } from './driver.ts';
import { LoopShare } from './loop-share.ts';
import { ModelProxy } from './model-proxy.ts';
import type { ReplayOptions } from './options.ts';
import type { LoopResult, LoopState, SubjectName } from './replay-result.ts';
import { showScheduler } from './show-scheduler.ts';
import { StepClock } from './step-clock.ts';
import { NativeTimers } from './subjects/native-timers.ts';
import { NoTimers } from './subjects/no-timers.ts';
import type { OnFire, Subject } from './subjects/subject.ts';

/** ms between two progress reports. */
const samplePeriod = 200;
/**
 * A timer that is this late, in ms, when everything is over counts as lost. Waiting for it is given up after
 * `patience`.
 */
const grace = 1000;
const patience = 5000;
/** ms in which what was due at the plan's end is delivered, before the ledger is read. */
const delivery = 50;

/** What an event loop needs to know of the replay. */
export interface LoopTask {
  readonly name: SubjectName;
  readonly options: ReplayOptions;
  /** Of `options.threads`. */
  readonly index: number;
}

/** The part of a replay that one event loop does, step by step. With several loops, all take each step together. */
export interface LoopCalls {
  /** Lays out the driver's tables. */
  layOut(task: LoopTask): Promise<void>;
  /** Creates the subject: a client of the scheduler that `handle` stands for, if there is one. */
  prepare(handle?: SchedulerHandle): Promise<void>;
  /** Arrivals and drain. */
  drive(): Promise<void>;
  /** Ends the subject. */
  finish(): Promise<LoopResult>;
  /** Ends the arrivals and the drain as soon as possible. */
  stop(): Promise<void>;
}

/**
 * Replays a share of the connections on the real clock against one subject. A machine that cannot hold the rate falls
 * behind the plan (see `Driver`), which is reported, and stops accepting at twice the time asked for.
 */
export class LoopReplay implements LoopCalls {
  readonly #onState: (state: LoopState) => void;
  readonly #clock = new StepClock();
  readonly #cpu = new CpuMeter();
  #name!: SubjectName;
  #options!: ReplayOptions;
  #share!: LoopShare;
  /** Of this share. */
  #connections = 0;
  /** ms of the plan, arrivals and drain. */
  #planned = 0;
  #proxy!: ModelProxy;
  #driver!: Driver;
  #subject!: Subject;
  #used: CpuUse | undefined;
  #wakes = 0;
  #seconds = 0;
  #nextSample = 0;
  #stopped = false;

  constructor(onState: (state: LoopState) => void) {
    this.#onState = onState;
  }

  async layOut({ name, options, index }: LoopTask): Promise<void> {
    this.#name = name;
    this.#options = options;
    this.#share = new LoopShare(index, options.threads);
    this.#connections = this.#share.of(Math.round(options.cps * options.seconds));
    this.#planned = Math.floor((options.seconds + options.drain) * 1000);
    this.#proxy = new ModelProxy(options, this.#connections, this.#clock, undefined, this.#share);
    this.#driver = new Driver(this.#proxy, this.#clock, {
      end: this.#planned,
      connectionsBy: (millisecond) => this.#connectionsBy(millisecond),
      onTurn: (now) => {
        if (now >= this.#nextSample) this.#sample(now);
      },
      isOver: () => this.#over(),
    });
  }

  async prepare(handle?: SchedulerHandle): Promise<void> {
    const handles = this.#connections * 2;
    this.#subject = await createSubject(this.#name, this.#options, handles, this.#proxy.onFire, handle);
    this.#proxy.use(this.#subject, this.#name === 'driver');
    await this.#subject.ready;
  }

  async drive(): Promise<void> {
    const asleep = process.resourceUsage().voluntaryContextSwitches;
    this.#cpu.start();
    this.#clock.start();
    await this.#driver.run();
    this.#proxy.ledger.end = this.#clock.read();
    this.#seconds = this.#proxy.ledger.end / 1000;
    this.#used = this.#cpu.read();
    this.#wakes = process.resourceUsage().voluntaryContextSwitches - asleep;
  }

  async finish(): Promise<LoopResult> {
    const proxy = this.#proxy;
    const expected = await this.#settle();
    const own = await this.#subject.stats();
    this.#report('closing');
    const closeStart = performance.now();
    await this.#subject.close((timer) => proxy.ledger.handBack(timer, expected), proxy.liveTimers);
    const closing = performance.now() - closeStart;
    await sleep(100); // Whatever fires now has been handed back before, and is counted as doubled.
    const { armed, moved, cancelled, latenesses, peakLive } = proxy.ledger;
    const { lastAccept, longestBlock, longestLag } = this.#driver;
    return {
      connections: proxy.opened,
      reached: (proxy.opened / Math.max(lastAccept, this.#options.seconds * 1000)) * 1000,
      arrivals: lastAccept / 1000,
      seconds: this.#seconds,
      armed,
      moved,
      cancelled,
      peakLive,
      verdict: proxy.ledger.verdict(),
      latenesses,
      cpu: this.#used!,
      wakes: this.#wakes,
      longestBlock,
      longestLag,
      closing,
      strayed: proxy.strayed,
      checksum: proxy.checksum,
      own,
    };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
  }

  /** Connections that should have arrived by the end of a millisecond; no more of them once the arrivals are over. */
  #connectionsBy(millisecond: number): number {
    if (this.#arrivalsOver()) return 0;
    return Math.min(this.#connections, this.#share.of(Math.floor(((millisecond + 1) * this.#options.cps) / 1000)));
  }

  #arrivalsOver(): boolean {
    return this.#proxy.opened >= this.#connections || this.#driver.lastAccept > this.#options.seconds * 2000;
  }

  /**
   * The plan ends at a fixed millisecond of its own time, so that every subject has performed the same steps by then.
   */
  #over(): boolean {
    if (this.#stopped || this.#proxy.calendar.cursor >= this.#planned) return true;
    return this.#arrivalsOver() && this.#clock.read() > this.#driver.lastAccept + this.#planned;
  }

  /**
   * Waits for timers that are long overdue, as long as there is hope. Those that never come, the ledger counts as lost.
   * Returns until when all are expected to have come: later ones may be late without a fault.
   */
  async #settle(): Promise<number> {
    await sleep(delivery);
    const end = this.#clock.read() + patience;
    for (;;) {
      const now = this.#clock.read();
      const expected = now - grace;
      if (!this.#proxy.ledger.isWaitingFor(expected) || now >= end || this.#stopped) return expected;
      await sleep(250);
      this.#report('draining');
    }
  }

  #sample(now: number): void {
    this.#nextSample = now + samplePeriod;
    this.#report(this.#arrivalsOver() ? 'draining' : 'arrivals');
  }

  #report(phase: LoopState['phase']): void {
    const { ledger, opened } = this.#proxy;
    const { p50, p99, max } = ledger.lateness.summary();
    const now = this.#clock.read();
    this.#onState({ phase, now, opened, live: ledger.live, fired: ledger.fired, lateness: { p50, p99, max } });
  }
}

async function createSubject(
  name: SubjectName,
  options: ReplayOptions,
  handles: number,
  onFire: OnFire,
  handle: SchedulerHandle | undefined,
): Promise<Subject> {
  if (name === 'driver') return new NoTimers(handles);
  if (name === 'native') return new NativeTimers(onFire);
  // Imported here, so that the other replays do without its code.
  const { connectScheduler, createScheduler } = await import('shardwheel');
  const { ShardwheelTimers } = await import('./subjects/shardwheel-timers.ts');
  const { shards, tick, wheel } = options;
  const scheduler = handle === undefined ? createScheduler({ shards, tick, wheel }) : connectScheduler(handle);
  if (handle === undefined) await showScheduler(scheduler, options);
  return new ShardwheelTimers(handles, onFire, scheduler);
}
