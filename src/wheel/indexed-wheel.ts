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

const LAST_TICK = MAX_TICK; // a constant of its own, which the compiler folds: see ChunkLists
const AWAKE = Number.NEGATIVE_INFINITY;

/**
 * Time, ids and values on top of an index of slots by tick. TimingWheel says what it promises, TickIndex what it uses.
 *
 *    id ──slots──▶ slot ──index──▶ due tick
 *                   ├─ value
 *                   └─ deadline, where it is not the time of the due tick
 *
 * Advancing over time in which there is nothing to do only notes the time: the wheel is *quiet*, and the index lags
 * behind the clock. Whatever changes the wheel, or reads what depends on the index's `now`, wakes it first.
 */
export class IndexedWheel<T, I extends WheelIndex> implements TimingWheel<T>, DueSink {
  // Declared, not defined: see ChunkLists.
  protected readonly index: I;
  protected readonly intervals: Intervals;
  private readonly rules: DeadlineRules;
  private readonly slots: Slots;
  private readonly values: SlotValues<T>;
  /** Where there is any deadline that is not the time of its tick. */
  private deadlines: SlotDeadlines | undefined;
  private clock = Number.NaN; // a double from the start, as the others: see Filing
  /** Whole deadlines from now up to it are their own due ticks; on most wheels there are none. */
  private plainEnd = Number.NaN;
  /** While quiet, times below it need nothing but to be noted; else AWAKE, and the index stands at the clock's tick. */
  private quietEnd = Number.NaN;
  /** The handler that was passed when the wheel fell quiet: known to be a function. */
  private idleHandler: FireHandler<T> | undefined;
  /** Ticks of `clock` and of the tick being handed over. */
  private handlerTick = Number.NaN;
  private handler: FireHandler<T> | undefined;
  private fired = 0;
  /** Keeps `expect` from being optimised away. */
  protected touched = 0;
  private idle: AdvanceResult = { fired: 0, cascaded: 0, complete: true, nextExpiration: undefined };

  constructor({ index, intervals, capacity, past, shard }: IndexedWheelOptions<I>) {
    this.index = index;
    this.intervals = intervals;
    this.rules = new DeadlineRules(index, intervals, past === 'throw');
    this.slots = new Slots(capacity, shard);
    this.values = new SlotValues(capacity);
    const isPlain = intervals.isPlain && index.keepsDueTicks && index.upperBound === Number.POSITIVE_INFINITY;
    this.clock = intervals.start;
    this.plainEnd = isPlain ? LAST_TICK : Number.NEGATIVE_INFINITY;
    this.quietEnd = AWAKE;
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
    if (this.quietEnd > AWAKE) this.wake();
    return this.rules.upperBound;
  }

  schedule(deadline: number, value: T): TimerId {
    if (this.quietEnd > AWAKE) this.wake();
    if (!(deadline > this.clock && deadline < this.plainEnd && Number.isInteger(deadline))) {
      return this.scheduleApart(deadline, value);
    }
    const id = this.slots.allocate();
    const slot = this.slots.slotOf(id);
    this.values.set(slot, value);
    if (this.deadlines !== undefined) this.deadlines.unset(slot);
    this.index.insert(slot, deadline);
    return id;
  }

  reschedule(id: TimerId, deadline: number): boolean {
    if (this.quietEnd > AWAKE) this.wake();
    const isPlain = deadline > this.clock && deadline < this.plainEnd && Number.isInteger(deadline);
    const tick = isPlain ? deadline : this.rules.tickFor(deadline, this.clock);
    if (!this.slots.isLive(id)) return false;
    const slot = this.slots.slotOf(id);
    this.index.remove(slot);
    if (!isPlain) this.ownDeadlines().set(slot, deadline);
    else if (this.deadlines !== undefined) this.deadlines.unset(slot);
    this.index.insert(slot, tick);
    return true;
  }

  cancel(id: TimerId): boolean {
    if (!this.slots.isLive(id)) return false;
    if (this.quietEnd > AWAKE) this.wake();
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
    const isQuiet = typeof now === 'number' && now < this.quietEnd && now >= this.clock;
    if (isQuiet && onFire === this.idleHandler && limit === undefined) {
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
    if (this.quietEnd > AWAKE) this.wake();
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
    if (this.quietEnd > AWAKE) this.wake();
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
  expect(slot: number): void {
    this.touched ^= this.slots.touch(slot) ^ this.values.touch(slot);
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
  private scheduleApart(deadline: number, value: T): TimerId {
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
    return this.fallQuiet(onFire);
  }

  private fire(tick: number, now: number, onFire: FireHandler<T>, limit: number): AdvanceResult {
    if (this.quietEnd > AWAKE) this.wake(); // an advance that fires nothing leaves the index where it stands
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
  private fallQuiet(onFire: FireHandler<T>): AdvanceResult {
    this.idleHandler = onFire;
    const nextExpiration = this.nextExpiration();
    if (this.idle.nextExpiration !== nextExpiration) this.idle = { ...this.idle, nextExpiration };
    this.quietEnd = this.intervals.startOf(Math.min(this.index.nextEvent(), LAST_TICK));
    return this.idle;
  }

  /** Has the index catch up with the clock. */
  private wake(): void {
    this.quietEnd = AWAKE;
    this.index.advanceTo(this.intervals.tickAt(this.clock), this, 0);
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the call that is running fires everything due');
}
