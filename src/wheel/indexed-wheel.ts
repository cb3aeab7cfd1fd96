import { InvalidArgumentError, InvalidDeadlineError } from '../errors.ts';
import type { TimerId } from '../timer-id.ts';
import { DeadlineRules } from './deadline-rules.ts';
import { type Intervals, MAX_TICK } from './intervals.ts';
import { SlotDeadlines } from './slot-deadlines.ts';
import { SlotValues } from './slot-values.ts';
import { Slots } from './slots.ts';
import type { DueSink } from './tick-index.ts';
import type { AdvanceResult, FireHandler, TimingWheel, WheelMemoryStats, WheelTimer } from './timing-wheel.ts';
import type { WheelIndex } from './wheel-index.ts';
import type { WheelSnapshot } from './wheel-snapshot.ts';

export interface IndexedWheelOptions<I> {
  index: I;
  intervals: Intervals;
  capacity: number;
  past: 'next-tick' | 'throw';
  shard: number;
}

const LAST_TICK = MAX_TICK; // V8: folded constants
const CAUGHT_UP = Number.NEGATIVE_INFINITY;

/**
 * Time, ids and values on top of an index of slots by tick. TimingWheel says what it promises, TickIndex what it uses.
 *
 *    id ──slots──▶ slot ──index──▶ due tick
 *                   ├─ value
 *                   └─ deadline, where it is not the time of the due tick
 *
 * Advancing over time in which there is nothing to do only notes the time: the index *lags* behind the
 * clock. Whatever changes the wheel, or reads what depends on the index's `now`, has it catch up first.
 */
export class IndexedWheel<T, I extends WheelIndex> implements TimingWheel<T>, DueSink {
  // V8: declared fields
  protected readonly index: I;
  protected readonly intervals: Intervals;
  private readonly rules: DeadlineRules;
  private readonly slots: Slots;
  private readonly values: SlotValues<T>;
  /** Where there is any deadline that is not the time of its tick. */
  private deadlines: SlotDeadlines | undefined;
  private clock = Number.NaN; // V8: double fields
  /** Whole deadlines from now up to it are their own due ticks; on most wheels there are none. */
  private fastPathEnd = Number.NaN;
  /** While the index lags, times below it need nothing but to be noted; else CAUGHT_UP: it stands at the clock's tick. */
  private laggingEnd = Number.NaN;
  /** The handler that was passed when the index began to lag: known to be a function. */
  private idleHandler: FireHandler<T> | undefined;
  /** Ticks of `clock` and of the tick being handed over. */
  private handlerTick = Number.NaN;
  private handler: FireHandler<T> | undefined;
  private fired = 0;
  /** See prefetch. V8: used results */
  protected prefetchSink = 0;
  private idle: AdvanceResult = { fired: 0, cascaded: 0, complete: true, nextExpiration: undefined };

