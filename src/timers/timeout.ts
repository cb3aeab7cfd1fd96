import { isEnteredKept, isHooked } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { Adopted, destroyOwnResource, newOwnResource, runInOwnScope } from '../async-context/own-resource.ts';
import { DELIVERED, type DeferredTimer, HANDED_BACK, PLACED } from '../client/deferral.ts';
import { INSPECT, shownAs } from '../scheduler/inspection.ts';
import { throwUncaught } from '../scheduler/report-error.ts';
import { type DueTimeout, IN_SCOPE, ORDER, RUN } from './due-queue.ts';
import { IntervalGrid } from './missed-calls.ts';
import { TimeoutExtras } from './timeout-extras.ts';
import type { TimeoutSource } from './timeout-source.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
export type Callback = (...given: any[]) => unknown;

/** In place of a handle: it neither waits nor is due; or it is due, and in its source's queue. */
const NONE = -1;
const DUE = -2;

const waits = (handle: number): boolean => handle !== NONE && handle !== DUE;

/** Called for an interval whose next call is refused. */
export const REFUSED = Symbol('refused');

/** It has fired; a refresh sets it again. */
const ENDED = 1;
/** Cleared for good. */
const CLEARED = 2;
const UNREF = 4;
/** It was refreshed while it waited. */
const MOVED = 8;
/** Its callback takes one argument, which is in `given`. */
const ONE = 16;
/** `given` holds its extras. */
const EXTRAS = 32;
/** `_idleTimeout` was set below 0: it is not set again. */
const LAST = 64;
/** It is its own async resource. */
const HOOKED = 128;

/** The longest delay that fits into a word, in ms. */
const LONGEST = 2 ** 31 - 1;

/**
 * The result of setTimeout and setInterval: Node's class of that name, on a scheduler. After Node's documentation and
 * lib/internal/timers.js, v20 to v26.
 *
 *              ┌──────────────── refresh, the next call of an interval ◀──────────────┐
 *              ▼                                                                      │
 *   set ───▶ waiting ── delivered ──▶ due (in the queue) ── its turn ──▶ running ──▶ ended
 *            its own                  handle = DUE                       handle = NONE
 *
 *   clear: from anywhere, for good: the callback is gone, and refresh does nothing
 *
 * It has every call of Node's: `refresh`, `ref`, `unref`, `hasRef`, `close`.
 */
export class Timeout extends Adopted implements NodeJS.Timeout, DueTimeout, DeferredTimer {
  // Seven fields, hidden from programs, and no number among them that V8 would box: 80 bytes. What the shard knows is
  // not kept here, nor the async context, which the lane keeps if there is one. Arguments from the second on,
  // numbers, periods and delays beyond 24 days are in the extras. The hold counts waiting timeouts that are unref'd.
  #source: TimeoutSource;
  #callback: Callback | undefined;
  #given: unknown;
  /** In whole ms, at least 1; LONGEST if the delay is longer and in the extras. */
  #delay: number;
  #handle: number;
  #flags: number;
  /** The number of its latest setting or refresh: a word that wraps. */
  #order: number;

  /**
   * Use `setTimeout` or `setInterval`. `delay`: whole ms, at least 1. `given`: all arguments of the callback; undefined for none. Throws
   * SchedulerClosedError, CapacityExceededError.
   * @internal
   */
  constructor(source: TimeoutSource, callback: Callback, delay: number, given?: readonly unknown[], period?: number) {
    const hooked = isHooked();
    super(hooked ? newOwnResource('Timeout', new.target) : undefined);
    this.#source = source;
    this.#callback = callback;
    this.#given = undefined;
    this.#flags = hooked ? HOOKED : 0;
    this.#delay = delay > LONGEST ? LONGEST : delay;
    this.#handle = NONE;
    this.#order = 0;
    const now = source.now();
    if (given !== undefined) this.give(given);
    if (period !== undefined) this.extras().grid = new IntervalGrid(now, period, source.missedCalls);
    if (delay > LONGEST) this.extras().longDelay = delay;
    this.wait(now + delay, hooked ? undefined : source.context());
  }

