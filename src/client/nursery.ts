import type { Context } from '../async-context/context-keeper.ts';
import { type DeferredTimer, HANDED_BACK, PLACED } from './deferral.ts';

/** The handle of place 0; the handle of place n is n less. A lane's slots are handles from 0 on, so the two never meet. */
const FIRST_HANDLE = -3;

/** Number of places at first. */
const FEW = 8192;
/** Number of places that are kept when all are free. */
const KEPT = 2 ** 17;

export const isYoung = (handle: number): boolean => handle <= FIRST_HANDLE;

/** Takes a due timer. Must not throw, nor run any code of the program. */
export type TakeDue = (timer: DeferredTimer, context: Context, deadline: number) => void;

/** Files a timer in its lane, and returns its slot. */
export type FileInLane = (timer: DeferredTimer, context: Context, deadline: number) => number;

/**
 * Deferred timers of a lane begin here: in this thread's own memory, in the order in which they were set. Most timers die
 * young. One that is cleared or moved here costs a few words. One that is due soon fires from here, and its shard never hears
 * of it. The rest is promoted to the lane every few ms, as a generational collector promotes objects.
 *
 *     set ──▶ place ─┬─ cleared ──────▶ the place is empty until the next promotion
 *                    ├─ due ──────────▶ taken by the turn
 *                    └─ far from due ─▶ a slot in the lane's table, and a command to its shard
 */
export class Nursery {
  /** Number of timers in it. */
  size = 0;
  /** No timer is due before this, in ms. */
  earliest = Number.POSITIVE_INFINITY;
  /** Since when due timers wait for others that their shard must fire first, in ms; else NaN. */
  waitingSince = Number.NaN;
  private timers: (DeferredTimer | undefined)[] = [];
  private deadlines = new Float64Array(0);
  /** By place; created when a timer first has a context. */
  private contexts: Context[] | undefined;
  private length = 0;
  /** Timers in places below this may fire. */
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

  /** Lets all present timers fire: a phase of the event loop has begun after they were set. */
  ripen(): void {
    this.ripe = this.length;
  }

  /** Whether timers have been set since. */
  get hasUnripe(): boolean {
    return this.length > this.ripe;
  }

  /**
   * Hands over all ripe timers that are due by a time in ms, in the order in which they were set. Returns the earliest deadline
   * among the ripe ones that are left.
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
   * Files the timers that are due after a time in ms, and closes the gaps. If one is refused, it stays, and so do all behind it.
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

  /** Makes room. If memory is refused, throws and changes nothing. */
  grow(): void {
    const deadlines = new Float64Array(Math.max(FEW, 2 * this.deadlines.length));
    deadlines.set(this.deadlines.subarray(0, this.length));
    this.deadlines = deadlines;
  }

  /** Whether enough places are taken that it should grow. */
  get isCrowded(): boolean {
    return 2 * this.length >= this.deadlines.length;
  }

  *unfired(): Generator<{ timer: DeferredTimer; deadline: number }> {
    for (let place = 0; place < this.length; place++) {
      const timer = this.timers[place];
      if (timer !== undefined) yield { timer, deadline: this.deadlines[place] };
    }
  }

  /** Called when the client is closed: notifies all timers and releases them. */
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

  /** Clears all places from one on. */
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
