import type { Runnable } from '../async-context/context-keeper.ts';
import { coincidingTick } from '../time/tick-scale.ts';
import type { DueSink, TickIndex } from '../wheel/tick-index.ts';
import type { ClientTime } from './client-time.ts';
import type { HandedBack } from './hand-back.ts';

/**
 * The slot of a timer while it is live: it waits, or is due and has not run. A number below 0 once it has ended: another for each,
 * as two timers are never equal. Only `HomeTimers` writes it.
 */
export const SLOT = Symbol('slot');
/** Whether it holds the process while it is live. Only `HomeTimers` writes it then. */
export const REFED = Symbol('refed');

/** A timer that lives in its thread. It runs when it is due, and throws what its function throws. */
export interface HomeTimer extends Runnable, HandedBack {
  [SLOT]: number;
  [REFED]: boolean;
  /** The function that it calls, under the name of Node's timeouts. */
  readonly _onTimeout: unknown;
}

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/** Number of slots at first. */
const FIRST_SLOTS = 1024;
/** Number of due slots above which the queue is released when all have been taken. */
const MAX_KEPT_ENTRIES = 2 ** 17;
const LAST_TICK = Number.MAX_SAFE_INTEGER;
const BYTES_PER_RECORD = 16;

// What `words` says of a slot; of a free one, the next free one.
const NONE = -1;
const FILED = -2;
const QUEUED = -3;

/** Makes the index of a thread's timers, with its present tick. */
export type NewIndex = (now: number) => TickIndex;

/**
 * Slots with deadlines on a wheel of this thread, and those of them that are due.
 *
 *     take ─▶ index.insert      free ─▶ index.remove      move to later ─▶ its record: refiled when the old tick comes
 *     hasDue ─▶ index.advanceTo(a tick) ─▶ its slots ─▶ due later? insert again : the queue, in order ─▶ takeNext
 *
 *   ticks[2 · slot]       the tick of its deadline                                        a record of 16 bytes
 *   words[4 · slot + 2]   the number of its latest setting or move: a word that wraps
 *   words[4 · slot + 3]   FILED or QUEUED; of a free slot, the next one or NONE
 *
 * The invariant: a taken slot is QUEUED, or FILED in the index at a tick that is not after its due tick (the deadline's, or
 * with slack a later one), or refused by it. So a deadline is a whole tick here, and a move to later changes one record.
 *
 * Due ticks are taken one after the other, each as a whole, and sorted into Node's order: by deadline, which with slack differ within
 * a tick, and by when each was set or refreshed. A wheel hands them over in the order in which they were filed, which is another for
 * those that were refiled. A queued slot that is moved or freed is no longer QUEUED: then its entry has no effect.
 *
 * What is taken or moved after `reach` is due after what that reaches. `take`, `move`, `free`: O(1). `hasDue`: O(due), and the
 * wheel's cascades.
 */
export class HomeWheel implements DueSink {
  private readonly time: ClientTime;
  private readonly slack: number;
  private readonly newIndex: NewIndex;
  /** Made for the first slot. */
  private index: TickIndex | undefined;
  private ticks = new Float64Array(0);
  private words = new Int32Array(0);
  private firstFree = NONE;
  /** Slots ever used. */
  private length = 0;
  private lastOrder = 0;
  /** Due ticks up to this are taken. */
  private until = 0;
  /** The due slots of a tick: those from `next` to `queued` have not had their turn. */
  private queue: number[] = [];
  private next = 0;
  private queued = 0;
  private isInOrder = true;
  /** Slots that the index has had no memory for: the next turn tries again. */
  private refused: number[] = [];

  /** `slack` in ticks. */
  constructor(time: ClientTime, slack: number, newIndex: NewIndex) {
    this.time = time;
    this.slack = slack;
    this.newIndex = newIndex;
  }

  /** Returns a slot, with a deadline in ms. If memory is refused, throws and changes nothing. */
  take(deadline: number): number {
    const slot = this.firstFree === NONE ? this.length : this.firstFree;
    if (2 * slot === this.ticks.length) this.grow();
    this.index ??= this.newIndex(this.time.tick);
    const tick = this.tickOf(deadline);
    this.index.insert(slot, this.nextDueOf(tick));
    if (slot === this.length) this.length = slot + 1;
    else this.firstFree = this.words[4 * slot + 3];
    this.set(slot, tick);
    return slot;
  }

  /** Moves a taken slot to a deadline in ms, to its place among those that are taken now. */
  move(slot: number, deadline: number): void {
    const tick = this.tickOf(deadline);
    if (tick < this.ticks[2 * slot] || this.words[4 * slot + 3] !== FILED) {
      this.unfile(slot);
      this.file(slot, this.nextDueOf(tick));
    }
    this.set(slot, tick);
  }

