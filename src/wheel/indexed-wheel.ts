import { DeadlineTooFarError, InvalidArgumentError, InvalidDeadlineError } from '../errors.ts';
import type { TimerId } from '../timer-id.ts';
import type { Intervals } from './intervals.ts';
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

/**
 * Time, ids and values on top of an index of slots by tick: everything that the wheels share. See TimingWheel for what
 * it promises, TickIndex for what it builds on.
 *
 *    id ──slots──▶ slot ──index──▶ due tick
 *                   ├─ deadline, in the slot's record
 *                   └─ values[slot]
 */
export class IndexedWheel<T, I extends WheelIndex> implements TimingWheel<T>, DueSink {
  protected readonly index: I;
  protected readonly intervals: Intervals;
  private readonly slots: Slots;
  private readonly refusesPast: boolean;
  private readonly values: (T | undefined)[] = [];
  // Starts as a double, and so remains one, see CascadingIndex.
  private clock = Number.NaN;
  /** Ticks of `clock` and of the tick being handed over. */
  private handlerTick = Number.NaN;
  private handler: FireHandler<T> | undefined;
  private fired = 0;
  private idle: AdvanceResult = { fired: 0, cascaded: 0, complete: true, nextExpiration: undefined };

  constructor({ index, intervals, capacity, past, shard }: IndexedWheelOptions<I>) {
    this.index = index;
    this.intervals = intervals;
    this.slots = new Slots(capacity, shard);
    this.refusesPast = past === 'throw';
    this.clock = intervals.start;
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
    const bound = this.index.upperBound;
    return bound === Number.POSITIVE_INFINITY ? bound : this.intervals.startOf(bound - 1);
  }

  schedule(deadline: number, value: T): TimerId {
    const tick = this.tickFor(deadline);
    const id = this.slots.allocate(deadline);
    const slot = this.slots.slotOf(id);
    // Slots are given out in order before any is reused: the array stays dense.
    this.values[slot] = value;
    this.index.insert(slot, tick);
    return id;
  }

  reschedule(id: TimerId, deadline: number): boolean {
    const tick = this.tickFor(deadline);
    const slot = this.slots.find(id);
    if (slot < 0) return false;
    this.index.remove(slot);
    this.slots.setDeadline(slot, deadline);
    this.index.insert(slot, tick);
    return true;
  }

  cancel(id: TimerId): boolean {
    const slot = this.slots.find(id);
    if (slot < 0) return false;
    this.index.remove(slot);
    this.values[slot] = undefined;
    this.slots.release(slot);
    return true;
  }

  has(id: TimerId): boolean {
    return this.slots.find(id) >= 0;
  }

  get(id: TimerId): T | undefined {
    const slot = this.slots.find(id);
    return slot < 0 ? undefined : this.values[slot];
  }

  deadlineOf(id: TimerId): number | undefined {
    const slot = this.slots.find(id);
    return slot < 0 ? undefined : this.slots.deadlineOf(slot);
  }

  advanceTo(now: number, onFire: FireHandler<T>, limit: number = Number.POSITIVE_INFINITY): AdvanceResult {
    if (this.handler !== undefined) throwNested();
    if (!Number.isFinite(now)) throw new InvalidDeadlineError(now, 'must be a finite number', 'time');
    if (typeof onFire !== 'function') throw new InvalidArgumentError('handler', 'must be a function', onFire);
    if (!(limit >= 0)) throw new InvalidArgumentError('limit', 'must be a number >= 0', limit);
    const { index } = this;
    const tick = this.intervals.tickAt(now);
    if (tick < index.nextEvent()) {
      index.advanceTo(tick, this, limit);
      if (now > this.clock) this.clock = now;
      return this.idleResult();
    }
    return this.fire(tick, now, onFire, limit);
  }

  nextExpiration(): number | undefined {
    const tick = this.index.nextTick();
    return tick === Number.POSITIVE_INFINITY ? undefined : this.intervals.startOf(tick);
  }

  clear(): void {
    for (let slot = 0; slot < this.slots.reach; slot++) {
      if (!this.index.has(slot)) continue;
      this.values[slot] = undefined;
      this.slots.release(slot);
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
    const bytes = this.index.bytes + this.slots.bytes + 8 * this.values.length;
    return { levels: this.index.levelStats(), bytes };
  }

  snapshot(): WheelSnapshot {
    const timers: WheelSnapshot['timers'] = [];
    for (let slot = 0; slot < this.slots.reach; slot++) {
      const id = this.slots.idOf(slot);
      if (id !== undefined) timers.push({ slot, id, deadline: this.slots.deadlineOf(slot) });
    }
    const { start, precision, now, size, upperBound } = this;
    const nextExpiration = this.nextExpiration();
    const index = this.index.inspect();
    return { start, precision, now, size, upperBound, nextExpiration, timers, idle: this.slots.idle, index };
  }

  /** The timers in no particular order. A timer that is scheduled meanwhile may be met or not. */
  *[Symbol.iterator](): Iterator<WheelTimer<T>> {
    for (let slot = 0; slot < this.slots.reach; slot++) {
      const id = this.slots.idOf(slot);
      if (id !== undefined) yield { id, deadline: this.slots.deadlineOf(slot), value: this.values[slot] as T };
    }
  }

  /** For the index: a slot has come due. */
  due(slot: number, tick: number): void {
    if (tick !== this.handlerTick) {
      this.handlerTick = tick;
      this.clock = this.intervals.startOf(tick);
    }
    const id = this.slots.idOf(slot) as TimerId;
    const value = this.values[slot] as T;
    const deadline = this.slots.deadlineOf(slot);
    this.values[slot] = undefined;
    this.slots.release(slot);
    this.fired++;
    (this.handler as FireHandler<T>)(value, id, deadline);
  }

  /** The tick to file a deadline at; throws where the wheel does not take it. */
  protected tickFor(deadline: number): number {
    if (!Number.isFinite(deadline)) throw new InvalidDeadlineError(deadline);
    const tick = this.intervals.dueTick(deadline);
    if (tick >= this.index.upperBound - 1 && deadline >= this.upperBound) {
      throw new DeadlineTooFarError(deadline, this.upperBound);
    }
    if (this.refusesPast && deadline < this.clock) this.refusePast(deadline);
    return tick;
  }

  /** Times within now's interval are not past: at this precision, they are the present. */
  private refusePast(deadline: number): void {
    if (this.intervals.intervalOf(deadline) < this.intervals.intervalOf(this.clock)) {
      throw new InvalidDeadlineError(deadline, `must not lie before the interval of now (${this.clock})`);
    }
  }

  private fire(tick: number, now: number, onFire: FireHandler<T>, limit: number): AdvanceResult {
    const { index } = this;
    const cascadedBefore = index.cascaded;
    this.fired = 0;
    this.handler = onFire;
    this.handlerTick = Number.NaN;
    let complete = false;
    try {
      complete = index.advanceTo(tick, this, limit);
    } finally {
      this.handler = undefined;
      if (complete && now > this.clock) this.clock = now;
    }
    return {
      fired: this.fired,
      cascaded: index.cascaded - cascadedBefore,
      complete,
      nextExpiration: this.nextExpiration(),
    };
  }

  /** The result of a call in which nothing happened: the same object for as long as it holds. */
  private idleResult(): AdvanceResult {
    const nextExpiration = this.nextExpiration();
    if (this.idle.nextExpiration !== nextExpiration) this.idle = { ...this.idle, nextExpiration };
    return this.idle;
  }
}

function throwNested(): never {
  throw new Error('advanceTo() was called from within a handler: the call that is running fires everything due');
}
