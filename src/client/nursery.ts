import type { Context } from '../async-context/context-keeper.ts';
import { type DeferredTimer, HANDED_BACK, PLACED } from './deferral.ts';

/** The handle of place 0; that of place n is n less. A lane's slots are handles from 0 on, so the two never meet. */
const FIRST_HANDLE = -3;

/** Places at first. */
const FEW = 8192;
/** Places that are kept once all are free. */
const KEPT = 2 ** 17;

export const isYoung = (handle: number): boolean => handle <= FIRST_HANDLE;

/** Takes one that is due. Must not throw, nor run anything of the program. */
export type TakeDue = (timer: DeferredTimer, context: Context, deadline: number) => void;

/** Files one in its lane, and returns its slot. */
export type FileInLane = (timer: DeferredTimer, context: Context, deadline: number) => number;

/**
 * Where deferred timers of a lane begin: in this thread's own memory, in the order in which they were set. Most timers die
 * young. One that is cleared or moved here has cost a few words; one that is due soon fires from here, and its shard never hears
 * of it. What is left of the rest is promoted to the lane every few ms, as a generational collector does with objects.
 *
 *     set ──▶ place ─┬─ cleared ──────▶ the place is empty until the next promotion
 *                    ├─ due ──────────▶ taken by the turn
 *                    └─ far from due ─▶ a slot in the lane's table, and a command to its shard
 */
export class Nursery {
  /** Timers in it. */
  size = 0;
  /** None is due before this, ms. */
  earliest = Number.POSITIVE_INFINITY;
  /** Since when those that are due wait for others, which their shard is to fire before them, ms; else NaN. */
  waitingSince = Number.NaN;
  private timers: (DeferredTimer | undefined)[] = [];
  private deadlines = new Float64Array(0);
  /** By place; there once one of them has a context. */
  private contexts: Context[] | undefined;
  private length = 0;
  /** Those of the places below this may fire. */
  private ripe = 0;

  get isFull(): boolean {
    return this.length === this.deadlines.length;
  }

  /** Returns the timer's handle. Precondition: it is not full. */
  add(timer: DeferredTimer, context: Context, deadline: number): number {
    const place = this.length;
    this.timers[place] = timer;
    this.deadlines[place] = deadline;
    this.length = place + 1;
    this.size += 1;
    if (deadline < this.earliest) this.earliest = deadline;
    if (context !== undefined) this.noteContext(place, context);
    return FIRST_HANDLE - place;
  }

  deadlineOf(handle: number): number {
    return this.deadlines[FIRST_HANDLE - handle];
  }

  move(handle: number, deadline: number): void {
    this.deadlines[FIRST_HANDLE - handle] = deadline;
    if (deadline < this.earliest) this.earliest = deadline;
  }

  remove(handle: number): void {
    this.clear(FIRST_HANDLE - handle);
  }

  /** All that are here may fire: a phase of the event loop has begun after they were set. */
  ripen(): void {
    this.ripe = this.length;
  }

  /** Whether some have been set since. */
  get hasUnripe(): boolean {
    return this.length > this.ripe;
  }

  /**
   * Hands over all that are ripe and due by a time, ms, in the order in which they were set. Returns when the earliest of the
   * ripe is due that are left.
   */
  takeDue(by: number, take: TakeDue): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (let place = 0; place < this.ripe; place++) {
      const timer = this.timers[place];
      if (timer === undefined) continue;
      const deadline = this.deadlines[place];
      if (deadline > by) {
        if (deadline < earliest) earliest = deadline;
        continue;
      }
      const context = this.contexts?.[place];
      this.clear(place);
      take(timer, context, deadline);
    }
    this.earliest = earliest;
    for (let place = this.ripe; place < this.length; place++) {
      if (this.timers[place] !== undefined) this.earliest = Math.min(this.earliest, this.deadlines[place]);
    }
    if (this.size === 0) this.reset(0);
    return earliest;
  }

  /**
   * Files those that are due after a time, ms, and closes the gaps. One that is refused stays, with all behind it: it is as
   * good here.
   */
  promote(after: number, file: FileInLane): void {
    let kept = 0;
    let ripe = 0;
    let earliest = Number.POSITIVE_INFINITY;
    let isRefused = false;
    for (let place = 0; place < this.length; place++) {
      const timer = this.timers[place];
      if (timer === undefined) continue;
      const deadline = this.deadlines[place];
      const context = this.contexts?.[place];
      this.clear(place);
      if (deadline > after && !isRefused) {
        try {
          timer[PLACED](file(timer, context, deadline));
          continue;
        } catch {
          isRefused = true; // no slot is left, or no memory
        }
      }
      this.put(kept, timer, context, deadline);
      if (kept !== place) timer[PLACED](FIRST_HANDLE - kept);
      kept += 1;
      if (place < this.ripe) ripe = kept;
      if (deadline < earliest) earliest = deadline;
    }
    this.earliest = earliest;
    this.ripe = ripe;
    this.reset(kept);
  }

  /** Makes room. Throws, and changes nothing, where memory is refused. */
  grow(): void {
    const deadlines = new Float64Array(Math.max(FEW, 2 * this.deadlines.length));
    deadlines.set(this.deadlines.subarray(0, this.length));
    this.deadlines = deadlines;
  }

  /** Whether so many places are taken that it ought to grow. */
  get isCrowded(): boolean {
    return 2 * this.length >= this.deadlines.length;
  }

  *unfired(): Generator<{ timer: DeferredTimer; deadline: number }> {
    for (let place = 0; place < this.length; place++) {
      const timer = this.timers[place];
      if (timer !== undefined) yield { timer, deadline: this.deadlines[place] };
    }
  }

  /** The client is closed: tells all of it, and lets go of them. */
  handBack(): void {
    for (const { timer } of [...this.unfired()]) timer[HANDED_BACK]();
    this.size = 0;
    this.reset(0);
  }

  private put(place: number, timer: DeferredTimer, context: Context, deadline: number): void {
    this.timers[place] = timer;
    this.deadlines[place] = deadline;
    this.size += 1;
    if (context !== undefined) this.noteContext(place, context);
  }

  private clear(place: number): void {
    this.timers[place] = undefined;
    if (this.contexts !== undefined) this.contexts[place] = undefined;
    this.size -= 1;
  }

  /** Nothing is left from a place on. */
  private reset(length: number): void {
    this.length = length;
    if (length > 0) return;
    this.ripe = 0;
    this.contexts = undefined;
    if (this.deadlines.length <= KEPT) return;
    this.timers = [];
    this.deadlines = new Float64Array(FEW);
  }

  private noteContext(place: number, context: Context): void {
    this.contexts ??= [];
    this.contexts[place] = context;
  }
}
