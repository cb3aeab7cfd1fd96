import { DeadlineTooFarError, InvalidArgumentError, InvalidDeadlineError } from '../../errors.ts';
import type { TimerId } from '../../timer-id.ts';
import type { DueSink } from '../../wheel/tick-index.ts';
import { statsOf, type WheelIndex } from '../../wheel/wheel-index.ts';
import type { WheelSnapshot } from '../../wheel/wheel-snapshot.ts';
import { type Intervals, MAX_TICK } from './intervals.ts';
import { SlotDeadlines } from './slot-deadlines.ts';
import { TimerRecords } from './timer-records.ts';
import type { AdvanceResult, FireHandler, TimingWheel, WheelMemoryStats, WheelTimer } from './timing-wheel.ts';

/**
 * More than the number of ticks that start at one time if doubles are coarser than ticks (a deadline is due at the
 * first of them).
 */
const COARSE = 8;

export interface IndexedWheelOptions<I> {
  index: I;
  intervals: Intervals;
  capacity: number;
  past: 'next-tick' | 'throw';
  shard: number;
}

/**
 * Time, ids and values on top of an index of slots by tick. It implements TimingWheel and uses a TickIndex.
 *
 *    id ──▶ record (id, value, place) ──index──▶ due tick
 *              └─ deadline, if the due tick does not determine it
 */
export class IndexedWheel<T, I extends WheelIndex> implements TimingWheel<T>, DueSink {
  // V8: declared fields
  protected readonly index: I;
  protected readonly intervals: Intervals;
  private readonly refusesPast: boolean;
  private readonly records: TimerRecords<T>;
  /** Set once there is a deadline that its due tick does not determine. */
  private deadlines: SlotDeadlines | undefined;
  private clock = Number.NaN; // V8: double fields
  /** Whole deadlines after now and below it are their own due ticks, and near for the index; most wheels have none. */
  private fastPathEnd = Number.NaN;
  private readonly isIdentity: boolean;
  /** The tick being handed over, and the deadline of its timers if none is kept. */
  private handlerTick = Number.NaN;
  private tickDeadline = Number.NaN;
  private handler: FireHandler<T> | undefined;
  private fired = 0;

  constructor({ index, intervals, capacity, past, shard }: IndexedWheelOptions<I>) {
    this.index = index;
    this.intervals = intervals;
    this.refusesPast = past === 'throw';
    this.records = new TimerRecords(capacity, shard, (places) => index.usePlaces(places));
    this.isIdentity = intervals.isIdentity && index.keepsDueTicks && index.upperBound === Number.POSITIVE_INFINITY;
    this.clock = intervals.start;
    this.fastPathEnd = this.isIdentity ? index.directEnd : Number.NEGATIVE_INFINITY;
    // Here, not at first use: the order of first uses would decide the object's map.
    this.deadlines = this.handler = undefined;
  }

  get start(): number {
    return this.intervals.start;
  }

  get precision(): number {
    return this.intervals.precision;
  }

  get now(): number {
    return this.clock;
  }

  get size(): number {
    return this.index.size;
  }

  /** A deadline that is refused at MAX_TICK would never fire. */
  get upperBound(): number {
    const bound = this.index.upperBound;
    return bound === Number.POSITIVE_INFINITY ? bound : this.intervals.startOf(Math.min(bound, MAX_TICK) - 1);
  }

  schedule(deadline: number, value: T): TimerId {
    if (!(Number.isInteger(deadline) && deadline > this.clock && deadline < this.fastPathEnd)) {
      return this.scheduleSlowly(deadline, value);
    }
    const { records } = this;
    const slot = records.take();
    const id = records.open(slot, value);
    if (this.deadlines !== undefined) this.deadlines.unset(slot);
    try {
      this.index.insertDirect(slot, deadline);
    } catch (error) {
      records.close(slot, id); // memory was refused
      throw error;
    }
    return id;
  }

  reschedule(id: TimerId, deadline: number): boolean {
    const isFast = Number.isInteger(deadline) && deadline > this.clock && deadline < this.fastPathEnd;
    const tick = isFast ? deadline : this.tickFor(deadline);
    if (!this.records.isLive(id)) return false;
    const slot = this.records.slotOf(id);
    this.index.prepare(slot, tick); // memory may be refused: then nothing has changed
    if (!isFast) this.keepDeadline(slot, tick, deadline);
    else if (this.deadlines !== undefined) this.deadlines.unset(slot);
    this.index.remove(slot);
    if (!isFast) this.file(slot, tick);
    else this.index.insertDirect(slot, tick);
    return true;
  }

  cancel(id: TimerId): boolean {
    const { records } = this;
    if (!records.isLive(id)) return false;
    const slot = records.slotOf(id);
    this.index.remove(slot);
    records.close(slot, id);
    return true;
  }

  has(id: TimerId): boolean {
    return this.records.isLive(id);
  }

  get(id: TimerId): T | undefined {
    return this.records.isLive(id) ? this.records.valueAt(this.records.slotOf(id)) : undefined;
  }

  deadlineOf(id: TimerId): number | undefined {
    return this.records.isLive(id) ? this.deadlineAt(this.records.slotOf(id)) : undefined;
  }

