import { contexts } from '../async-context/async-context.ts';
import type { Callback } from '../async-context/context-keeper.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { TimerId } from '../timer-id.ts';
import type { ClientLane } from './client-lane.ts';
import { CALLS_PER_READING, type ClientTime } from './client-time.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import { LateTimers, watched } from './late-timers.ts';
import type { RepeatingCalls } from './repeating-calls.ts';

// Taken once: a program may replace them.
const { max, min } = Math;

/** The parts of the client that delivery needs. */
export interface DeliveryClient {
  readonly isClosed: boolean;
  readonly lanes: readonly ClientLane[];
  /** Called when a fired record arrived before its timer is due, since the timer was moved meanwhile. */
  restage(lane: ClientLane, slot: number): void;
}

export interface DeliveryParts {
  readonly client: DeliveryClient;
  readonly repeating: RepeatingCalls;
  readonly events: DeliveryEvents;
  /** Where latenesses are counted. */
  readonly lateness: LatenessHistogram;
  readonly time: ClientTime;
  /** Maximum of timers delivered in a turn. */
  readonly maxBatch: number;
  /** See `SchedulerOptions.ioFirst`, ms. */
  readonly ioFirst: number;
}

/**
 * How long one turn may deliver, in ms, so that other work of the event loop waits no longer, even before maxBatch is
 * reached.
 */
const TURN_TIME_MS = 1;

/** What `examineNext` returns of a record that had no live timer, or not a due one. */
const STALE = -1;
/** What it returns where the record has to wait: until the loop has polled, or there is room for what it needs. */
const NOT_YET = -2;

