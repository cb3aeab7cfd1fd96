import { isEnteredKept, outsideContexts } from '../async-context/async-context.ts';
import { type Context, HookedResource, RUN } from '../async-context/context-keeper.ts';
import { throwUncaught } from '../async-context/run-ticks.ts';
import { CallGrid, type MissedCalls } from '../client/call-grids.ts';
import { HANDED_BACK, REFED, SLOT } from '../client/home/home-timer.ts';
import { InvalidArgumentError } from '../errors.ts';
import { process } from '../process.ts';
import { INSPECT, shownAs } from '../scheduler/inspection.ts';
import { clearInterval, MAX_NATIVE_DELAY_MS, setInterval } from '../time/native-timers.ts';
import { callByNode } from './call-by-node.ts';
import type { TimeoutSource } from './timeout-source.ts';

const nothing = (): void => undefined;

/** What `_onTimeout` is once it was cleared: undefined from Node 24 on. */
const CLEARED = (Number.parseInt(process.versions.node, 10) < 24 ? null : undefined) as unknown as Callback;

/**
 * The number of a timeout for clearTimeout, valid as long as the timeout lives, also for Node's own clearTimeout and
 * for another copy of this package. Only Node can create such a number: it belongs to one of Node's own intervals,
 * which stands for the timeout, does nothing, and loses its callback when Node clears the number.
 */
export class TimeoutNumber {
  private standIn: NodeJS.Timeout | undefined;
  private last = 0;

  of(timeout: { close(): unknown; readonly _destroyed: boolean }): number {
    const isOver = timeout._destroyed;
    if (this.standIn !== undefined || (isOver && this.last !== 0)) return this.last;
    const standIn = outsideContexts(() => setInterval(nothing, MAX_NATIVE_DELAY_MS)).unref();
    const set = (callback: unknown): void => {
      if (callback === null || callback === undefined) timeout.close();
    };
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, get: () => nothing, set });
    this.standIn = standIn;
    this.last = +standIn;
    if (isOver) this.drop();
    return this.last;
  }

  /** Frees the number. */
  drop(): void {
    const { standIn } = this;
    if (standIn === undefined) return;
    this.standIn = undefined;
    Object.defineProperty(standIn, '_onTimeout', { configurable: true, writable: true, value: nothing });
    clearInterval(standIn);
  }
}

/** The times at which the calls of an interval are due. @internal */
export class IntervalGrid {
  readonly period: number;
  private readonly missed: MissedCalls;
  private readonly grid = new CallGrid();

  /** `start` and `period` in ms. */
  constructor(start: number, period: number, missed: MissedCalls) {
    this.period = period;
    this.missed = missed;
    this.grid.period = period;
    this.restart(start);
  }

  /** Of the next call. */
  get deadline(): number {
    return this.grid.due;
  }

  /** Advances after a call that began at `begun` and ended at `now`; it was late from `lateFrom` on. */
  advance(lateFrom: number, begun: number, now: number): void {
    this.grid.advance(this.missed, lateFrom, begun, now);
  }

  /** Counts from `start` again. */
  restart(start: number): void {
    this.grid.start = start;
    this.grid.call = 1;
  }
}

// Taken once: a program may replace them.
const { floor, max, trunc } = Math;
const { apply } = Reflect;

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
export type Callback = (...given: any[]) => unknown;

/** Called for an interval whose next call is refused. @internal */
export const REFUSED = Symbol('refused');
/** Returns its source. A function, since a proxy of the program may wrap every object that is read through it. */
const SOURCE = Symbol('source');
/** The grid of an interval, from its first call on. */
const GRID = Symbol('grid');
/** Its number, once it has one. */
const NUMBER = Symbol('number');