  /** Restarts its delay, even if it has fired, but not if it was cleared. */
  refresh(): this {
    const now = this.#source.now();
    if (waits(this.#handle) && (this.#flags & (EXTRAS | LAST)) === 0) this.move(now + this.#delay);
    else if ((this.#flags & (CLEARED | LAST)) === 0) this.restart(now);
    return this;
  }

  private move(deadline: number): void {
    const source = this.#source;
    source.move(this.#handle, deadline);
    this.#order = source.nextOrder();
    this.#flags |= MOVED;
  }

  private restart(now: number): void {
    const source = this.#source;
    const deadline = now + this.delay;
    this.grid?.restart(now);
    if (waits(this.#handle)) {
      this.move(deadline);
      return;
    }
    let context: Context;
    if ((this.#flags & ENDED) !== 0)
      context = source.context(); // as if it were set by this call
    else context = this.#handle === DUE ? source.due.contextOf(this) : source.due.runningContext;
    this.wait(deadline, context);
  }

  /** Keeps the process alive while it waits: the default. */
  ref(): this {
    if (!(#flags in this)) return this; // called on another object, which Node tolerates
    if ((this.#flags & UNREF) !== 0 && waits(this.#handle)) this.#source.client.hold.adjustUnref(-1);
    this.#flags &= ~UNREF;
    return this;
  }

  /** Lets the process end while it waits. */
  unref(): this {
    if (!(#flags in this)) return this;
    if ((this.#flags & UNREF) === 0 && waits(this.#handle)) this.#source.client.hold.adjustUnref(1);
    this.#flags |= UNREF;
    return this;
  }

  hasRef(): boolean {
    return (this.#flags & UNREF) === 0;
  }

  /** Does the same as clearTimeout. */
  close(): this {
    const handle = this.#handle;
    this.#callback = undefined;
    this.#flags |= CLEARED;
    if (waits(handle)) {
      this.leave();
      this.#source.cancel(handle);
    }
    this.#handle = NONE;
    if ((this.#flags & (EXTRAS | HOOKED)) !== 0) this.dropName();
    this.dropGiven();
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** A number for clearTimeout, Node's own included, while it lives. */
  [Symbol.toPrimitive](): number {
    return this.extras().number(this, this._destroyed);
  }

  // Undocumented properties of Node's timers. Packages read and write some of them.

  get _onTimeout(): Callback {
    return this.#callback ?? (null as unknown as Callback);
  }

  /** Node's own clearTimeout clears its argument by setting this to null. A cleared timeout stays cleared. */
  set _onTimeout(callback: Callback | null) {
    if (callback === null || callback === undefined) this.close();
    else if ((this.#flags & CLEARED) === 0) this.#callback = callback;
  }

  /** In ms; -1 if it was cleared. */
  get _idleTimeout(): number {
    return (this.#flags & (CLEARED | LAST)) === 0 ? this.delay : -1;
  }

  /** Takes effect when it is next set; less than 0: it is not set again. */
  set _idleTimeout(delay: number) {
    this.#flags = delay < 0 ? this.#flags | LAST : this.#flags & ~LAST;
    if (!(delay >= 1)) return;
    this.#delay = Math.min(Math.trunc(delay), LONGEST);
    if (delay > LONGEST || (this.#flags & EXTRAS) !== 0) this.extras().longDelay = delay > LONGEST ? delay : undefined;
  }

  /** The scheduler's time in ms at which its delay began; null if it does not wait. */
  get _idleStart(): number {
    if (!waits(this.#handle)) return null as unknown as number;
    return Math.floor(this.#source.deadlineOf(this.#handle) - this.delay);
  }

  // Node's own functions write these into any timer; here that has no effect.
  set _idleStart(_: number) {}
  set _idlePrev(_: unknown) {}
  set _idleNext(_: unknown) {}

  /** In ms between the calls of an interval; null if it is not an interval. */
  get _repeat(): number | null {
    return this.grid?.period ?? null;
  }

  /** Makes it an interval, or an interval a timeout. */
  set _repeat(period: number | null) {
    const { missedCalls } = this.#source;
    if (!period) {
      if ((this.#flags & EXTRAS) !== 0) this.extras().grid = undefined;
    } else this.extras().grid = new IntervalGrid(this.#source.now(), Math.max(1, Math.trunc(period)), missedCalls);
  }

  get _timerArgs(): readonly unknown[] | undefined {
    if ((this.#flags & ONE) !== 0) return [this.#given];
    const given = (this.#flags & EXTRAS) === 0 ? undefined : this.extras().given;
    return given?.length === 0 ? undefined : given;
  }

  set _timerArgs(given: readonly unknown[] | undefined) {
    this.dropGiven();
    if (given !== undefined) this.give(given);
  }

  get _destroyed(): boolean {
    return (this.#flags & CLEARED) !== 0 || (this.#handle === NONE && this.#source.due.running !== this);
  }

  set _destroyed(isDestroyed: boolean) {
    if (isDestroyed) this.close();
  }

  [INSPECT](): object {
    if (!(#handle in this)) return shownAs(this, {}); // a hook reads it during its construction
    const { _idleTimeout, _onTimeout, _timerArgs, _repeat, _destroyed } = this;
    return shownAs(this, { _idleTimeout, _onTimeout, _timerArgs, _repeat, _destroyed, hasRef: this.hasRef() });
  }

  // Calls by its scheduler and its queue.

  get isHooked(): boolean {
    return (this.#flags & HOOKED) !== 0;
  }

  get [ORDER](): number {
    return this.#order;
  }

  [DELIVERED](context: Context, tick: number): void {
    this.leave();
    this.#handle = DUE;
    this.#source.due.add(this, context, tick, this.#order, (this.#flags & MOVED) !== 0);
  }

  [PLACED](handle: number): void {
    this.#handle = handle;
  }

  /** Can no longer be refreshed or cleared, and is not referenced here. */
  [HANDED_BACK](): void {
    this.leave();
    this.end();
  }

  [IN_SCOPE](callback: () => void): void {
    runInOwnScope(this, callback);
  }

  [RUN](context: Context): void {
    if (this.#handle !== DUE) return;
    this.#handle = NONE;
    const { grid } = this;
    const begun = grid === undefined ? 0 : this.#source.now();
    try {
      if ((this.#flags & (ONE | EXTRAS)) === 0) this.#callback?.();
      else if ((this.#flags & ONE) !== 0) this.#callback?.(this.#given);
      else this.#callback?.(...this.extras().given);
    } finally {
      if (this.#handle === NONE) this.finish(begun, context);
    }
  }

  /** Called when the callback has run and has not refreshed the timeout. */
  private finish(begun: number, context: Context): void {
    const { grid } = this;
    const source = this.#source;
    if (grid === undefined || source.client.isClosed || (this.#flags & (CLEARED | LAST)) !== 0) {
      if (grid !== undefined && (this.#flags & (CLEARED | LAST)) === 0)
        this[HANDED_BACK](); // there is no next call
      else this.end();
      return;
    }
    if (begun === 0)
      grid.restart(source.now()); // its callback has made it an interval
    else grid.advance(begun, source.now());
    this.#delay = Math.min(grid.period, LONGEST);
    try {
      this.wait(grid.deadline, isEnteredKept && !this.isHooked ? source.context() : context);
    } catch (error) {
      this.end();
      this[REFUSED](error as Error); // in addition to an error of its callback
    }
  }

  /** Called when an interval could not be set for its next call. */
  [REFUSED](error: Error): void {
    throwUncaught(error);
  }

  private end(): void {
    this.#flags |= ENDED;
    if ((this.#flags & (EXTRAS | HOOKED)) !== 0) this.dropName();
  }

  private wait(deadline: number, context: Context): void {
    const source = this.#source;
    this.#handle = source.schedule(deadline, this, context);
    this.#order = source.nextOrder();
    this.#flags &= ~(ENDED | MOVED);
    if ((this.#flags & UNREF) !== 0) source.client.hold.adjustUnref(1);
  }

  /** Ends its wait. */
  private leave(): void {
    this.#handle = NONE;
    if ((this.#flags & UNREF) !== 0) this.#source.client.hold.adjustUnref(-1);
  }

  private dropGiven(): void {
    if ((this.#flags & EXTRAS) !== 0) this.extras().given = [];
    else this.#given = undefined;
    this.#flags &= ~ONE;
  }

  /** Frees its number, and reports its end to hooks. */
  private dropName(): void {
    if ((this.#flags & EXTRAS) !== 0) (this.#given as TimeoutExtras).dropNumber();
    if (this.isHooked) destroyOwnResource(this);
    this.#flags &= ~HOOKED;
  }

  private give(given: readonly unknown[]): void {
    if (given.length === 1 && (this.#flags & EXTRAS) === 0) {
      this.#given = given[0];
      this.#flags |= ONE;
    } else if (given.length > 0) this.extras().given = given;
  }

  private get delay(): number {
    const long = (this.#flags & EXTRAS) === 0 ? undefined : (this.#given as TimeoutExtras).longDelay;
    return long ?? this.#delay;
  }

  private get grid(): IntervalGrid | undefined {
    return (this.#flags & EXTRAS) === 0 ? undefined : (this.#given as TimeoutExtras).grid;
  }

  /** Returns its extras, and creates them if necessary. */
  private extras(): TimeoutExtras {
    if ((this.#flags & EXTRAS) === 0) {
      this.#given = new TimeoutExtras((this.#flags & ONE) === 0 ? [] : [this.#given]);
      this.#flags = (this.#flags & ~ONE) | EXTRAS;
    }
    return this.#given as TimeoutExtras;
  }
}
