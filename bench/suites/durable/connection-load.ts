import { setTimeout as sleep } from 'node:timers/promises';
import type { Scheduler } from 'shardwheel';
import { LEFT } from '../../replay/connection-table.ts';
import { parseOptions } from '../../replay/options.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT } from '../../replay/timer-kind.ts';
import { NEVER, Workload } from '../../replay/workload.ts';
import type { DurableSubject } from './durable-subject.ts';

/** Connections a second. */
export const RATE = 1000;
/** Calls of the subject that may be under way at a time; connections that come while there are more are refused. */
const MAX_CALLS = 5000;
/** ms between two looks at the clock. */
const CHECK_INTERVAL_MS = 5;
/** Words of a connection's record. */
const RECORD = 16;

/**
 * The replay's connections, with durable timers, in real time: for connect, idle, each request and TIME-WAIT, with the
 * replay's lifetimes. What a subject cannot take is refused, so that its queue does not grow without end.
 */
export class ConnectionLoad {
  /** Calls that were answered. */
  calls = 0;
  /** Timers scheduled. */
  timers = 0;
  readonly latenesses: number[] = [];
  private readonly subject: DurableSubject;
  private readonly waits: Scheduler;
  private readonly workload: Workload;
  private readonly deadlines = new Map<string, number>();
  private opened = 0;
  private pending = 0;
  private isEnding = false;

  /** `waits`: for what a connection waits for. */
  constructor(subject: DurableSubject, waits: Scheduler) {
    this.subject = subject;
    this.waits = waits;
    this.workload = new Workload(parseOptions([]) as NonNullable<ReturnType<typeof parseOptions>>);
  }

  /** Opens connections until `end`. */
  async run(): Promise<void> {
    const begun = performance.now();
    for (let refused = 0; !this.isEnding; await sleep(CHECK_INTERVAL_MS)) {
      const due = ((performance.now() - begun) / 1000) * RATE;
      while (this.opened + refused < due) {
        if (this.pending < MAX_CALLS) void this.connection();
        else refused += 1;
      }
    }
  }

  end(): void {
    this.isEnding = true;
  }

  delivered(key: string): void {
    const deadline = this.deadlines.get(key);
    if (deadline !== undefined) this.latenesses.push(Date.now() - deadline);
    this.deadlines.delete(key);
  }

  private async connection(): Promise<void> {
    const id = this.opened++;
    const [words, base] = [new Int32Array(RECORD), 0];
    this.workload.begin(words, base, id);
    const timeout = (kind: 0 | 1 | 2 | 3): number => this.workload.timeout(kind, words, base);
    await Promise.all([this.start(`${id}-idle`, timeout(IDLE)), this.start(`${id}-connect`, timeout(CONNECT))]);
    const connecting = this.workload.connectDelay(words, base);
    if (connecting === NEVER) return;
    await this.wait(connecting);
    await this.stop(`${id}-connect`);
    for (let request = 0; words[base + LEFT] > 0; request++) {
      await Promise.all([
        request === 0 ? undefined : this.move(`${id}-idle`, timeout(IDLE)),
        this.start(`${id}-${request}`, timeout(REQUEST)),
      ]);
      const answer = this.workload.answerDelay(words, base);
      if (answer === NEVER) return;
      await this.wait(answer);
      await this.stop(`${id}-${request}`);
      words[base + LEFT] -= 1;
      const gap = this.workload.pause(words, base);
      if (gap === NEVER || this.isEnding) return;
      await this.wait(gap);
    }
    await this.stop(`${id}-idle`);
    await this.start(`${id}-wait`, timeout(TIME_WAIT));
  }

  private wait(delay: number): Promise<void> {
    if (this.isEnding) return never;
    return new Promise((resolve) => this.waits.scheduleAfter(0, delay, () => resolve()));
  }

  private start(key: string, delay: number): Promise<void> {
    this.timers += 1;
    this.deadlines.set(key, Date.now() + delay);
    return this.call(() => this.subject.schedule(key, delay));
  }

  private move(key: string, delay: number): Promise<void> {
    this.deadlines.set(key, Date.now() + delay);
    return this.call(() => this.subject.move(key, delay));
  }

  private stop(key: string): Promise<void> {
    this.deadlines.delete(key);
    return this.call(() => this.subject.cancel(key));
  }

  private async call(ask: () => Promise<unknown>): Promise<void> {
    if (this.isEnding) return never;
    this.pending += 1;
    try {
      await ask();
    } catch (error) {
      if (!this.isEnding) throw error; // what is under way at the end may be cut off
    }
    this.pending -= 1;
    if (!this.isEnding) this.calls += 1;
  }
}

/** What a connection waits for once the load has ended. */
const never = new Promise<never>(() => undefined);
