import { BUCKETS, type Lateness, LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import type { StepClock } from './step-clock.ts';
import type { TimerKind } from './timer-kind.ts';

const UNUSED = 0;
const LIVE = 1;
const FIRED = 2;
const CANCELLED = 3;
const HANDED_BACK = 4;

/** ms; no timer of the replay is due in the first half of it. */
const START = 2000;

export interface Verdict {
  readonly fired: number;
  readonly handedBack: number;
  /** Delivered before the deadline. */
  readonly early: number;
  /** The worst of them, in ms. */
  readonly earliest: number;
  /** Accepted, and at the end neither delivered, cancelled nor handed back; or long overdue when it was handed back. */
  readonly lost: number;
  /** Delivered or handed back although it had been delivered, cancelled or handed back before. */
  readonly doubled: number;
  /** A cancel or a move that the subject answered with false although the timer was live. */
  readonly refused: number;
  readonly lateness: Lateness;
  /** The longest lateness in the first two seconds, ms: the shards' threads have just started then. */
  readonly latestAtStart: number;
}

/**
 * What became of every timer ever armed: the judge, which shares no code with what it judges.
 *
 * Each armed timer gets a number of its own, and with it one byte of state:
 *
 *     unused ──arm──▶ live ──fire──▶ fired
 *                      │ ╰──cancel──▶ cancelled        any other arrow is counted as `doubled`,
 *                      ╰──handBack──▶ handed back      and `live` at the end as `lost`
 *
 * All times are those of the clock's present step, in ms, which the caller has read before the call that arms or moves
 * a timer, and in the callback before anything else. So `early` can only be too small by the time between that reading
 * and the call. O(1) per operation, no allocation unless the number of timers outgrows the estimate.
 *
 * A run that goes on for hours may have numbers used again, the one that ended longest ago first, once so many others
 * have ended since. A timer that is delivered twice is then still found: if its number has passed on, the timer that
 * holds it is delivered once too often.
 */
export class Ledger {
  armed = 0;
  moved = 0;
  cancelled = 0;
  fired = 0;
  handedBack = 0;
  overdue = 0;
  doubled = 0;
  early = 0;
  earliest = 0;
  refused = 0;
  live = 0;
  peakLive = 0;
  /** Counts of `lateness`, to merge several ledgers. */
  readonly latenesses = new Float64Array(BUCKETS);
  readonly lateness = new LatenessHistogram(this.latenesses);
  latestAtStart = 0;
  /**
   * ms: the plan's end. Lateness of what is due later is not recorded: the judge's own reading of the ledger is in its
   * way.
   */
  end = Number.POSITIVE_INFINITY;
  /** Numbers below have been given. */
  #top = 0;
  /** Ended numbers in the order in which they ended, as a ring; empty if none is used again. */
  #ended = new Int32Array(0);
  #endedHead = 0;
  #endedCount = 0;
  readonly #keep: number;
  /** Timers by state whose numbers have passed on. */
  readonly #forgotten = [0, 0, 0, 0, 0];
  #state: Uint8Array;
  #owner: Int32Array;
  #deadline: Float64Array;

  readonly #clock: StepClock;

  /**
   * `expected`: about how many timers will be armed in all, or have numbers at a time. `keep`: how many others must
   * have ended before an ended timer's number is used again; Infinity for never.
   */
  constructor(expected: number, clock: StepClock, keep = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#keep = keep;
    if (keep !== Number.POSITIVE_INFINITY) this.#ended = new Int32Array(2 ** Math.ceil(Math.log2(keep + 1)));
    this.#state = new Uint8Array(expected);
    this.#owner = new Int32Array(expected);
    this.#deadline = new Float64Array(expected);
  }

  /** A timer that is due in `delay` ms. Returns its number. */
  arm(slot: number, kind: TimerKind, delay: number): number {
    this.armed++;
    const timer = this.#number();
    this.#state[timer] = LIVE;
    this.#owner[timer] = (slot << 2) | kind;
    this.#deadline[timer] = this.#clock.now + delay;
    if (++this.live > this.peakLive) this.peakLive = this.live;
    return timer;
  }

  isLive(timer: number): boolean {
    return this.#state[timer] === LIVE;
  }

  slotOf(timer: number): number {
    return this.#owner[timer]! >> 2;
  }

  kindOf(timer: number): TimerKind {
    return (this.#owner[timer]! & 3) as TimerKind;
  }

  /** `accepted`: what the subject answered. A live timer has to accept. */
  move(timer: number, delay: number, accepted: boolean): void {
    this.moved++;
    if (accepted) this.#deadline[timer] = this.#clock.now + delay;
    else this.refused++;
  }

  cancel(timer: number, accepted: boolean): void {
    this.cancelled++;
    if (!accepted) {
      this.refused++;
      return;
    }
    this.#end(timer, CANCELLED);
  }

  /** Returns false if this timer must not fire (any more); then the caller does not touch its connection. */
  fire(timer: number): boolean {
    if (this.#state[timer] !== LIVE) {
      this.doubled++;
      return false;
    }
    this.#end(timer, FIRED);
    this.fired++;
    const deadline = this.#deadline[timer]!;
    const lateness = this.#clock.now - deadline;
    if (lateness < 0) {
      this.early++;
      if (-lateness > this.earliest) this.earliest = -lateness;
    }
    if (deadline > this.end) return true;
    this.lateness.record(lateness);
    if (lateness > this.latestAtStart && this.#clock.now < START) this.latestAtStart = lateness;
    return true;
  }

  /** A timer whose deadline lies before `expected` should have fired by now: it was lost, and is only found again. */
  handBack(timer: number, expected: number): void {
    if (this.#state[timer] !== LIVE) {
      this.doubled++;
      return;
    }
    if (this.#deadline[timer]! < expected) this.overdue++;
    this.#end(timer, HANDED_BACK);
    this.handedBack++;
  }

  /** Whether a live timer has its deadline before `expected`. Reads the whole ledger. */
  isWaitingFor(expected: number): boolean {
    for (let timer = 0; timer < this.#top; timer++) {
      if (this.#state[timer] === LIVE && this.#deadline[timer]! < expected) return true;
    }
    return false;
  }

  forEachLive(visit: (timer: number) => void): void {
    for (let timer = 0; timer < this.#top; timer++) if (this.#state[timer] === LIVE) visit(timer);
  }

  /** Counts by reading every timer's state once more, and so catches a counter of its own that went wrong. */
  verdict(): Verdict {
    const counts = [...this.#forgotten];
    for (let timer = 0; timer < this.#top; timer++) counts[this.#state[timer]!]!++;
    const balanced =
      counts[UNUSED] === 0 &&
      counts[LIVE] === this.live &&
      counts[FIRED] === this.fired &&
      counts[HANDED_BACK] === this.handedBack;
    if (!balanced) throw new Error(`The ledger's counters contradict its states: ${counts.join(' ')}`);
    const { fired, handedBack, early, earliest, doubled, refused, latestAtStart } = this;
    return {
      fired,
      handedBack,
      early,
      earliest,
      lost: this.live + this.overdue,
      doubled,
      refused,
      lateness: this.lateness.summary(),
      latestAtStart,
    };
  }

  #number(): number {
    if (this.#endedCount > this.#keep) {
      const timer = this.#ended[this.#endedHead]!;
      this.#endedHead = (this.#endedHead + 1) & (this.#ended.length - 1);
      this.#endedCount--;
      this.#forgotten[this.#state[timer]!]!++;
      return timer;
    }
    if (this.#top === this.#state.length) this.#grow();
    return this.#top++;
  }

  #end(timer: number, state: number): void {
    this.#state[timer] = state;
    this.live--;
    if (this.#ended.length === 0) return;
    if (this.#endedCount === this.#ended.length) this.#growEnded();
    this.#ended[(this.#endedHead + this.#endedCount++) & (this.#ended.length - 1)] = timer;
  }

  #growEnded(): void {
    const grown = new Int32Array(this.#ended.length * 2);
    grown.set(this.#ended.subarray(this.#endedHead));
    grown.set(this.#ended.subarray(0, this.#endedHead), this.#ended.length - this.#endedHead);
    this.#ended = grown;
    this.#endedHead = 0;
  }

  #grow(): void {
    const length = this.#state.length * 2 + 1024;
    const [state, owner, deadline] = [this.#state, this.#owner, this.#deadline];
    this.#state = new Uint8Array(length);
    this.#owner = new Int32Array(length);
    this.#deadline = new Float64Array(length);
    this.#state.set(state);
    this.#owner.set(owner);
    this.#deadline.set(deadline);
  }
}
