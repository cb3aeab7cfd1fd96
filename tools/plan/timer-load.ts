import { performance } from 'node:perf_hooks';
import type { OnFire, Subject } from '../../bench/replay/subjects/subject.ts';
import type { PlannedTimer } from './planned-load.ts';
import { Random } from './random.ts';

/**
 * ms from one turn to the next while the load is on time, and most ms that a turn takes before the loop comes round.
 */
const pace = 1;
const turnBudget = 2;
/**
 * Timers that are held for longer than this many ms exist from the beginning; the others reach their number by
 * themselves.
 */
const longLived = 250;
/** ms after which those have, and what comes due comes as often as it will. */
export const SETTLING = 1100;
/** ms that the calendar reaches: longer than a run. */
const horizon = 8192;
const NONE = -1;
/** The subjects have four kinds of timers. One is enough here. */
const ANY = 0;

/** So many connections per second, for so long. */
export interface Phase {
  readonly cps: number;
  readonly milliseconds: number;
}

/** A kind of timers while the load runs. */
class Stream {
  readonly timer: PlannedTimer;
  /** Live ones that are to be cancelled, where they are there from the beginning. */
  readonly pool: Int32Array;
  /** Starts and moves that are due in part. */
  starts = 0;
  moves = 0;

  constructor(timer: PlannedTimer, pooled: number) {
    this.timer = timer;
    this.pool = new Int32Array(pooled);
  }
}

/**
 * The planned timers of one event loop, performed on the real clock against a subject, each kind a stream of its own.
 * Of long-lived timers it holds as many as there would be after hours, and what happens to one of them happens to any,
 * drawn at random: a start takes the place of one that is cancelled. Short-lived ones have a calendar, a list for each
 * ms, that says when they are cancelled. What it draws is the same in each run.
 */
export class TimerLoad {
  /** Connections whose timers have been started. */
  connections = 0;
  /** ms that timers came late: of those that fired since it was emptied. */
  latenesses: number[] = [];
  readonly #streams: readonly Stream[];
  #subject!: Subject;
  readonly #simulated: boolean;
  readonly #random = new Random(0x2545f491);
  readonly #lists = new Int32Array(horizon).fill(NONE);
  readonly #next: Int32Array;
  readonly #kinds: Uint8Array;
  /** Remaining moves before a short-lived timer is cancelled. */
  readonly #left: Uint16Array;
  /** Of those that are to fire, the time at which they are due. */
  readonly #dueAt: Float64Array;
  readonly #free: number[] = [];
  #used = 0;
  #cursor = 0;
  #missing = 0;

  /**
   * `live`: how many of each kind are held at a time. `places`: the most timers that are live at a time. `simulated`:
   * the subject fires nothing, so the calendar ends the waits.
   */
  constructor(timers: readonly PlannedTimer[], live: readonly number[], places: number, simulated: boolean) {
    this.#streams = timers.map((timer, kind) => new Stream(timer, timer.held > longLived ? Math.ceil(live[kind]) : 0));
    this.#next = new Int32Array(places).fill(NONE);
    this.#kinds = new Uint8Array(places);
    this.#left = new Uint16Array(places);
    this.#dueAt = new Float64Array(places);
    this.#simulated = simulated;
  }

  /** Before the first timer. */
  async use(createSubject: (handles: number, onFire: OnFire) => Promise<Subject>): Promise<void> {
    this.#subject = await createSubject(this.#kinds.length, this.#onFire);
  }

  get subject(): Subject {
    return this.#subject;
  }

  get live(): number {
    return this.#used - this.#free.length;
  }

  /** Starts those that are there from the beginning, a slice in each turn. */
  async fill(): Promise<void> {
    for (const [kind, { pool }] of this.#streams.entries()) {
      for (let at = 0; at < pool.length; at++) {
        pool[at] = this.#start(kind);
        if (at % 4096 === 0) await new Promise(setImmediate);
      }
    }
  }

  /**
   * Starts those that come due while the load runs, and would have been started before it. `phases`: what is going to
   * run from now on, one after the other.
   */
  startDueSoon(phases: readonly Phase[]): void {
    for (const [kind, { timer }] of this.#streams.entries()) {
      if (timer.fires === 0 || timer.delay <= SETTLING) continue;
      let [from, missing] = [0, 0];
      for (const { cps, milliseconds } of phases) {
        for (let at = from; at < Math.min(from + milliseconds, timer.delay); at++) {
          for (missing += (cps * timer.starts * timer.fires) / 1000; missing >= 1; missing--) this.#startDue(kind, at);
        }
        from += milliseconds;
      }
    }
  }

