import { contexts } from '../async-context/async-context.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { TimerId } from '../timer-id.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import { LateTimers, watched } from './late-timers.ts';
import type { RepeatingCalls } from './repeating-calls.ts';

// Taken once: a program may replace them.
const { max, min } = Math;

/** The parts of the client that delivery needs. */
export interface DeliveryHost {
  readonly isClosed: boolean;
  readonly lanes: readonly ClientLane[];
  readonly bell: ClientBell;
  /** Called when a fired record arrived before its timer is due, since the timer was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void;
}

/** Deliveries between two readings of the clock: callbacks take time, and lateness must be accurate. */
const CLOCK_INTERVAL = 64;

/** How long one turn may deliver, in ms, so that other work of the event loop waits no longer, even before maxBatch is reached. */
const TURN_TIME = 1;

/**
 * Turns fired records into callbacks and batches. A record is a shard's claim that a timer is due; the table decides. The timer
 * must be live, the same that was fired, and its deadline must have come. A timer that was moved to the present while its record
 * was on its way waits for the next tick. A slot is freed before its callback runs, so the callback finds its timer ended; a repeating
 * timer keeps its slot, and its callback finds it at the next call.
 *
 * Within a shard all timers are handed over in the order of its records, with or without callback: a batch is closed when a timer
 * with a callback follows.
 */
export class Delivery {
  /** Timers delivered so far, drop-in timers included. */
  delivered = 0;
  /** Those after which the timer lived on, since it repeats. */
  repeated = 0;
  /** Turns that delivered timers. */
  wakes = 0;
  /** Records whose timer had been cancelled or moved meanwhile. */
  stale = 0;

  private readonly host: DeliveryHost;
  private readonly repeating: RepeatingCalls;
  readonly events: DeliveryEvents;
  private readonly time: ClientTime;
  private readonly lateness: LatenessHistogram;
  private readonly maxBatch: number;
  /** The batch for 'fired' listeners: `length` entries. A listener may transfer these arrays, see `handOver`. */
  private ids: Float64Array;
  private deadlines: Float64Array;
  private args: unknown[] = [];
  private length = 0;
  private now = 0;
  /** The time at which the present tick began: deadlines up to it have come. */
  private tickTime = 0;
  private turnEnd = Number.POSITIVE_INFINITY;
  /** `delivered` when the turn began. */
  private before = 0;
  private firstLane = 0;
  /** The watched lateness in ms: see `late-timers.ts`. */
  private lateAbove = Number.POSITIVE_INFINITY;
  /** The late timers of this turn, once there is one. */
  private late: LateTimers | undefined;

  constructor(
    host: DeliveryHost,
    repeating: RepeatingCalls,
    events: DeliveryEvents,
    lateness: LatenessHistogram,
    time: ClientTime,
    maxBatch: number,
  ) {
    this.host = host;
    this.repeating = repeating;
    this.events = events;
    this.time = time;
    this.lateness = lateness;
    this.maxBatch = maxBatch;
    this.ids = new Float64Array(maxBatch);
    this.deadlines = new Float64Array(maxBatch);
  }

  /**
   * Begins a turn of the event loop: delivers at most maxBatch timers of all lanes; returns whether there are more. With a manual
   * clock only that number limits it. Throws what a tick throws, including an uncaught error of a callback: the next turn takes
   * the remaining records.
   */
  deliver(): boolean {
    const { host, time } = this;
    const { lanes } = host;
    host.bell.lower(); // before the lanes are read
    this.before = this.delivered;
    this.lateAbove = watched.above;
    const now = time.read();
    this.turnEnd = time.clock.memory.manual ? Number.POSITIVE_INFINITY : now + TURN_TIME;
    const first = this.firstLane;
    this.firstLane = first + 1 < lanes.length ? first + 1 : 0;
    let room = this.maxBatch;
    for (let i = 0; i < lanes.length && room > 0; i++)
      room -= this.deliverLane(lanes[(first + i) % lanes.length], room);
    return this.hasFired();
  }

  /** Whether fired records wait to be taken. */
  hasFired(): boolean {
    for (const lane of this.host.lanes) if (lane.firedCount() > 0) return true;
    return false;
  }

  /** Ends a turn, even one that an error of a tick cut short. */
  endTurn(): void {
    if (this.delivered > this.before) this.wakes += 1;
    const { late } = this;
    if (late === undefined) return;
    this.late = undefined;
    for (const turn of late.all()) this.events.late(turn);
  }

