import { executionAsyncId } from 'node:async_hooks';
import { type InspectOptions, inspect } from 'node:util';
import { isEnteredKept, outsideContexts, runInContext } from '../async-context/async-context.ts';
import { type Context, TimerResource } from '../async-context/context-keeper.ts';
import { onHandBack } from '../client/hand-back.ts';
import { throwUncaught } from '../scheduler/report-error.ts';
import type { DueBatch, QueuedTimeout } from './due-batch.ts';
import { IntervalGrid } from './missed-calls.ts';
import type { TimeoutSource } from './timeout-source.ts';

// biome-ignore lint/suspicious/noExplicitAny: what a callback takes is its caller's business
export type Callback = (...given: any[]) => unknown;

/** In place of a slot: no timer waits. */
const NONE = -1;

/** Live timeouts that somebody has asked the number of, by that number as a string; those of open schedulers alone. */
const numbered = new Map<string, Timeout>();

/** The live timeout of a number, or of the number as a string, as Node's clearTimeout takes them. */
export const timeoutOf = (handle: number | string): Timeout | undefined => numbered.get(`${handle}`);

const deliver = (timeout: Timeout): void => timeout.delivered();
const call = (timeout: Timeout): void => timeout.call();

onHandBack(deliver, (timeout) => timeout.handedBack());

/**
 * What setTimeout and setInterval return: Node's class of that name, on a scheduler. After Node's documentation and
 * lib/internal/timers.js, v20.
 *
 *              ┌──────────────── refresh, the next call of an interval ◀───────────────┐
 *              ▼                                                                       │
 *   set ───▶ waiting ── delivered ──▶ due (in a batch) ── its immediate ──▶ running ──▶ ended
 *            slot                     batch
 *
 *   clear: from anywhere, for good: the callback is gone, and refresh does nothing
 *
 * Invariant: at most one of `slot` and `batch` is there; the client counts a waiting timeout that is unref'd.
 */
export class Timeout implements NodeJS.Timeout, QueuedTimeout {
  /** The tick at which it is due, and its place among the timeouts of that tick. */
  tick = 0;
  order = 0;
  /** It was refreshed while it waited. */
  isMoved = false;
  context: Context;
  /** The client's turn in which it was scheduled. */
  turn = 0;
  /** Its place among those that its source watches; less than 0 where it is none of them. */
  watchedAt = -1;
  private readonly source: TimeoutSource;
  private callback: Callback | undefined;
  private given: unknown[] | undefined;
  private readonly delay: number;
  private readonly grid: IntervalGrid | undefined;
  /** Of its timer, while it waits. */
  private slot = NONE;
  private batch: DueBatch | undefined;
  private isRef = true;
  private isEnded = false;
  private number: number | undefined;

  /** Sets it. `delay` is taken as Node takes it: no number, or less than 1, is 1; fractions are dropped. */
  constructor(source: TimeoutSource, callback: Callback, delay: unknown, given?: unknown[], isInterval = false) {
    this.source = source;
    this.callback = callback;
    this.given = given;
    this.delay = milliseconds(delay);
    this.context = source.context();
    const now = source.now();
    if (isInterval) this.grid = new IntervalGrid(now, this.delay, source.missedCalls);
    this.wait(now + this.delay);
  }

  /** Restarts its time: also where it has fired, but not where it was cleared. */
  refresh(): this {
    if (this.callback === undefined) return this;
    const now = this.source.now();
    this.grid?.restart(now);
    if (this.slot === NONE) {
      this.batch = undefined;
      if (this.isEnded) this.context = this.source.context(); // as if it were set by this call
      this.wait(now + this.delay);
    } else {
      this.source.move(this.slot, now + this.delay);
      this.place(now + this.delay);
      this.isMoved = true;
    }
    return this;
  }

  /** While it waits, the process goes on: the default. */
  ref(): this {
    if (!this.isRef && this.slot !== NONE) this.source.client.adjustUnref(-1);
    this.isRef = true;
    return this;
  }

  /** The process may end though it waits. */
  unref(): this {
    if (this.isRef && this.slot !== NONE) this.source.client.adjustUnref(1);
    this.isRef = false;
    return this;
  }

  hasRef(): boolean {
    return this.isRef;
  }