  /** Performs a number of connections per second for a number of ms. */
  run({ cps, milliseconds }: Phase): Promise<void> {
    const start = performance.now();
    const begun = this.#cursor;
    return new Promise((resolve, reject) => {
      const turn = () => {
        try {
          const now = performance.now();
          const until = begun + Math.min(milliseconds, Math.floor(now - start));
          while (this.#cursor < until && performance.now() < now + turnBudget) this.#millisecond(cps / 1000);
          // A run that takes twice its time has given up the plan.
          if (this.#cursor >= begun + milliseconds || now > start + 2 * milliseconds) resolve();
          else if (this.#cursor >= until) pacer.refresh();
          else setImmediate(turn);
        } catch (error) {
          reject(error);
        }
      };
      const pacer = setTimeout(turn, pace);
    });
  }

  #millisecond(arrivals: number): void {
    const list = this.#cursor % horizon;
    let slot = this.#lists[list];
    this.#lists[list] = NONE;
    while (slot !== NONE) {
      const next = this.#next[slot];
      this.#step(slot);
      slot = next;
    }
    this.#cursor += 1;
    this.#missing += arrivals;
    const whole = Math.floor(this.#missing);
    this.#missing -= whole;
    this.connections += whole;
    for (let kind = 0; kind < this.#streams.length; kind++) this.#arrive(kind, arrivals);
  }

  #arrive(kind: number, arrivals: number): void {
    const stream = this.#streams[kind];
    const { pool, timer } = stream;
    stream.starts += arrivals * timer.starts;
    for (; stream.starts >= 1; stream.starts--) {
      if (this.#random.next() < timer.fires) this.#startDue(kind, timer.delay);
      else if (pool.length > 0) this.#replace(pool, kind);
      else this.#startHeld(kind);
    }
    if (pool.length === 0) return;
    stream.moves += arrivals * timer.starts * (1 - timer.fires) * timer.moves;
    for (; stream.moves >= 1; stream.moves--) this.#subject.move(pool[this.#drawn(pool.length)], timer.delay);
  }

  #drawn(range: number): number {
    return Math.floor(this.#random.next() * range);
  }

  #replace(pool: Int32Array, kind: number): void {
    const at = this.#drawn(pool.length);
    const slot = pool[at];
    this.#subject.cancel(slot);
    this.#arm(slot, kind);
  }

  #startHeld(kind: number): void {
    const slot = this.#start(kind);
    this.#left[slot] = this.#streams[kind].timer.moves;
    this.#enterNext(slot);
  }

  #enterNext(slot: number): void {
    const { held, moves } = this.#streams[this.#kinds[slot]].timer;
    this.#enter(slot, (held / (moves + 1)) * (0.5 + this.#random.next()));
  }

  /** `delay`: less than its kind's if it was started before the load. */
  #startDue(kind: number, delay: number): void {
    const slot = this.#place(kind);
    this.#subject.arm(ANY, slot, slot, delay, slot);
    this.#dueAt[slot] = performance.now() + delay;
    if (this.#simulated && delay < horizon - 1) this.#enter(slot, delay);
  }

  #enter(slot: number, delay: number): void {
    const list = (this.#cursor + Math.max(1, Math.round(delay))) % horizon;
    this.#next[slot] = this.#lists[list];
    this.#lists[list] = slot;
  }

  /** The calendar's: a short-lived timer is moved or cancelled, or there is no subject to fire it. */
  #step(slot: number): void {
    const isHeld = this.#dueAt[slot] === 0;
    if (!isHeld) this.#fired(slot);
    else if (this.#left[slot] > 0) {
      this.#left[slot] -= 1;
      this.#subject.move(slot, this.#streams[this.#kinds[slot]].timer.delay);
      this.#enterNext(slot);
    } else {
      this.#subject.cancel(slot);
      this.#release(slot);
    }
  }

  #start(kind: number): number {
    const slot = this.#place(kind);
    this.#arm(slot, kind);
    return slot;
  }

  #place(kind: number): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot >= this.#kinds.length) throw new Error(`more than ${this.#kinds.length} timers are live`);
    this.#kinds[slot] = kind;
    return slot;
  }

  #arm(slot: number, kind: number): void {
    this.#subject.arm(ANY, slot, slot, this.#streams[kind].timer.delay, slot);
  }

  #release(slot: number): void {
    this.#dueAt[slot] = 0;
    this.#free.push(slot);
  }

  #fired(slot: number): void {
    this.latenesses.push(performance.now() - this.#dueAt[slot]);
    this.#subject.forget(slot);
    this.#release(slot);
  }

  readonly #onFire: OnFire = (_kind, slot) => {
    if (this.#dueAt[slot] > 0) this.#fired(slot); // else one that was to be cancelled: it stays in its place until then
  };
}