  advanceTo(now: number, onFire: FireHandler<T>, limit = Number.POSITIVE_INFINITY): AdvanceResult {
    if (this.handler !== undefined) throwNested();
    if (typeof onFire !== 'function') throw new InvalidArgumentError('handler', 'must be a function', onFire);
    if (!(typeof limit === 'number' && limit >= 0))
      throw new InvalidArgumentError('limit', 'must be a number >= 0', limit);
    const tick = this.intervals.tickAt(now);
    const cascadedBefore = this.index.cascaded;
    this.fired = 0;
    this.handler = onFire;
    this.handlerTick = Number.NaN;
    let complete = false;
    try {
      complete = this.index.advanceTo(tick, this, limit);
    } finally {
      this.handler = undefined;
      if (complete && now > this.clock) this.clock = now;
    }
    return {
      fired: this.fired,
      cascaded: this.index.cascaded - cascadedBefore,
      complete,
      nextExpiration: this.nextExpiration(),
    };
  }

  nextExpiration(): number | undefined {
    const time = this.intervals.startOf(this.index.nextTick());
    return time < this.intervals.end ? time : undefined;
  }

  clear(): void {
    this.index.clear(); // before the closed slots use the places
    this.records.closeAll();
  }

  intervalNumber(time: number): number {
    if (!Number.isFinite(time)) throw new InvalidDeadlineError(time, 'must be a finite number', 'time');
    return this.intervals.intervalOf(time);
  }

  intervalNumberStart(n: number): number {
    return this.intervals.startOf(n);
  }

  intervalStart(time: number): number {
    return this.intervals.startOf(this.intervalNumber(time));
  }

  durations(): number[] {
    return this.index.levelRanges().map((ticks) => ticks * this.precision);
  }

  memoryStats(): WheelMemoryStats {
    const bytes = this.index.bytes + this.records.bytes + (this.deadlines?.bytes ?? 0);
    return { levels: statsOf(this.index.inspect()), bytes };
  }

  snapshot(): WheelSnapshot {
    const { start, precision, now, size, upperBound } = this;
    const timers: WheelSnapshot['timers'] = [];
    for (let slot = 0; slot < this.records.reach; slot++) {
      const id = this.records.idOf(slot);
      if (id !== undefined) timers.push({ slot, id, deadline: this.deadlineAt(slot) });
    }
    const [nextExpiration, idle, index] = [this.nextExpiration(), this.records.reach - size, this.index.inspect()];
    return { start, precision, now, size, upperBound, nextExpiration, timers, idle, index };
  }

  /** Iterates over the timers in no particular order. It may or may not include a timer that is scheduled meanwhile. */
  *[Symbol.iterator](): Iterator<WheelTimer<T>> {
    for (let slot = 0; slot < this.records.reach; slot++) {
      const id = this.records.idOf(slot);
      if (id !== undefined) yield { id, deadline: this.deadlineAt(slot), value: this.records.valueAt(slot) };
    }
  }

  /** Called by the index: a slot has come due. */
  due(slot: number, tick: number): void {
    if (tick !== this.handlerTick) {
      this.handlerTick = tick;
      this.clock = this.intervals.startOf(tick);
      this.tickDeadline = this.intervals.deadlineOf(tick);
    }
    const { records } = this;
    const id = records.idAt(slot);
    const value = records.valueAt(slot);
    const own = this.index.keepsDueTicks ? this.tickDeadline : this.intervals.deadlineOf(this.index.tickOf(slot));
    const deadline = this.deadlines === undefined ? own : this.deadlines.get(slot, own);
    records.close(slot, id);
    this.fired++;
    (this.handler as FireHandler<T>)(value, id, deadline);
  }

  /**
   * The tick at which to file a deadline; throws if the wheel does not accept it. Times within now's interval are not
   * past: at this precision they are the present. Precondition: the index has caught up with the clock.
   */
  private tickFor(deadline: number): number {
    if (!Number.isFinite(deadline)) throw new InvalidDeadlineError(deadline);
    const { clock, intervals } = this;
    const tick = intervals.dueTick(deadline);
    if (tick >= this.index.upperBound - COARSE && deadline >= this.upperBound) {
      throw new DeadlineTooFarError(deadline, this.upperBound);
    }
    if (this.refusesPast && deadline < clock && intervals.intervalOf(deadline) < intervals.intervalOf(clock)) {
      throw new InvalidDeadlineError(deadline, `must not be before the interval of now (${clock})`);
    }
    return tick;
  }

  private deadlineAt(slot: number): number {
    const own = this.intervals.deadlineOf(this.index.tickOf(slot));
    return this.deadlines === undefined ? own : this.deadlines.get(slot, own);
  }

  /** Schedules a deadline that is not whole, not in the future or not near, or that is refused. */
  private scheduleSlowly(deadline: number, value: T): TimerId {
    const tick = this.tickFor(deadline);
    const slot = this.records.take();
    const id = this.records.open(slot, value);
    try {
      this.keepDeadline(slot, tick, deadline);
      this.file(slot, tick);
    } catch (error) {
      this.records.close(slot, id); // memory was refused
      throw error;
    }
    return id;
  }

  /** Keeps a deadline if its due tick does not determine it. If memory is refused, throws and changes nothing. */
  private keepDeadline(slot: number, tick: number, deadline: number): void {
    if (tick > this.index.now && this.intervals.deadlineOf(tick) === deadline) {
      if (this.deadlines !== undefined) this.deadlines.unset(slot);
    } else {
      this.deadlines ??= new SlotDeadlines(this.records.capacity);
      this.deadlines.set(slot, deadline);
    }
  }

  private file(slot: number, tick: number): void {
    this.index.insert(slot, tick);
    if (this.isIdentity) this.fastPathEnd = this.index.directEnd; // it may have moved
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the running call fires everything due');
}