  constructor({ index, intervals, capacity, past, shard }: IndexedWheelOptions<I>) {
    this.index = index;
    this.intervals = intervals;
    this.rules = new DeadlineRules(index, intervals, past === 'throw');
    this.slots = new Slots(capacity, shard);
    this.values = new SlotValues(capacity);
    const isFast = intervals.isIdentity && index.keepsDueTicks && index.upperBound === Number.POSITIVE_INFINITY;
    this.clock = intervals.start;
    this.fastPathEnd = isFast ? LAST_TICK : Number.NEGATIVE_INFINITY;
    this.laggingEnd = CAUGHT_UP;
    // Not when they are first used: in what order that happens would decide which kind of object this becomes.
    this.deadlines = this.idleHandler = this.handler = undefined;
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

  get upperBound(): number {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    return this.rules.upperBound;
  }

  schedule(deadline: number, value: T): TimerId {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    if (!(deadline > this.clock && deadline < this.fastPathEnd && Number.isInteger(deadline))) {
      return this.scheduleSlowly(deadline, value);
    }
    const id = this.slots.allocate();
    const slot = this.slots.slotOf(id);
    this.values.set(slot, value);
    if (this.deadlines !== undefined) this.deadlines.unset(slot);
    this.index.insert(slot, deadline);
    return id;
  }

  reschedule(id: TimerId, deadline: number): boolean {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    const isFast = deadline > this.clock && deadline < this.fastPathEnd && Number.isInteger(deadline);
    const tick = isFast ? deadline : this.rules.tickFor(deadline, this.clock);
    if (!this.slots.isLive(id)) return false;
    const slot = this.slots.slotOf(id);
    this.index.remove(slot);
    if (!isFast) this.ownDeadlines().set(slot, deadline);
    else if (this.deadlines !== undefined) this.deadlines.unset(slot);
    this.index.insert(slot, tick);
    return true;
  }

  cancel(id: TimerId): boolean {
    if (!this.slots.isLive(id)) return false;
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    const slot = this.slots.slotOf(id);
    this.index.remove(slot);
    this.values.drop(slot);
    this.slots.release(id);
    return true;
  }

  has(id: TimerId): boolean {
    return this.slots.isLive(id);
  }

  get(id: TimerId): T | undefined {
    return this.slots.isLive(id) ? this.values.get(this.slots.slotOf(id)) : undefined;
  }

  deadlineOf(id: TimerId): number | undefined {
    return this.slots.isLive(id) ? this.deadlineAt(this.slots.slotOf(id)) : undefined;
  }

  advanceTo(now: number, onFire: FireHandler<T>, limit?: number): AdvanceResult {
    const isEventFree = typeof now === 'number' && now < this.laggingEnd && now >= this.clock;
    if (isEventFree && onFire === this.idleHandler && limit === undefined) {
      this.clock = now;
      return this.idle;
    }
    return this.advance(now, onFire, limit);
  }

  nextExpiration(): number | undefined {
    const time = this.intervals.startOf(this.index.nextTick());
    return time < this.intervals.end ? time : undefined;
  }

  clear(): void {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    for (let slot = 0; slot < this.slots.reach; slot++) {
      const id = this.slots.idOf(slot);
      if (id === undefined) continue;
      this.values.drop(slot);
      this.slots.release(id);
    }
    this.index.clear();
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
    const bytes = this.index.bytes + this.slots.bytes + this.values.bytes + (this.deadlines?.bytes ?? 0);
    return { levels: this.index.levelStats(), bytes };
  }

  snapshot(): WheelSnapshot {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp();
    const timers: WheelSnapshot['timers'] = [];
    for (let slot = 0; slot < this.slots.reach; slot++) {
      const id = this.slots.idOf(slot);
      if (id !== undefined) timers.push({ slot, id, deadline: this.deadlineAt(slot) });
    }
    const { start, precision, now, size, upperBound } = this;
    const [nextExpiration, idle, index] = [this.nextExpiration(), this.slots.idle, this.index.inspect()];
    return { start, precision, now, size, upperBound, nextExpiration, timers, idle, index };
  }

  /** The timers in no particular order. A timer that is scheduled meanwhile may be met or not. */
  *[Symbol.iterator](): Iterator<WheelTimer<T>> {
    for (let slot = 0; slot < this.slots.reach; slot++) {
      const id = this.slots.idOf(slot);
      if (id !== undefined) yield { id, deadline: this.deadlineAt(slot), value: this.values.get(slot) };
    }
  }

  /** For the index: a slot may come due. */
  prefetch(slot: number): void {
    this.prefetchSink ^= this.slots.prefetch(slot) ^ this.values.prefetch(slot);
  }

  /** For the index: a slot has come due. */
  due(slot: number, tick: number): void {
    if (tick !== this.handlerTick) {
      this.handlerTick = tick;
      this.clock = this.intervals.startOf(tick);
    }
    const id = this.slots.idAt(slot);
    const value = this.values.get(slot);
    const deadline = this.deadlines === undefined ? this.clock : this.deadlines.get(slot, this.clock);
    this.values.drop(slot);
    this.slots.release(id);
    this.fired++;
    (this.handler as FireHandler<T>)(value, id, deadline);
  }

  private deadlineAt(slot: number): number {
    const tick = this.index.tickOf(slot);
    return this.deadlines === undefined ? tick : this.deadlines.get(slot, tick);
  }

  private ownDeadlines(): SlotDeadlines {
    this.deadlines ??= new SlotDeadlines(this.slots.capacity);
    return this.deadlines;
  }

  /** Schedules what needs a deadline beside its tick, or is refused. */
  private scheduleSlowly(deadline: number, value: T): TimerId {
    const tick = this.rules.tickFor(deadline, this.clock);
    const id = this.slots.allocate();
    const slot = this.slots.slotOf(id);
    this.values.set(slot, value);
    this.ownDeadlines().set(slot, deadline);
    this.index.insert(slot, tick);
    return id;
  }

  private advance(now: number, onFire: FireHandler<T>, limit = Number.POSITIVE_INFINITY): AdvanceResult {
    if (this.handler !== undefined) throwNested();
    if (typeof onFire !== 'function') throw new InvalidArgumentError('handler', 'must be a function', onFire);
    if (!(typeof limit === 'number' && limit >= 0))
      throw new InvalidArgumentError('limit', 'must be a number >= 0', limit);
    const tick = this.intervals.tickAt(now);
    if (tick >= this.index.nextEvent()) return this.fire(tick, now, onFire, limit);
    this.index.advanceTo(tick, this, limit);
    if (now > this.clock) this.clock = now;
    return this.beginLagging(onFire);
  }

  private fire(tick: number, now: number, onFire: FireHandler<T>, limit: number): AdvanceResult {
    if (this.laggingEnd > CAUGHT_UP) this.catchUp(); // an advance that fires nothing leaves the index where it stands
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

  /** Returns the result of a call in which nothing happened: the same object for as long as it holds. */
  private beginLagging(onFire: FireHandler<T>): AdvanceResult {
    this.idleHandler = onFire;
    const nextExpiration = this.nextExpiration();
    if (this.idle.nextExpiration !== nextExpiration) this.idle = { ...this.idle, nextExpiration };
    this.laggingEnd = this.intervals.startOf(Math.min(this.index.nextEvent(), LAST_TICK));
    return this.idle;
  }

  /** Has the index catch up with the clock. */
  private catchUp(): void {
    this.laggingEnd = CAUGHT_UP;
    this.index.advanceTo(this.intervals.tickAt(this.clock), this, 0);
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the call that is running fires everything due');
}
