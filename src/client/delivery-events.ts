import type { Context } from '../async-context/context-keeper.ts';
import type { LateTurn } from './late-timers.ts';

/** Timers scheduled without a callback, as they are handed to 'fired' listeners. */
export interface FiredBatch {
  shard: number;
  /** The scheduler's time when the batch was put together, ms. */
  now: number;
  /** How many timers there are: the first so many entries of `ids` and `deadlines`, which are valid during the call only. */
  length: number;
  ids: Float64Array;
  /** ms, on the scheduler's clock. */
  deadlines: Float64Array;
  /** `args[i]` is the argument that the timer `ids[i]` was scheduled with; undefined where it has none. */
  args: unknown[];
}

/** Where timers are delivered to, and what is reported of them. */
export interface DeliveryEvents {
  /** Hands over a batch of timers that have no callback. Must not throw. */
  emitBatch(batch: FiredBatch): void;
  /** A callback that ran in the context has thrown. Must not throw. */
  failed(error: unknown, context: Context): void;
  /** Timers of a turn were later than somebody watches for. Must not throw. */
  late(turn: LateTurn): void;
  /** A timer was refused, as its lane is full, or (`shard` is undefined) all lanes together. `now`: ms. Must not throw. */
  refused(shard: number | undefined, capacity: number, now: number): void;
}