  /** Frees a taken slot. */
  free(slot: number): void {
    this.unfile(slot);
    this.words[4 * slot + 3] = this.firstFree;
    this.firstFree = slot;
  }

  /** The deadline of a taken slot in ms. */
  deadlineOf(slot: number): number {
    return this.time.scale.timeOf(this.ticks[2 * slot]);
  }

  /** When a timer with this deadline is due, in ms. */
  dueTimeOf(deadline: number): number {
    return this.time.scale.timeOf(this.dueTickOf(this.tickOf(deadline)));
  }

  /** The time in ms at which the next slot may be due; Infinity if none is filed. */
  nextTurn(): number {
    const { index, time } = this;
    if (index === undefined) return Number.POSITIVE_INFINITY;
    if (this.refused.length > 0) return time.nextTickTime;
    // An event may be that of timers that have ended: for few it costs less to look than to wake.
    return time.scale.timeOf(index.size < FIRST_SLOTS ? index.nextTick() : index.nextEvent());
  }

  /** Has `hasDue` take what is due by now. */
  reach(): void {
    this.until = this.time.tick;
  }

  /** Whether there is an entry to take. If the queue is empty, the slots of the next due tick come into it. */
  hasDue(): boolean {
    return this.next < this.queued || this.takeTick();
  }

  /** Takes the next entry of the queue. Returns its slot; -1 if that was freed or moved meanwhile. Precondition: `hasDue`. */
  takeNext(): number {
    const slot = this.queue[this.next];
    this.next += 1;
    return this.words[4 * slot + 3] === QUEUED ? slot : NONE;
  }

  /** @internal */
  due(slot: number, tick: number): void {
    const due = this.dueTickOf(this.ticks[2 * slot]);
    if (due > tick) {
      this.file(slot, due); // it was moved to later
      return;
    }
    this.words[4 * slot + 3] = QUEUED;
    const at = this.queued;
    this.queue[at] = slot;
    this.queued = at + 1;
    if (at > 0 && this.difference(this.queue[at - 1], slot) > 0) this.isInOrder = false;
  }

  private takeTick(): boolean {
    const { index, until } = this;
    if (index === undefined) return false;
    this.clearQueue();
    for (const slot of this.refused.splice(0)) this.due(slot, until);
    for (;;) {
      const tick = index.nextEvent();
      if (tick > until) break;
      index.advanceTo(tick, this, Number.POSITIVE_INFINITY);
      if (this.queued === 0) continue;
      this.sort();
      return true;
    }
    index.advanceTo(until, this, Number.POSITIVE_INFINITY);
    this.sort(); // what had been refused
    return this.queued > 0;
  }

  private clearQueue(): void {
    if (this.queue.length > MAX_KEPT_ENTRIES) this.queue = [];
    this.next = 0;
    this.queued = 0;
    this.isInOrder = true;
  }

  private sort(): void {
    if (this.isInOrder) return;
    this.queue.length = this.queued;
    this.queue.sort((one, other) => this.difference(one, other));
  }

  /** Below 0 if the first comes before the other. */
  private difference(one: number, other: number): number {
    const { ticks, words } = this;
    return ticks[2 * one] - ticks[2 * other] || (words[4 * one + 2] - words[4 * other + 2]) | 0;
  }

  private set(slot: number, tick: number): void {
    this.lastOrder = (this.lastOrder + 1) | 0;
    this.ticks[2 * slot] = tick;
    this.words[4 * slot + 2] = this.lastOrder;
    this.words[4 * slot + 3] = FILED;
  }

  private file(slot: number, tick: number): void {
    try {
      (this.index as TickIndex).insert(slot, tick);
    } catch {
      this.refused.push(slot); // no memory: it must not be lost
    }
  }

  /** Takes a slot out of the index. */
  private unfile(slot: number): void {
    const isFiled = (this.index as TickIndex).remove(slot);
    if (!isFiled && this.refused.length > 0) this.refused = this.refused.filter((each) => each !== slot);
  }

  private tickOf(deadline: number): number {
    const { time } = this;
    if (deadline < time.fastPathEnd) return ceil(deadline * time.ticksPerMs);
    return min(time.scale.tickAtOrAfter(deadline), LAST_TICK);
  }

  /** When a timer is due whose deadline is in a tick. */
  private dueTickOf(tick: number): number {
    const { slack } = this;
    return slack === 0 ? tick : min(coincidingTick(tick, slack), LAST_TICK);
  }

  /** The same for one that is set or moved now. */
  private nextDueOf(tick: number): number {
    return max(this.dueTickOf(tick), this.until + 1);
  }

  private grow(): void {
    const records = new ArrayBuffer(BYTES_PER_RECORD * max(FIRST_SLOTS, 2 * this.length));
    const ticks = new Float64Array(records);
    ticks.set(this.ticks);
    this.ticks = ticks;
    this.words = new Int32Array(records);
  }
}
