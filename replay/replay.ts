import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CpuMeter } from './cpu-meter.ts';
import { Driver } from './driver.ts';
import { MemoryMeter } from './memory-meter.ts';
import { ModelProxy } from './model-proxy.ts';
import type { ReplayOptions } from './options.ts';
import type { Progress, ReplayResult, SubjectName } from './replay-result.ts';
import { StepClock } from './step-clock.ts';
import { NativeTimers } from './subjects/native-timers.ts';
import { NoTimers } from './subjects/no-timers.ts';
import type { OnFire, Subject } from './subjects/subject.ts';

/** ms between two looks at memory. */
const samplePeriod = 200;
/** A timer that is this late, in ms, when everything is over counts as lost. Waiting for it is given up after `patience`. */
const grace = 1000;
const patience = 5000;

/**
 * Replays the workload on the real clock against one subject. A machine that cannot hold the rate falls behind the plan
 * (see `Driver`), which is reported, and stops accepting at twice the time asked for.
 */
export class Replay {
  readonly #name: SubjectName;
  readonly #options: ReplayOptions;
  readonly #onProgress: (progress: Progress) => void;
  readonly #clock = new StepClock();
  readonly #cpu = new CpuMeter();
  readonly #memory = new MemoryMeter();
  readonly #connections: number;
  /** ms of the plan, arrivals and drain. */
  readonly #planned: number;
  readonly #proxy: ModelProxy;
  readonly #driver: Driver;
  #nextSample = 0;
  #sampled = { at: 0, opened: 0 };
  #stopped = false;

  constructor(name: SubjectName, options: ReplayOptions, onProgress: (progress: Progress) => void) {
    this.#name = name;
    this.#options = options;
    this.#onProgress = onProgress;
    this.#connections = Math.round(options.cps * options.seconds);
    this.#planned = Math.floor((options.seconds + options.drain) * 1000);
    this.#proxy = new ModelProxy(options, this.#connections, this.#clock);
    this.#driver = new Driver(this.#proxy, this.#clock, {
      end: this.#planned,
      connectionsBy: (millisecond) => this.#connectionsBy(millisecond),
      onTurn: (now) => {
        if (now >= this.#nextSample) this.#sample(now);
      },
      isOver: () => this.#over(),
    });
  }

  /** Ends the arrivals and the drain as soon as possible. */
  stop(): void {
    this.#stopped = true;
  }

  async run(): Promise<ReplayResult> {
    const proxy = this.#proxy;
    this.#report('starting');
    this.#memory.before();
    const subject = await createSubject(this.#name, this.#options, proxy.onFire);
    proxy.use(subject, this.#name === 'driver');
    await subject.ready;
    this.#memory.rest();
    this.#cpu.start();
    this.#clock.start();
    await this.#driver.run();
    const seconds = this.#clock.read() / 1000;
    const cpu = this.#cpu.read();
    await this.#settle();
    const own = await subject.stats();
    this.#report('closing');
    const closeStart = performance.now();
    const expected = this.#clock.read() - grace;
    await subject.close((timer) => proxy.ledger.handBack(timer, expected), proxy.liveTimers);
    const closing = performance.now() - closeStart;
    await sleep(100); // Whatever fires now has been handed back before, and is counted as doubled.
    const { armed, moved, cancelled, peakLive } = proxy.ledger;
    const { lastAccept, longestBlock, longestLag } = this.#driver;
    return {
      subject: this.#name,
      connections: proxy.opened,
      asked: this.#options.cps,
      reached: (proxy.opened / Math.max(lastAccept, this.#options.seconds * 1000)) * 1000,
      arrivals: lastAccept / 1000,
      seconds,
      armed,
      moved,
      cancelled,
      peakLive,
      verdict: proxy.ledger.verdict(),
      cpu,
      memory: this.#memory.use(),
      longestBlock,
      longestLag,
      closing,
      strayed: proxy.strayed,
      checksum: proxy.checksum,
      own,
    };
  }

  /** Connections that should have arrived by the end of a millisecond; no more of them once the arrivals are over. */
  #connectionsBy(millisecond: number): number {
    if (this.#arrivalsOver()) return 0;
    return Math.min(this.#connections, Math.floor(((millisecond + 1) * this.#options.cps) / 1000));
  }

  #arrivalsOver(): boolean {
    return this.#proxy.opened >= this.#connections || this.#driver.lastAccept > this.#options.seconds * 2000;
  }

  /** The plan ends at a fixed millisecond of its own time, so that every subject has performed the same steps by then. */
  #over(): boolean {
    if (this.#stopped || this.#proxy.calendar.cursor >= this.#planned) return true;
    return this.#arrivalsOver() && this.#clock.read() > this.#driver.lastAccept + this.#planned;
  }

  /** Waits for timers that are long overdue, as long as there is hope. Those that never come, the ledger counts as lost. */
  async #settle(): Promise<void> {
    const end = this.#clock.read() + patience;
    while (this.#proxy.ledger.isWaitingFor(this.#clock.read() - grace) && this.#clock.read() < end && !this.#stopped) {
      await sleep(250);
      this.#report('draining');
    }
  }

  #sample(now: number): void {
    this.#nextSample = now + samplePeriod;
    this.#memory.sample(this.#proxy.ledger.live);
    this.#report(this.#arrivalsOver() ? 'draining' : 'arrivals');
  }

  #report(phase: Progress['phase']): void {
    const { ledger, opened } = this.#proxy;
    const now = this.#clock.read();
    const rate = now > this.#sampled.at ? ((opened - this.#sampled.opened) / (now - this.#sampled.at)) * 1000 : 0;
    this.#sampled = { at: now, opened };
    const { p50, p99, max } = ledger.lateness.summary();
    const elapsed = phase === 'starting' ? 0 : now / 1000;
    this.#onProgress({ phase, elapsed, rate, live: ledger.live, fired: ledger.fired, lateness: { p50, p99, max } });
  }
}

async function createSubject(name: SubjectName, options: ReplayOptions, onFire: OnFire): Promise<Subject> {
  const handles = Math.round(options.cps * options.seconds) * 2;
  if (name === 'driver') return new NoTimers(handles);
  if (name === 'native') return new NativeTimers(onFire);
  // Imported here, so that the other replays do without its code.
  const { ShardwheelTimers } = await import('./subjects/shardwheel-timers.ts');
  const { shards, tick, wheel } = options;
  return new ShardwheelTimers(handles, onFire, { shards, tick, wheel });
}
