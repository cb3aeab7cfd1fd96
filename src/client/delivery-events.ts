import type { Context } from '../async-context/context-keeper.ts';
import type { TimerId } from '../timer-id.ts';
import type { LateTurn } from './late-timers.ts';

/** Timers scheduled without a callback, as 'fired' listeners get them. */
export interface FiredBatch {
  shard: number;
  /** The scheduler's time when the batch was made, in ms. */
  now: number;
  /** Number of timers: the entries of `ids` and `deadlines` below it are valid, during the call only. */
  length: number;
  ids: Float64Array;
  /** In ms on the scheduler's clock. */
  deadlines: Float64Array;
  /** `args[i]` is the argument of the timer `ids[i]`; undefined if it has none. */
  args: unknown[];
}

/** The timer whose callback has thrown. */
export interface FailedTimer {
  /** No longer live, unless the timer repeats. */
  id: TimerId;
  /** Undefined where it has none. */
  label: string | undefined;
  argument: unknown;
  /** Of this delivery, in ms on the scheduler's clock. */
  deadline: number;
}

/** Receives deliveries and reports about them. @internal */
export interface DeliveryEvents {
  /** Emits a batch of timers without callbacks. Must not throw. */
  emitBatch(batch: FiredBatch): void;
  /** Called when a timer's callback that ran in the context has thrown. Must not throw. */
  failed(error: unknown, context: Context, timer: FailedTimer): void;
  /** Called when timers of a turn were later than a watched threshold. Must not throw. */
  late(turn: LateTurn): void;
  /**
   * Called when a timer was refused because its lane is full or, if `shard` is undefined, the wheel of drop-in timers.
   * `now` in ms. Must not throw.
   */
  refused(shard: number | undefined, capacity: number, now: number): void;
}
