import type { WheelConfig } from '../../../src/entries/wheel.ts';
import { END, ReferenceTime } from './reference-time.ts';

const DEFAULT_CAPACITY = 2 ** 22;

export type Refusal = 'ERR_INVALID_DEADLINE' | 'ERR_DEADLINE_TOO_FAR' | 'ERR_CAPACITY_EXCEEDED';

/**
 * What a wheel must do, by one sorted list: the next timer to fire stands last, and a timer that is filed goes before
 * all that fire earlier, those of its own tick included. Shares no code with the wheels.
 *
 * Finding a place: O(log timers). Making room: O(timers) by a move of 4 bytes each, which is little for some thousand.
 * Timers are numbers that are used again; their place in the list is called their rank.
 */
export class ReferenceWheel {
  readonly time: ReferenceTime;
  /** What has come due by the present is known by it: interval(now), or the tick that is being handed over. */
  tick = 0;
  now: number;
  size = 0;
  /** By rank. */
  readonly order: Int32Array;
  readonly ids: Float64Array;
  readonly deadlines: Float64Array;
  /** What the run calls a timer: never used again. */
  readonly names: Float64Array;
  readonly values: unknown[];
  private readonly ticks: Float64Array;
  private readonly free: Int32Array;
  private readonly capacity: number;
  private readonly refusesPast: boolean;
  /** Ticks per slot and slots, by level; none where timers fire at their own ticks. */
  private readonly levels: readonly { width: number; spokes: number }[];
  /** Ticks that the levels reach ahead; Infinity where a list holds the rest. */
  private readonly range: number;

  /** Takes up to `room` timers. */
  constructor(config: WheelConfig, start: number, room: number) {
    const isPinned = config.engine === 'pinned';
    const precision = isPinned ? config.levels[0].precision : config.precision;
    this.time = new ReferenceTime(start, precision, !isPinned && config.rounding === 'next');
    this.now = start;
    this.capacity = config.capacity ?? DEFAULT_CAPACITY;
    this.refusesPast = config.past === 'throw';
    this.levels = isPinned
      ? config.levels.map((level) => ({ width: level.precision / precision, spokes: level.spokes }))
      : [];
    const isBounded = !isPinned && config.overflow === 'throw';
    this.range = isBounded ? 2 ** config.levelBits.reduce((sum, bits) => sum + bits, 0) : Number.POSITIVE_INFINITY;
    this.order = new Int32Array(room);
    this.ids = new Float64Array(room);
    this.deadlines = new Float64Array(room);
    this.names = new Float64Array(room);
    this.ticks = new Float64Array(room);
    this.values = new Array(room).fill(undefined);
    this.free = Int32Array.from({ length: room }, (_, index) => room - 1 - index);
  }

  /** Timers that there is room for beside those that live. */
  get room(): number {
    return this.free.length - this.size;
  }

  /** The tick whose start is the first deadline refused. */
  get boundTick(): number {
    if (this.levels.length === 0) return Math.min(this.tick + this.range, this.bounded ? END - 1 : this.range);
    const { width, spokes } = this.levels[this.levels.length - 1];
    return Math.min((Math.floor(this.tick / width) + spokes - 1) * width, END - 1);
  }

  get upperBound(): number {
    return this.bounded ? this.time.startOf(this.boundTick) : Number.POSITIVE_INFINITY;
  }

  /** The last time of a tick that is below the bound. */
  get lastFitting(): number {
    let tick = this.boundTick - 1;
    while (this.time.startOf(tick) >= this.upperBound) tick--;
    return this.time.startOf(tick);
  }

  /** Why `reschedule` must throw, and `schedule` where the wheel is not full. */
  refusalOf(deadline: number): Refusal | undefined {
    if (!Number.isFinite(deadline)) return 'ERR_INVALID_DEADLINE';
    if (deadline >= this.upperBound) return 'ERR_DEADLINE_TOO_FAR';
    if (this.refusesPast && deadline < this.time.startOf(this.tick)) return 'ERR_INVALID_DEADLINE';
    return undefined;
  }

  get isFull(): boolean {
    return this.size >= this.capacity;
  }

  schedule(deadline: number, value: unknown, id: number, name: number): void {
    const timer = this.free[this.free.length - 1 - this.size];
    this.values[timer] = value;
    this.ids[timer] = id;
    this.names[timer] = name;
    this.file(timer, deadline);
  }

  rescheduleAt(rank: number, deadline: number): void {
    this.file(this.takeOut(rank), deadline);
  }

  /** Returns the timer, whose fields may be read until another is scheduled. */
  removeAt(rank: number): number {
    const timer = this.takeOut(rank);
    this.values[timer] = undefined;
    this.free[this.free.length - 1 - this.size] = timer;
    return timer;
  }

  clear(): void {
    while (this.size > 0) this.removeAt(this.size - 1);
  }

  /** The tick of handing over of the next timer; Infinity where there is none. */
  get nextTick(): number {
    return this.size === 0 ? Number.POSITIVE_INFINITY : this.ticks[this.order[this.size - 1]];
  }

  get nextExpiration(): number | undefined {
    if (this.size === 0) return undefined;
    const time = this.time.startOf(this.nextTick);
    return time < this.time.end ? time : undefined;
  }

  /** Comes to the tick of the next timer, which is about to be fired. */
  arriveAtNext(): void {
    const tick = this.nextTick;
    if (tick <= this.tick) return;
    this.tick = tick;
    this.now = this.time.startOf(tick);
  }

  /** Everything due has been fired. */
  arrive(now: number): void {
    this.tick = Math.max(this.tick, this.time.intervalOf(now, this.tick));
    this.now = Math.max(this.now, now);
  }

  private get bounded(): boolean {
    return this.levels.length > 0 || this.range < Number.POSITIVE_INFINITY;
  }

  private takeOut(rank: number): number {
    const { order } = this;
    const timer = order[rank];
    this.size--;
    if (this.size - rank > 40) order.copyWithin(rank, rank + 1, this.size + 1);
    else for (let at = rank; at < this.size; at++) order[at] = order[at + 1];
    return timer;
  }

  private file(timer: number, deadline: number): void {
    const { order, ticks } = this;
    const tick = this.tickFor(deadline);
    this.deadlines[timer] = deadline;
    ticks[timer] = tick;
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ticks[order[middle]] > tick) low = middle + 1;
      else high = middle;
    }
    if (this.size - low > 40) order.copyWithin(low + 1, low, this.size);
    else for (let at = this.size; at > low; at--) order[at] = order[at - 1];
    order[low] = timer;
    this.size++;
  }

  /** The tick of handing over. */
  private tickFor(deadline: number): number {
    const due = this.time.dueAfter(this.tick, deadline);
    if (this.levels.length === 0) return due;
    for (const { width, spokes } of this.levels) {
      const round = Math.ceil(due / width);
      if (round - Math.floor(this.tick / width) < spokes) return round * width;
    }
    throw new Error(`Nothing reaches tick ${due}`);
  }
}