/**
 * Turns fired records into callbacks and batches. A record is a shard's claim that a timer is due; the table decides.
 * The timer must be live, the same that was fired, and its deadline must have come. A timer that was moved to the
 * present while its record was on its way waits for the next tick. A slot is freed before its callback runs, so the
 * callback finds its timer ended; a repeating timer keeps its slot, and its callback finds it at the next call.
 *
 * Within a shard all timers are handed over in the order of its records, with or without callback: a batch is closed
 * when a timer with a callback follows.
 *
 * **I/O before late timers** (guarantee 16). A timer that comes more than `ioFirst` ms after its due time, because the
 * loop has stood still, may be an idle timeout of a connection whose data lies in the kernel. So it waits until the
 * loop has polled since it fell due: once, however busy the loop. A rest is such a turn: the loop polls before it.
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

  private readonly client: DeliveryClient;
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
  /** Of the timer that was delivered last, in ms. */
  deadline = Number.NaN; // V8: double fields
  private readonly ioFirst: number;
  /** See `ClientTurn.delivery`. */
  private polledFrom = Number.NEGATIVE_INFINITY;
  private turnEnd = Number.POSITIVE_INFINITY;
  /** `delivered` when the turn began. */
  private before = 0;
  private firstLane = 0;
  /** The watched lateness in ms: see `late-timers.ts`. */
  private lateAbove = Number.POSITIVE_INFINITY;
  /** The late timers of this turn, once there is one. */
  private late: LateTimers | undefined;

  constructor(parts: DeliveryParts) {
    const { client, repeating, events, time, lateness, maxBatch, ioFirst } = parts;
    this.client = client;
    this.repeating = repeating;
    this.events = events;
    this.time = time;
    this.lateness = lateness;
    this.maxBatch = maxBatch;
    this.ioFirst = time.isManual ? Number.POSITIVE_INFINITY : ioFirst;
    this.ids = new Float64Array(maxBatch);
    this.deadlines = new Float64Array(maxBatch);
  }

  /**
   * Delivers at most maxBatch timers of all lanes within a turn, for which the clock has been read; returns whether
   * there are more. With a manual clock only that number limits it. `polledFrom`: see `ClientTurn.delivery`. Throws
   * what a tick throws, including an uncaught error of a callback: the next turn takes the remaining records.
   */
  deliver(polledFrom: number): boolean {
    const { time } = this;
    const { lanes } = this.client;
    this.before = this.delivered;
    this.lateAbove = watched.above;
    this.polledFrom = polledFrom;
    this.turnEnd = time.isManual ? Number.POSITIVE_INFINITY : time.now + TURN_TIME_MS;
    const first = this.firstLane;
    this.firstLane = first + 1 < lanes.length ? first + 1 : 0;
    let room = this.maxBatch;
    let isLeft = false;
    for (let i = 0; i < lanes.length; i++) {
      const lane = lanes[(first + i) % lanes.length];
      const count = lane.late.state === 'nothing' ? lane.fired.available() : lane.late.available();
      if (lane.late.state === 'delivering') isLeft = true; // nobody rings for what comes after these
      if (count === 0) continue;
      const taken = this.deliverLane(lane, min(count, room));
      room -= taken;
      if (taken < count) isLeft = true;
    }
    return isLeft;
  }

  /** Ends a turn, even one that an error of a tick cut short. Returns whether it has delivered a timer. */
  endTurn(): boolean {
    const { late } = this;
    if (late !== undefined) {
      this.late = undefined;
      for (const turn of late.all()) this.events.late(turn);
    }
    if (this.delivered === this.before) return false;
    this.before = this.delivered;
    this.wakes += 1;
    return true;
  }

  /** Takes at most `limit` records of one lane, and stops soon after the turn's time is up; returns how many. */
  private deliverLane(lane: ClientLane, limit: number): number {
    const { client, time } = this;
    let taken = 0;
    try {
      while (taken < limit && !client.isClosed) {
        if (taken > 0) {
          time.readAgain();
          if (time.now >= this.turnEnd) break;
        }
        const end = min(taken + CALLS_PER_READING, limit);
        if (end - taken > 1) lane.prefetch(end - taken);
        for (; taken < end && !client.isClosed; taken++) {
          const slot = this.examineNext(lane);
          if (slot === NOT_YET) {
            limit = taken;
            break;
          }
          if (slot !== STALE && this.length > 0 && lane.payload.callbackOf(slot) !== undefined) {
            this.handOver(lane.shard);
            runTicks?.(); // before the record is taken: an error must not lose a timer
            taken -= 1; // a listener may have ended or moved the timer: the record is looked at anew
            continue;
          }
          lane.fired.take();
          if (slot === STALE) continue;
          // A callback has at most four frames of this package below it: it is called here.
          const { payload } = lane;
          payload.take(slot);
          const { argument, context, repeats } = payload;
          if (repeats && this.repeating.mayPassOver && this.repeating.passesOver(lane, slot)) continue;
          const callback = payload.callback as Callback | undefined;
          const id = this.end(lane, slot, callback, repeats);
          if (callback === undefined) {
            if (argument !== undefined) this.args[this.length - 1] = argument;
            continue;
          }
          let returned: unknown;
          try {
            returned = contexts.run(context, callback, argument, id);
          } catch (error) {
            const label = lane.slotLabels?.nameOfDelivered || undefined;
            this.events.failed(error, context, { id, label, argument, deadline: this.deadline });
          }
          if (repeats) this.repeating.end(lane, slot, returned);
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

  /**
   * Examines the next record, which stays where it is. Returns its slot if its timer is live and due, and NOT_YET if it
   * is to be examined again in another turn. Else STALE: that is counted, and a timer that was moved is staged anew.
   */
  private examineNext(lane: ClientLane): number {
    const { time } = this;
    // What may be refused memory comes first.
    if (this.length === 0 && this.ids.length + this.deadlines.length !== 2 * this.maxBatch) this.renewArrays();
    const canStage = lane.grids === undefined || lane.stage.hasRoom(1) || lane.commands.tryToMakeRoom(1);
    if (!canStage) return NOT_YET; // a repeating timer is staged again
    const { cells, at } = lane.fired;
    const slot = cells[at];
    if (lane.table.tagOf(slot) !== cells[at + 1]) {
      this.stale += 1;
      return STALE;
    }
    const deadline = lane.table.deadlineOf(slot);
    // The last reading is some deliveries old; and a shard's clock may be some ns ahead of this thread's.
    if (deadline > time.tickTime) time.readAgain();
    if (deadline > time.tickTime || (lane.putOffTick === time.tick && lane.isPutOff(slot))) {
      if (!lane.stage.hasRoom(1) && !lane.commands.tryToMakeRoom(1)) return NOT_YET;
      this.stale += 1;
      this.client.restage(lane, slot);
      return STALE;
    }
    return time.now - deadline > this.ioFirst && this.isUnpolled(lane, slot, deadline) ? NOT_YET : slot;
  }

  /** Whether a timer is so late that it waits, since the loop may not have polled since it fell due. */
  private isUnpolled({ table }: ClientLane, slot: number, deadline: number): boolean {
    const { time } = this;
    const due = time.scale.timeOf(time.dueTickOfRecord(deadline, table.dueOf(slot))); // with its slack
    return time.now - due > this.ioFirst && due > this.polledFrom;
  }

  /**
   * Ends a due timer, or moves a repeating one to its next call; counts the delivery, and adds it to the batch if it
   * has no callback. Returns its id.
   */
  private end(lane: ClientLane, slot: number, callback: unknown, isRepeating: boolean): TimerId {
    const id = lane.table.idOf(slot);
    const deadline = lane.table.deadlineOf(slot);
    this.deadline = deadline;
    const { now } = this.time;
    const lateness = now - deadline;
    if (lane.slotLabels !== undefined) lane.slotLabels.delivered(slot, lateness, isRepeating);
    if (isRepeating) {
      this.repeating.begin(lane, slot);
      this.repeated += 1;
    } else lane.endDelivered(slot);
    this.lateness.record(lateness);
    this.delivered += 1;
    if (lateness > this.lateAbove) this.lateTimers().note(id, deadline, now, lane.shard, callback);
    if (callback === undefined) {
      this.ids[this.length] = id;
      this.deadlines[this.length] = deadline;
      this.length += 1;
    }
    return id;
  }

  /** Counts a drop-in timer that runs now, with its deadline, in ms, and its function. */
  noteHome(deadline: number, now: number, callback: unknown): void {
    this.deadline = deadline;
    this.lateness.record(max(0, now - deadline));
    this.delivered += 1;
    if (now - deadline > watched.above) this.lateTimers().note(undefined, deadline, now, undefined, callback);
  }

  private lateTimers(): LateTimers {
    this.late ??= new LateTimers();
    return this.late;
  }

  /**
   * Hands a batch to the listeners as a new object, so that their changes to it have no effect here. Precondition: the
   * batch is not empty.
   */
  private handOver(shard: number): void {
    const { args, deadlines, ids, length } = this;
    const { now } = this.time;
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
