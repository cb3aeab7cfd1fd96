import { on } from 'node:events';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import type { SchedulerHandle } from 'shardwheel';
import { type ConnectionCounts, ConnectionJournal, type ConnectionRecord } from './connection-journal.ts';
import type { LoadTimeouts } from './load-timeouts.ts';
import { byRoute, type Route, routes } from './plans.ts';
import type { TimerCounts } from './timer-census.ts';

type Ports = Record<Route, number>;

/** What all threads of a run have in common. */
export interface ServiceSetup {
  /** Of the scheduler that the threads share. */
  handle: SchedulerHandle;
  upstreamPorts: Ports;
  timeouts: LoadTimeouts;
  /** Connections have no limits. */
  isUnlimited: boolean;
}

export interface ThreadSetup extends ServiceSetup {
  /** To listen on; 0: any free port. */
  ports: Ports;
  reusePort: boolean;
  journals: Record<Route, SharedArrayBuffer>;
}

/** What a thread says at its end. */
export interface ThreadReport {
  timers: TimerCounts;
  /** The longest that its loop stood still, ms. */
  stall: number;
}

/** A thread that serves connections: see event-loop-thread.ts. */
export class EventLoop {
  readonly threadId: number;
  /** Where it listens, once it does. */
  readonly ready: Promise<Ports>;
  /** Rejects if the thread ends before it is told to. */
  readonly failed: Promise<never>;
  readonly #worker: Worker;
  readonly #messages: AsyncIterator<unknown[]>;
  readonly #exited: Promise<unknown>;
  readonly #journals: Record<Route, ConnectionJournal>;
  #isEnding = false;
  #measured: EventLoopUtilization | undefined;

  /** @param capacity most connections of each route */
  constructor(setup: Omit<ThreadSetup, 'journals'>, capacity: number) {
    this.#journals = byRoute(() => ConnectionJournal.allocate(capacity));
    const workerData: ThreadSetup = { ...setup, journals: byRoute((route) => this.#journals[route].memory) };
    this.#worker = new Worker(new URL('./event-loop-thread.js', import.meta.url), { workerData });
    this.threadId = this.#worker.threadId;
    this.#messages = on(this.#worker, 'message')[Symbol.asyncIterator]();
    this.#exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    this.failed = new Promise((_, reject) => {
      this.#worker.once('error', reject);
      this.#worker.once('exit', (code) => {
        if (!this.#isEnding) reject(new Error(`an event-loop thread ended early, with exit code ${code}`));
      });
    });
    this.failed.catch(() => {}); // told to whoever waits for an answer
    this.ready = this.#answer<Ports>();
    this.ready.catch(() => {}); // the same
  }

  counts(): ConnectionCounts {
    const sum: ConnectionCounts = { accepted: 0, ended: 0, cut: 0 };
    for (const route of routes) addCounts(sum, this.#journals[route].counts());
    return sum;
  }

  records(route: Route): ConnectionRecord[] {
    return this.#journals[route].records();
  }

  /** Share of the time that it was busy, since it was last asked. */
  utilization(): number {
    const { performance } = this.#worker;
    const [now, before] = [performance.eventLoopUtilization(), this.#measured];
    this.#measured = now;
    return before === undefined ? now.utilization : performance.eventLoopUtilization(now, before).utilization;
  }

  /** Ends it as a crash would: at any instruction, and with its connections. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }

  /** Ends it when its connections have, by their drain timeout at the latest; it is expected to end by itself. */
  async stop(): Promise<ThreadReport> {
    this.#worker.postMessage('stop');
    const report = await this.#answer<ThreadReport>();
    this.#isEnding = true;
    await this.#exited;
    return report;
  }

  async #answer<T>(): Promise<T> {
    const { value } = await Promise.race([this.#messages.next(), this.failed]);
    return value[0] as T;
  }
}

export function addCounts(sum: ConnectionCounts, { accepted, ended, cut }: ConnectionCounts): void {
  sum.accepted += accepted;
  sum.ended += ended;
  sum.cut += cut;
}
