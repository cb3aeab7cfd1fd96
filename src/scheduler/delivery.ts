import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { ClientLane } from './client-lane.ts';

/** Timers scheduled without a callback, as they are handed to 'fired' listeners. */
export interface FiredBatch {
  shard: number;
  /** The scheduler's time when the batch was put together, ms. */
  now: number;
  /** How many entries of `ids` and `deadlines` are valid; they are valid during the call only. */
  length: number;
  ids: Float64Array;
  deadlines: Float64Array;
}

/** What delivery needs of the client. */
export interface DeliveryHost {
  /** A fired record came before its timer's deadline, which was moved meanwhile: it is filed anew. */
  refile(lane: ClientLane, slot: number): void;
  /** A timer has ended. */
  ended(): void;
  /** Hands over a batch of timers that have no callback. Must not throw. */
  emitBatch(batch: FiredBatch): void;
  /** A callback has thrown. Must not throw. */
  failed(error: unknown): void;
  readonly isClosed: boolean;
}

/** Deliveries between two readings of the clock: callbacks take time, and lateness is to be told as it is. */
const CLOCK_INTERVAL = 64;

/**
 * Turns fired records into callbacks and batches. A record is a shard's claim that a timer is due; the table has the
 * last word: the timer must be live, the very one that was fired, and its deadline must have come. Its slot is freed
 * before its callback runs, so that whatever the callback does finds the timer ended.
 *
 * Within a shard all timers are handed over in the order of its records, those with and without callback alike: a batch
 * is closed when a timer with a callback follows.
 */
export class Delivery {
  /** Timers delivered so far. */
  delivered = 0;
  /** Records whose timer had been cancelled or moved meanwhile. */
  stale = 0;

  private readonly host: DeliveryHost;
  private readonly clock: SharedClock;
  private readonly lateness: LatenessHistogram;
  private readonly batch: FiredBatch;
  private now = 0;

  constructor(host: DeliveryHost, clock: SharedClock, lateness: LatenessHistogram, maxBatch: number) {
    this.host = host;
    this.clock = clock;
    this.lateness = lateness;
    const ids = new Float64Array(maxBatch);
    this.batch = { shard: 0, now: 0, length: 0, ids, deadlines: new Float64Array(maxBatch) };
  }

  /** Takes at most `limit` records of one lane; returns how many. */
  deliver(lane: ClientLane, shard: number, limit: number): number {
    const count = Math.min(lane.firedCount(), limit);
    if (count === 0) return 0;
    this.batch.shard = shard;
    this.now = this.clock.refresh();
    for (let taken = 0; taken < count && !this.host.isClosed; taken++) {
      if ((taken & (CLOCK_INTERVAL - 1)) === CLOCK_INTERVAL - 1) this.now = this.clock.refresh();
      this.take(lane);
    }
    this.handOver();
    lane.releaseFired();
    return count;
  }

  private take(lane: ClientLane): void {
    const slot = lane.takeFired();
    if (slot < 0) {
      this.stale += 1;
      return;
    }
    const deadline = lane.table.deadlineOf(slot);
    if (deadline > this.now) {
      this.stale += 1;
      this.host.refile(lane, slot);
      return;
    }
    const id = lane.table.idOf(slot);
    const callback = lane.callbackOf(slot);
    const argument = lane.argumentOf(slot);
    lane.end(slot);
    this.host.ended();
    this.lateness.record(this.now - deadline);
    this.delivered += 1;
    if (callback === undefined) {
      const { batch } = this;
      batch.ids[batch.length] = id;
      batch.deadlines[batch.length] = deadline;
      batch.length += 1;
      return;
    }
    this.handOver();
    try {
      callback(argument, id);
    } catch (error) {
      this.host.failed(error);
    }
  }

  private handOver(): void {
    const { batch } = this;
    if (batch.length === 0) return;
    batch.now = this.now;
    this.host.emitBatch(batch);
    batch.length = 0;
  }
}
