import { executionAsyncId } from 'node:async_hooks';
import { runInContext, runUncaught } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import type { DeferredRun, DeferredRuns } from '../client/deferral.ts';
import { inNextTurn } from '../client/next-turn.ts';
import type { Settling } from '../client/settling.ts';

export const ORDER = Symbol('order');
export const RUN = Symbol('run');
export const IN_SCOPE = Symbol('inScope');

/** The parts of a timeout that the queue uses. */
export interface DueTimeout {
  /** Whether it is its own async resource; then IN_SCOPE runs everything in its name. */
  readonly isHooked: boolean;
  readonly _destroyed: boolean;
  hasRef(): boolean;
  /** Rises with each timeout that is set or refreshed: a word that wraps. */
  readonly [ORDER]: number;
  /** Calls its callback, unless it is no longer due. Throws what the callback throws. */
  [RUN](context: Context): void;
  [IN_SCOPE](callback: () => void): void;
}

/** The parts of the source that the queue needs. */
export interface DueQueueHost {
  readonly client: { readonly settling: Settling; readonly deferred: DeferredRuns };
  /** Whether the shard has fired, or may yet fire, timers of a tick that the scheduler has not delivered. */
  hasMore(tick: number): boolean;
  /** ms */
  now(): number;
}

/** How long the queue waits for the rest of a tick while none comes, in ms. */
const PATIENCE = 4;

/** Length above which the array is released once all timeouts have had their turn. */
const KEPT_LENGTH = 2 ** 17;

/**
 * Timeouts between the scheduler's delivery and their callbacks, which run at the end of the same turn. Between two
 * of them the ticks and microtasks of the first run, and an error of one becomes an uncaught exception before the next runs,
 * as in Node. If Node does not give access to the function that runs its ticks, each gets its own immediate, between which Node
 * runs them. The same holds while async hooks are on, since only Node can run code in the name of a resource, domains included.
 *
 * A scheduler does not define the place of a moved timer among those of its tick. Node does: the place that it would have if
 * it had been set then. So the timeouts of a turn are sorted into Node's order, by due tick and by when each was set or
 * refreshed, when its last tick is complete, as far as the scheduler has fired records.
 *
 *     timeouts   │ have had their turn │ in Node's order │ as they were delivered │
 *                                      next              ordered                  length
 *
 * A timeout that is cleared or refreshed while it is here keeps its place, which then has no effect: the timeout is no longer due,
 * or is here again under another order.
 * @internal
 */
export class DueQueue implements DeferredRun {
  /** The timeout whose callback is running, and its context. */
  running: DueTimeout | undefined;
  runningContext: Context;
  private readonly source: DueQueueHost;
  private timeouts: (DueTimeout | undefined)[] = [];
  /** By place; a timeout's own order differs once it has been refreshed. */
  private orders: number[] = [];
  /** By place; created when a timeout first has a context. */
  private contexts: Context[] | undefined;
  /** Due ticks: each from one of `tickPlaces` to the next. */
  private ticks: number[] = [];
  private tickPlaces: number[] = [];
  private lastTick = -1;
  private lastOrder = 0;
  private next = 0;
  private ordered = 0;
  private length = 0;
  /** Number of timeouts before `next` that have an immediate. */
  private immediates = 0;
  private isWaiting = false;
  private isInOrder = true;
  private hasHooked = false;
  /** The last tick with a moved timeout: others of that tick may belong before it. */
  private movedTick = -1;
  /** The queue waits until this time, in ms, for more of the last tick, unless more has come. */
  private awaited = 0;
  private awaitsUntil = Number.NaN;

  constructor(source: DueQueueHost) {
    this.source = source;
  }

  /** Adds a delivered timeout, for a tick from 0 on. */
  add(timeout: DueTimeout, context: Context, tick: number, order: number, isMoved: boolean): void {
    const place = this.length;
    this.timeouts[place] = timeout;
    this.orders[place] = order;
    this.length = place + 1;
    if (tick !== this.lastTick) this.beginTick(tick, place);
    else if (((order - this.lastOrder) | 0) < 0) this.isInOrder = false;
    this.lastOrder = order;
    if (context !== undefined) this.noteContext(place, context);
    if (isMoved && tick > this.movedTick) this.movedTick = tick;
    if (timeout.isHooked) this.hasHooked = true;
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.source.client.settling.callbackDeferred();
    this.source.client.deferred.add(this);
  }

  /** The context of a timeout in the queue. O(length). */
  contextOf(timeout: DueTimeout): Context {
    return this.contexts?.[this.timeouts.lastIndexOf(timeout, this.length - 1)];
  }

  /** The timeouts whose callback runs now or is to run; some may have been cleared. */
  unfinished(): DueTimeout[] {
    const left = this.timeouts.slice(this.next, this.length) as DueTimeout[];
    const due = left.filter((timeout, at) => timeout[ORDER] === this.orders[this.next + at]);
    return this.running === undefined ? due : [this.running, ...due];
  }