  /** As clearTimeout. */
  close(): this {
    this.callback = undefined;
    this.given = undefined;
    this.context = undefined;
    this.batch = undefined;
    if (this.slot !== NONE) {
      this.source.cancel(this.slot);
      this.leave();
    }
    this.forget();
    return this;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** A number for clearTimeout: no other timeout's, nor that of any async resource of Node's. */
  [Symbol.toPrimitive](): number {
    this.number ??= this.takeNumber();
    if (this.slot !== NONE || this.batch !== undefined) this.remember();
    return this.number;
  }

  /** From here on it is an async resource of its own, in whose name the callback runs. */
  private takeNumber(): number {
    const resource = outsideContexts(() => runInContext(this.context, () => new TimerResource())) as TimerResource;
    this.context = resource;
    return resource.asyncId();
  }

  /** The callback. Node's own clearTimeout clears what it is given by setting this to null. */
  get _onTimeout(): Callback {
    return this.callback ?? (null as unknown as Callback);
  }

  set _onTimeout(callback: Callback | null) {
    if (callback === null) this.close();
    else this.callback = callback;
  }

  [inspect.custom](_depth: number, options: InspectOptions): string {
    return inspect(this, { ...options, depth: 0, customInspect: false });
  }

  get isWaiting(): boolean {
    return this.slot !== NONE;
  }

  /** A batch that has overtaken it takes it in. Precondition: it is waiting, and due. */
  pull(batch: DueBatch): void {
    this.source.take(this.slot);
    this.leave();
    this.batch = batch;
  }

  /** The scheduler has delivered its timer. */
  delivered(): void {
    this.leave();
    this.batch = this.source.due.add(this);
  }

  /** The scheduler was closed while it waited. It can be neither refreshed nor cleared, and nothing here holds it. */
  handedBack(): void {
    this.leave();
    this.forget();
  }

  /** Its turn in a batch has come; it may have left the batch since it was put there. `context`: that of this call. */
  runIn(batch: DueBatch, context: Context): void {
    if (this.batch !== batch) return;
    this.batch = undefined;
    const begun = this.source.now();
    try {
      if (this.context === context) this.call();
      else outsideContexts(() => this.callInContext());
    } finally {
      if (this.slot === NONE) this.finish(begun);
    }
  }

  private callInContext(): void {
    const { context } = this; // the callback may close its own timeout, and then throw
    try {
      runInContext(context, call, this);
    } catch (error) {
      runInContext(context, throwUncaught, error);
    }
  }

  /** Calls the callback, unless the timeout was cleared. */
  call(): void {
    const { callback, given } = this;
    if (callback === undefined) return;
    this.number ??= executionAsyncId();
    if (given === undefined) callback.call(this);
    else callback.apply(this, given);
    if (this.grid !== undefined && isEnteredKept && this.callback !== undefined) this.context = this.source.context();
  }

  /** The callback has run, and the timeout was not refreshed in it. */
  private finish(begun: number): void {
    const { grid, source } = this;
    if (grid === undefined || this.callback === undefined || source.client.isClosed) {
      if (grid !== undefined && this.callback !== undefined) this.handedBack(); // there is no next call
      this.isEnded = true;
      this.context = undefined;
      this.forget();
      return;
    }
    grid.advance(begun, source.now());
    this.wait(grid.deadline);
  }

  private wait(deadline: number): void {
    const { source } = this;
    this.slot = source.schedule(deadline, deliver, this);
    this.place(deadline);
    this.turn = source.client.loop.turns;
    source.inFlight.add(this);
    this.isEnded = false;
    this.isMoved = false;
    if (!this.isRef) source.client.adjustUnref(1);
    if (this.number !== undefined) this.remember();
  }

  private place(deadline: number): void {
    this.tick = this.source.scale.tickAtOrAfter(deadline);
    this.order = this.source.nextOrder();
  }

  /** It waits no longer. */
  private leave(): void {
    this.slot = NONE;
    this.source.inFlight.remove(this);
    if (!this.isRef) this.source.client.adjustUnref(-1);
  }

  private remember(): void {
    if (!this.source.client.isClosed) numbered.set(`${this.number}`, this);
  }

  private forget(): void {
    if (this.number !== undefined) numbered.delete(`${this.number}`);
  }
}

/** A delay as Node reads it; but there is no longest one. What is infinite is as long as the clock goes. */
function milliseconds(delay: unknown): number {
  const number = (delay as number) * 1; // throws for a BigInt and a symbol, as in Node
  return number >= 1 ? Math.min(Math.trunc(number), Number.MAX_SAFE_INTEGER) : 1;
}