/**
 * The result of setTimeout and setInterval: Node's class of that name, on a scheduler. After Node's documentation and
 * lib/internal/timers.js, v20 to v26.
 *
 *              ┌──────────────── refresh, the next call of an interval ◀──────────┐
 *              ▼                                                                  │
 *   set ───▶ waiting ─────────────────▶ due ─────────── its turn ──▶ running ──▶ ended
 *            its own SLOT                                            SLOT < 0
 *
 *   clear: from anywhere, for good: the callback is gone, and refresh does nothing
 *
 * It has every call of Node's: `refresh`, `ref`, `unref`, `hasRef`, `close`. Its state is in properties of its own,
 * which have Node's names where Node has them: so it works behind a proxy, and as a prototype. Four properties with
 * Node's names and three of ours: 80 bytes.
 */
export class Timeout implements NodeJS.Timeout {
  // In the order in which a refresh reads them. It is a `HomeTimer`, which the declarations do not say.
  /** @internal */
  [SLOT] = -1;
  /** @internal */
  readonly [SOURCE]: () => TimeoutSource;
  /** In ms; below 0 it is not set again. -1 once it was cleared. */
  _idleTimeout: number;
  /** Null or undefined once it was cleared, which Node's types do not know. */
  _onTimeout: Callback;
  _timerArgs: readonly unknown[] | undefined;
  /** In ms between the calls of an interval; null if it is not an interval. */
  _repeat: number | null;
  /** @internal */
  [REFED] = true;
  /** @internal */
  declare [GRID]?: IntervalGrid;
  /** @internal */
  declare [NUMBER]?: TimeoutNumber;

  /**
   * Use `setTimeout` or `setInterval`. `delay`: ms, at least 1. Throws SchedulerClosedError, CapacityExceededError.
   * @internal
   */
  constructor(
    source: () => TimeoutSource,
    callback: Callback,
    delay: number,
    given: readonly unknown[] | undefined,
    isInterval: boolean,
  ) {
    this._idleTimeout = delay;
    this._onTimeout = callback;
    this._timerArgs = given;
    this._repeat = isInterval ? delay : null;
    this[SOURCE] = source;
    const { home, time, client } = source();
    const now = time.read();
    if (isInterval) this[GRID] = new IntervalGrid(now, trunc(delay), source().missedCalls);
    const context = client.context();
    if (context !== undefined && HookedResource.is(context)) showDomain(this, context);
    home.add(this, now + trunc(delay), context);
  }

  /** What it carries may refer to itself. */
  toJSON(): object {
    return {};
  }

  /** Restarts its delay, even if it has fired, but not if it was cleared. */
  refresh(): this {
    const { home, time, client } = this[SOURCE]();
    const delay = this._idleTimeout;
    if (!(delay >= 0)) return this;
    const now = time.read();
    const deadline = now + max(1, trunc(delay));
    if (this[SLOT] >= 0) home.move(this[SLOT], deadline);
    else {
      const context = home.isRunning(this) ? home.runningContext : client.context();
      try {
        home.add(this, deadline, context, true);
      } catch (error) {
        if (!callByNode(this, this[SOURCE](), deadline, context, error)) throw error;
      }
    }
    this[GRID]?.restart(now);
    return this;
  }

  /** Keeps the process alive while it waits: the default. */
  ref(): this {
    return withRef(this, true);
  }

  /** Lets the process end while it waits. */
  unref(): this {
    return withRef(this, false);
  }

  hasRef(): boolean {
    return this[REFED];
  }