  run(): boolean {
    if (this.movedTick >= this.lastTick && this.awaitsMore()) return true; // some may belong before these
    this.order();
    if (runTicks === undefined || this.hasHooked || this.immediates > 0) this.setImmediates();
    else if (!this.runAll(runTicks)) return true;
    this.isWaiting = false;
    this.clearIfDone();
    return false;
  }

  /** Whether more of the last tick is to come. The wait for a shard without a processor is short. */
  private awaitsMore(): boolean {
    if (!this.source.hasMore(this.movedTick)) return false;
    const now = this.source.now();
    if (this.length > this.awaited) this.awaitsUntil = now + PATIENCE;
    this.awaited = this.length;
    return now < this.awaitsUntil;
  }

  /**
   * Runs all; returns whether all have run. After a microtask has thrown, Node has cleared its stack of async ids: further
   * callbacks would run in no resource, and an error would leave its context there for good. So the rest runs in the next turn.
   */
  private runAll(runTicks: () => void): boolean {
    const turn = executionAsyncId();
    while (this.next < this.length) {
      const place = this.next;
      this.next = place + 1;
      const timeout = this.timeouts[place] as DueTimeout;
      const context = this.contexts?.[place];
      this.timeouts[place] = undefined;
      if (context !== undefined) (this.contexts as Context[])[place] = undefined;
      if (timeout[ORDER] !== this.orders[place]) continue;
      this.begin(timeout, context);
      try {
        runUncaught(context, callTimeout, timeout, context);
      } finally {
        this.end();
      }
      runTicks();
      if (executionAsyncId() !== turn && this.next < this.length) return false;
    }
    this.source.client.settling.callbackDone();
    return true;
  }

  /** Sets each in the context of its timeout, where an error of its callback appears. */
  private setImmediates(): void {
    for (; this.next < this.length; this.next++) {
      const timeout = this.timeouts[this.next] as DueTimeout;
      const context = this.contexts?.[this.next];
      const order = this.orders[this.next];
      const set = (): void => void inNextTurn(this.runByImmediate, timeout, context, order);
      this.immediates += 1;
      this.source.client.settling.callbackDeferred();
      if (timeout.isHooked) timeout[IN_SCOPE](set);
      else runInContext(context, set);
    }
    this.source.client.settling.callbackDone();
  }

  private readonly runByImmediate = (timeout: DueTimeout, context: Context, order: number): void => {
    this.immediates -= 1;
    this.begin(timeout, context);
    try {
      if (timeout[ORDER] !== order) return;
      if (timeout.isHooked) timeout[IN_SCOPE](() => timeout[RUN](context));
      else timeout[RUN](context);
    } finally {
      this.end();
      this.source.client.settling.callbackDone();
      this.clearIfDone();
    }
  };

  private begin(timeout: DueTimeout, context: Context): void {
    this.running = timeout;
    this.runningContext = context;
  }

  private end(): void {
    this.running = undefined;
    this.runningContext = undefined;
  }

  private clearIfDone(): void {
    if (this.next < this.length || this.immediates > 0) return;
    if (this.length > KEPT_LENGTH) {
      this.timeouts = [];
      this.orders = [];
    }
    this.timeouts.fill(undefined, 0, this.length);
    this.contexts = undefined;
    this.ticks.length = 0;
    this.tickPlaces.length = 0;
    this.lastTick = -1;
    this.movedTick = -1;
    this.awaited = 0;
    this.next = 0;
    this.ordered = 0;
    this.length = 0;
    this.hasHooked = false;
  }

  private beginTick(tick: number, place: number): void {
    if (tick < this.lastTick && place > this.ordered) this.isInOrder = false;
    this.ticks.push(tick);
    this.tickPlaces.push(place);
    this.lastTick = tick;
  }

  private noteContext(place: number, context: Context): void {
    this.contexts ??= [];
    this.contexts[place] = context;
  }

  /** Sorts the timeouts that have arrived since the last time. */
  private order(): void {
    const { ordered, length } = this;
    this.ordered = length;
    if (this.isInOrder) return;
    this.isInOrder = true;
    const entries = this.entriesFrom(ordered);
    entries.sort((one, other) => one.tick - other.tick || (one.order - other.order) | 0);
    for (const [at, { timeout, context, order }] of entries.entries()) {
      this.timeouts[ordered + at] = timeout;
      this.orders[ordered + at] = order;
      if (this.contexts !== undefined) this.contexts[ordered + at] = context;
    }
  }

  private entriesFrom(first: number): Entry[] {
    const { ticks, tickPlaces, length, orders } = this;
    let at = 0;
    return Array.from({ length: length - first }, (_, offset) => {
      const place = first + offset;
      while (at + 1 < tickPlaces.length && tickPlaces[at + 1] <= place) at += 1;
      const timeout = this.timeouts[place] as DueTimeout;
      return { timeout, context: this.contexts?.[place], tick: ticks[at], order: orders[place] };
    });
  }
}

interface Entry {
  readonly timeout: DueTimeout;
  readonly context: Context;
  readonly tick: number;
  readonly order: number;
}

const callTimeout = (timeout: DueTimeout, context: Context): void => timeout[RUN](context);