  /** Takes at most `limit` records of one lane, and stops soon after the turn's time is up; returns how many. */
  private deliverLane(lane: ClientLane, limit: number): number {
    const count = min(lane.firedCount(), limit);
    if (count === 0) return 0;
    let taken = 0;
    try {
      while (taken < count && !this.host.isClosed) {
        this.readClock(); // after the records were counted, so not before the tick of any
        if (taken > 0 && this.now >= this.turnEnd) break;
        const end = min(taken + CLOCK_INTERVAL, count);
        lane.prefetch(end - taken);
        for (; taken < end && !this.host.isClosed; taken++) {
          if (this.length > 0 && lane.isCallbackNext()) {
            this.handOver(lane.shard);
            runTicks?.(); // before the record is taken: an error must not lose a timer
            if (this.host.isClosed) break;
          }
          const slot = this.takeDue(lane);
          if (slot < 0) continue;
          // A callback has at most four frames of this package below it: it is called here.
          const { payload } = lane;
          const callback = payload.callbackOf(slot);
          const argument = payload.argumentOf(slot);
          const context = payload.contextOf(slot);
          const isRepeating = payload.isRepeating(slot);
          const id = this.end(lane, slot, callback, isRepeating);
          if (callback === undefined) {
            if (argument !== undefined) this.args[this.length - 1] = argument;
            continue;
          }
          try {
            contexts.run(context, callback, argument, id);
          } catch (error) {
            this.events.failed(error, context);
          }
          if (isRepeating) this.repeating.end(lane, slot);
          runTicks?.();
        }
      }
      if (this.length > 0) {
        this.handOver(lane.shard);
        runTicks?.();
      }
    } finally {
      if (this.length > 0) this.handOver(lane.shard);
      lane.releaseFired();
    }
    return taken;
  }

  private readClock(): void {
    this.now = this.time.read();
    this.tickTime = this.time.scale.timeOf(this.time.tick);
  }

  /** Takes a record. Returns its slot if its timer is due, else -1. */
  private takeDue(lane: ClientLane): number {
    // Steps that may be refused come first: then the record stays.
    if (this.length === 0) this.renewArrays();
    lane.commands.reserve(1); // to stage the timer again
    const slot = lane.takeFired();
    if (slot < 0) {
      this.stale += 1;
      return -1;
    }
    const deadline = lane.table.deadlineOf(slot);
    // The last reading is some deliveries old; and a shard's clock may be some ns ahead of this thread's.
    if (deadline > this.tickTime) this.readClock();
    if (deadline <= this.tickTime && !lane.isPutOff(slot)) return slot;
    this.stale += 1;
    this.host.restage(lane, slot);
    return -1;
  }

  /**
   * Ends a due timer, or moves a repeating one to its next call; counts the delivery, and adds it to the batch if it has no callback.
   * Returns its id.
   */
  private end(lane: ClientLane, slot: number, callback: unknown, isRepeating: boolean): TimerId {
    const id = lane.table.idOf(slot);
    const deadline = lane.table.deadlineOf(slot);
    const lateness = this.now - deadline;
    if (lane.labels !== undefined) lane.labels.delivered(slot, lateness, isRepeating);
    if (isRepeating) {
      this.repeating.begin(lane, slot);
      this.repeated += 1;
    } else lane.end(slot);
    this.count(lateness);
    if (lateness > this.lateAbove) this.lateTimers().note(id, deadline, this.now, lane.shard, callback);
    if (callback === undefined) {
      this.ids[this.length] = id;
      this.deadlines[this.length] = deadline;
      this.length += 1;
    }
    return id;
  }

  /** Counts a timer that was delivered `lateness` ms after its deadline. */
  private count(lateness: number): void {
    this.lateness.record(lateness);
    this.delivered += 1;
  }

  /** Counts a drop-in timer that runs now, with its deadline, in ms, and its function. */
  noteHome(deadline: number, now: number, callback: unknown): void {
    this.count(max(0, now - deadline));
    if (now - deadline > this.lateAbove) this.lateTimers().note(undefined, deadline, now, undefined, callback);
  }

  private lateTimers(): LateTimers {
    this.late ??= new LateTimers();
    return this.late;
  }

  /**
   * Hands a batch to the listeners as a new object, so that their changes to it have no effect here. Precondition: the batch is
   * not empty.
   */
  private handOver(shard: number): void {
    const { args, deadlines, ids, length, now } = this;
    this.length = 0;
    this.args = []; // the listener owns the old array from now on
    this.events.emitBatch({ shard, now, length, ids, deadlines, args });
  }

  /** Replaces arrays that a listener has transferred, then or later. */
  private renewArrays(): void {
    const { maxBatch } = this;
    if (this.ids.length !== maxBatch) this.ids = new Float64Array(maxBatch);
    if (this.deadlines.length !== maxBatch) this.deadlines = new Float64Array(maxBatch);
  }
}