  /** Does the same as clearTimeout. */
  close(): this {
    if (this[SLOT] >= 0) this[SOURCE]().home.remove(this[SLOT]);
    this._onTimeout = CLEARED;
    this._idleTimeout = -1;
    this._timerArgs = undefined;
    this[NUMBER]?.drop();
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** A number for clearTimeout, Node's own included, while it lives. */
  [Symbol.toPrimitive](): number {
    this[NUMBER] ??= new TimeoutNumber();
    return this[NUMBER].of(this);
  }

  // Undocumented properties of Node's timers. Packages read and write some of them.

  /** The scheduler's time in ms at which its delay began; null if it does not wait. */
  get _idleStart(): number {
    if (this[SLOT] < 0) return null as unknown as number;
    return floor(this[SOURCE]().home.deadlineOf(this[SLOT]) - this._idleTimeout);
  }

  // Node's own functions write these into any timer. Here the beginning has no effect, nor has that it is in no list.
  // A list of Node's it does not enter: Node could never take it out, and its loop would not end.
  set _idleStart(_: number) {}
  set _idlePrev(link: unknown) {
    refuseLink(this, link);
  }
  set _idleNext(link: unknown) {
    refuseLink(this, link);
  }

  get _destroyed(): boolean {
    return this[SLOT] < 0 && !this[SOURCE]().home.isRunning(this);
  }

  /** Node's own clearTimeout sets it. */
  set _destroyed(isDestroyed: boolean) {
    if (isDestroyed) this.close();
  }

  /** @internal */
  [INSPECT](): object {
    const { _idleTimeout, _onTimeout, _timerArgs, _repeat, _destroyed } = this;
    return shownAs(this, { _idleTimeout, _onTimeout, _timerArgs, _repeat, _destroyed, hasRef: this.hasRef() });
  }

  // Calls by its client.

  /** Can no longer be refreshed or cleared. @internal */
  [HANDED_BACK](): void {
    this[NUMBER]?.drop();
  }

  /** @internal */
  [RUN](context: Context): void {
    if (!this._onTimeout) {
      this[NUMBER]?.drop();
      return;
    }
    const begun = this._repeat === null ? 0 : this[SOURCE]().begin();
    const given = this._timerArgs;
    try {
      if (given === undefined) this._onTimeout();
      else apply(this._onTimeout, this, given);
    } finally {
      if (this[SLOT] < 0) this.finish(begun, context);
    }
  }

  /** Called when the callback has run and has not refreshed the timeout. `begun`: ms */
  private finish(begun: number, context: Context): void {
    const { client, home, missedCalls, time } = this[SOURCE]();
    const period = this._repeat;
    const isOver = !period || !(this._idleTimeout >= 0); // its callback may have cleared it
    if (isOver || client.isClosed) {
      if (isOver) this[NUMBER]?.drop();
      else this[HANDED_BACK](); // close() has not found it among the live ones: its callback was running
      return;
    }
    const whole = max(1, trunc(period));
    const now = time.read();
    home.now = now;
    this._idleTimeout = period;
    if (this[GRID]?.period !== whole) this[GRID] = new IntervalGrid(now, whole, missedCalls);
    else this[GRID].advance(home.wheel.lateFrom(this[GRID].deadline), begun, now);
    const { deadline } = this[GRID];
    const next = context === undefined && isEnteredKept ? client.context() : context;
    try {
      home.add(this, deadline, next, true);
    } catch (error) {
      if (callByNode(this, this[SOURCE](), deadline, next, error)) return;
      this[NUMBER]?.drop();
      this[REFUSED](error as Error); // in addition to an error of its callback
    }
  }

  /** Called when an interval could not be set for its next call. @internal */
  [REFUSED](error: Error): void {
    throwUncaught(error);
  }
}

/**
 * A timeout that is set within a domain has it as a property of its own, as Node's have; it is Node that gives it to
 * the resource.
 */
function showDomain(timeout: Timeout, resource: object): void {
  const domain = Object.getOwnPropertyDescriptor(resource, 'domain');
  if (domain !== undefined) Object.defineProperty(timeout, 'domain', domain);
}

function refuseLink(timeout: Timeout, link: unknown): void {
  if (link === null || link === undefined) return;
  const requirement = "given to active() or enroll() of node:timers must be one of Node's: call refresh() of this one";
  throw new InvalidArgumentError('timer', requirement, timeout);
}

function withRef<T extends Timeout>(timeout: T, isRef: boolean): T {
  const source = timeout[SOURCE];
  if (source === undefined) return timeout; // called on another object, which Node tolerates
  if (timeout[SLOT] < 0) timeout[REFED] = isRef;
  else source().home.setRef(timeout[SLOT], isRef);
  return timeout;
}
