import { AllocationError } from '../../errors.ts';
import { ownWordsAtLeast } from '../../memory/own-words.ts';
import { coincidingTick } from '../../time/tick-scale.ts';
import type { DueSink, EntryOwner, TickIndex } from '../../wheel/tick-index.ts';
import { type ClientTime, LAST_TICK } from '../client-time.ts';
import { DueQueue } from './due-queue.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/** Number of slots at first. */
const FIRST_SLOTS = 1024;
/** No free slot. */
const NONE = -1;
/** So many ticks after any to which a timer is moved within words. */
const DUE_NOW = 2 ** 30 + 2 ** 29;
/**
 * The taken ticks are at most so many behind the present while timers are moved within words: differences of words are
 * right then.
 */
const MAX_BEHIND_TICKS = 2 ** 29;

/** Makes the index of a thread's timers, with its present tick. */
export type NewIndex = (now: number) => TickIndex;

/**
 * Slots with deadlines on a wheel of this thread, and those of them that are due.
 *
 *     take ─▶ index.insert      free ─▶ index.remove      move to later ─▶ one store: refiled at the old tick
 *     takeTick ─▶ index.advanceTo(a tick) ─▶ its slots ─▶ due later? insert again : DueQueue, in order
 *
 *   words[2 · slot]      the tick of its deadline, the low word; DUE_NOW later while it is in the queue; of a free
 *                        slot, the next one
 *   words[2 · slot + 1]  the number of its latest setting or move: a word that wraps
 *
 * The invariant: a taken slot is in the queue, or filed in the index at a tick that is not after its due tick (the
 * deadline's, or with slack a later one), or refused by it. So a deadline is a whole tick here, and a move to later
 * changes one word.
 *
 * Due ticks are taken one after the other, each as a whole, and sorted. What is taken or moved after `until` was set is
 * due after it. `take`, `move`, `free`: O(1). `takeTick`: O(due), and the wheel's cascades.
 */
export class HomeWheel implements DueSink, EntryOwner {
  /** The due slots of `tick`. */
  readonly queue = new DueQueue();
  /** The last that was taken. */
  private tick = 0;
  private readonly time: ClientTime;
  private readonly slack: number;
  private readonly newIndex: NewIndex;
  /** Made for the first slot. */
  private index: TickIndex | undefined;
  words = new Int32Array(0);
  private firstFree = NONE;
  /** Slots ever used. */
  private length = 0;
  private lastOrder = 0;
  /** `takeTick` takes due ticks up to this: a turn sets it. */
  until = 0;
  /** The ticks of deadlines that are too far from now for a word, by slot. */
  private readonly far = new Map<number, number>();
  /** Slots that the index has had no memory for: the next turn tries again. */
  private readonly refused = new Set<number>();
  /** Whether that was so in this turn: then it is not asked for the others. */
  private isRefused = false;

  /** `slack` in ticks. */
  constructor(time: ClientTime, slack: number, newIndex: NewIndex) {
    this.time = time;
    this.slack = slack;
    this.newIndex = newIndex;
  }

  /**
   * Returns a slot, with a deadline in ms. If memory is refused, throws and changes nothing; with `mayWait` only if a
   * slot is: else the next turns file it.
   */
  take(deadline: number, mayWait: boolean): number {
    const slot = this.firstFree === NONE ? this.length : this.firstFree;
    if (2 * slot === this.words.length) this.grow();
    const index = this.index ?? this.begin();
    const tick = this.tickOf(deadline);
    try {
      this.insert(index, slot, tick);
    } catch (error) {
      if (!mayWait) throw error;
      this.refused.add(slot);
    }
    if (slot === this.length) this.length = slot + 1;
    else this.firstFree = this.words[2 * slot];
    this.note(slot, deadline, tick);
    return slot;
  }

  /** Makes what the first slot needs. Throws what the system refuses. */
  prepare(): void {
    if (this.index === undefined) this.begin();
    if (this.words.length === 0) this.grow();
  }

  /** Moves a taken slot to a deadline in ms, to its place among those that are taken now. */
  move(slot: number, deadline: number): void {
    const { time } = this;
    const tick = this.tickOf(deadline);
    const isLater = ((tick - this.words[2 * slot]) | 0) >= 0 && deadline < time.wordReachEnd;
    if (isLater && time.tick - this.tick <= MAX_BEHIND_TICKS && (this.far.size === 0 || !this.far.has(slot))) {
      this.set(slot, tick);
      return;
    }
    this.unfile(slot);
    try {
      this.insert(this.index as TickIndex, slot, tick);
    } catch {
      this.refused.add(slot); // no memory: it must not be lost
    }
    this.note(slot, deadline, tick);
  }

  /** Frees a taken slot. */
  free(slot: number): void {
    this.unfile(slot);
    this.words[2 * slot] = this.firstFree;
    this.firstFree = slot;
  }

  /** The deadline of an entry of the queue in ms. */
  dueDeadline(at: number): number {
    return this.time.scale.timeOf(this.tick + ((this.queue.dues[at] - this.tick) | 0));
  }

  /** The deadline of a taken slot in ms. */
  deadlineOf(slot: number): number {
    const index = this.index as TickIndex;
    return this.time.scale.timeOf(index.has(slot) ? this.tickAt(slot, index.tickOf(slot)) : this.tick);
  }

  /** When a timer with this deadline is due, in ms. */
  dueTimeOf(deadline: number): number {
    return this.time.scale.timeOf(this.dueTickOf(this.tickOf(deadline)));
  }

