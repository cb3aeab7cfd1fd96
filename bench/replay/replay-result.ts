import type { CpuUse } from './cpu-meter.ts';
import type { Verdict } from './ledger.ts';

export type SubjectName = 'driver' | 'shardwheel' | 'native';

/** What a replay says about itself while it runs. */
export interface Progress {
  readonly phase: 'starting' | 'arrivals' | 'draining' | 'closing';
  /** Seconds since the first arrival. */
  readonly elapsed: number;
  /** Connections per second since the last report. */
  readonly rate: number;
  readonly live: number;
  readonly fired: number;
  /** ms */
  readonly lateness: { readonly p50: number; readonly p99: number; readonly max: number };
}

/** What one event loop of a replay says about itself while it runs. */
export interface LoopState {
  readonly phase: Progress['phase'];
  /** ms since the first arrival. */
  readonly now: number;
  readonly opened: number;
  readonly live: number;
  readonly fired: number;
  readonly lateness: Progress['lateness'];
}

/** Bytes of resident memory. */
export interface MemoryUse {
  /** Before the subject was created; the driver's tables are laid out, but hardly touched. */
  readonly before: number;
  /** The subject is ready, no timer armed yet. */
  readonly rest: number;
  /** When most timers were live. */
  readonly peak: number;
  /** How many that were. */
  readonly live: number;
}

/** Everything counted and measured in one replay of one subject, over all event loops: see `mergedResult`. */
export interface ReplayResult {
  readonly subject: SubjectName;
  /** Event loops. */
  readonly threads: number;
  readonly connections: number;
  /** Connections per second: asked for, and reached on average until the last arrival. */
  readonly asked: number;
  readonly reached: number;
  /** Seconds from the first arrival to the last, and to the end of the drain. */
  readonly arrivals: number;
  readonly seconds: number;
  readonly armed: number;
  readonly moved: number;
  readonly cancelled: number;
  readonly peakLive: number;
  readonly verdict: Verdict;
  readonly cpu: CpuUse;
  /**
   * How often a thread of the process has slept and was woken, from the first arrival to the drain's end; 0 where the
   * system does not tell.
   */
  readonly wakes: number;
  readonly memory: MemoryUse;
  /** ms: longest time for which the event loop did not come round, the driver's own share of work included. */
  readonly longestBlock: number;
  /** ms: the most by which the driver was behind its plan. */
  readonly longestLag: number;
  /** ms that `close` took to hand back what was live. */
  readonly closing: number;
  /** Callbacks that ran in the async context of another connection, or in none. */
  readonly strayed: number;
  /** Over everything the driver did, whatever the order: equal for two replays that did the same. */
  readonly checksum: number;
  readonly own: unknown;
}

/** The part of one event loop. */
export interface LoopResult extends Omit<ReplayResult, 'subject' | 'threads' | 'asked' | 'memory'> {
  /** Counts of its `LatenessHistogram`. */
  readonly latenesses: Float64Array;
}

/** The messages of a replay's process to the process that started it. */
export type ReplayMessage =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'result'; readonly result: ReplayResult }
  | { readonly type: 'failure'; readonly message: string; readonly usage: boolean };