  /** The time in ms from which on a timer with this deadline is late: the end of its due tick. */
  lateFrom(deadline: number): number {
    return this.time.scale.timeOf(this.dueTickOf(this.tickOf(deadline)) + 1);
  }

  /** The time in ms at which the next slot may be due; Infinity if none is filed. */
  nextTurn(): number {
    const { index, time } = this;
    if (index === undefined) return Number.POSITIVE_INFINITY;
    if (this.refused.size > 0) return time.nextTickTime;
    return time.scale.timeOf(index.nextWanted(this));
  }

  /** The tick at which the next slot is due that is not in the queue; Infinity if there is none. */
  nextDue(): number {
    const { index, refused, time } = this;
    if (index === undefined) return Number.POSITIVE_INFINITY;
    return refused.size > 0 ? time.tick + 1 : index.nextDue(this);
  }

  /**
   * Takes the slots of the next due tick into the queue; returns whether there is one. Precondition: the queue is
   * empty.
   */
  takeTick(): boolean {
    const { index, queue, until } = this;
    if (index === undefined) return false;
    queue.clear();
    this.isRefused = false;
    if (this.refused.size > 0) this.retry(until);
    try {
      for (let tick = index.nextEvent(); tick <= until && queue.length === 0; tick = index.nextEvent()) {
        this.tick = tick;
        index.advanceTo(tick, this, Number.POSITIVE_INFINITY);
      }
      if (queue.length === 0) {
        index.advanceTo(until, this, Number.POSITIVE_INFINITY);
        this.tick = until;
      }
    } catch (error) {
      this.empty(index, error);
    }
    if (!queue.isInOrder) queue.sort();
    return queue.length > 0;
  }

  private begin(): TickIndex {
    this.tick = this.time.tick;
    this.index = this.newIndex(this.tick);
    return this.index;
  }

  /** The index has no memory to go on: it is emptied, and the next turns look at each slot. Throws other errors. */
  private empty(index: TickIndex, error: unknown): void {
    if (!(error instanceof AllocationError)) throw error;
    const filed: number[] = [];
    index.forEach((slot) => void filed.push(slot));
    index.clear();
    for (const slot of filed) this.refused.add(slot);
  }

  /** A slot that was moved is due later than it is filed; one that was overdue when it was filed, earlier. @internal */
  wantedAt(slot: number, tick: number): number {
    return max(tick, this.dueTickOf(this.tickAt(slot, tick)));
  }

  /** @internal */
  due(slot: number, tick: number): void {
    const due = this.tickAt(slot, tick);
    if (due > LAST_TICK) return; // it waits for ever: it is filed no more
    if (this.dueTickOf(due) > tick) {
      this.refile(slot, this.dueTickOf(due)); // it was moved to later
      return;
    }
    const { words } = this;
    try {
      this.queue.add(slot, words[2 * slot], words[2 * slot + 1]);
    } catch {
      this.refused.add(slot); // no memory: it must not be lost
      return;
    }
    words[2 * slot] = tick + DUE_NOW; // a move must file it again
    if (this.far.size > 0) this.far.delete(slot);
  }

  /**
   * With a manual clock, a call of an interval that a jump has passed is due before the clock moves again; nothing else
   * is overdue.
   */
  private insert(index: TickIndex, slot: number, tick: number): void {
    const due = this.dueTickOf(tick);
    index.insert(slot, this.time.isManual ? due : max(due, this.until + 1));
  }

  private note(slot: number, deadline: number, tick: number): void {
    if (deadline >= this.time.wordReachEnd) this.far.set(slot, tick);
    this.set(slot, tick);
  }

  private set(slot: number, tick: number): void {
    this.lastOrder = (this.lastOrder + 1) | 0;
    this.words[2 * slot] = tick;
    this.words[2 * slot + 1] = this.lastOrder;
  }

  private refile(slot: number, tick: number): void {
    if (!this.isRefused) {
      try {
        (this.index as TickIndex).insert(slot, tick);
        return;
      } catch {
        this.isRefused = true; // no memory
      }
    }
    this.refused.add(slot); // no memory: it must not be lost
  }

  private retry(tick: number): void {
    this.tick = tick;
    const slots = [...this.refused];
    this.refused.clear();
    for (const slot of slots) this.due(slot, tick);
  }

  /** Takes a slot out of the index. If it is in the queue, its entry there has no effect from now on. */
  private unfile(slot: number): void {
    const isFiled = (this.index as TickIndex).remove(slot);
    if (!isFiled && this.refused.size > 0) this.refused.delete(slot);
    if (this.far.size > 0) this.far.delete(slot);
  }

  /** The tick of the deadline of a slot that is filed at a tick. */
  private tickAt(slot: number, filed: number): number {
    const near = filed + ((this.words[2 * slot] - filed) | 0);
    return this.far.size === 0 ? near : (this.far.get(slot) ?? near);
  }

  private tickOf(deadline: number): number {
    const { time } = this;
    if (deadline < time.fastPathEnd) return ceil(deadline * time.ticksPerMs);
    return time.scale.tickAtOrAfter(deadline);
  }

  /** When a timer is due whose deadline is in a tick. */
  private dueTickOf(tick: number): number {
    const { slack } = this;
    return min(slack === 0 ? tick : coincidingTick(tick, slack), LAST_TICK);
  }

  private grow(): void {
    const words = ownWordsAtLeast(2 * (this.length + 1), 2 * max(FIRST_SLOTS, 2 * this.length));
    words.set(this.words);
    this.words = words;
  }
}
