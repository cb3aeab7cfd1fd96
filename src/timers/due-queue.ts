import { runInContext, runUncaught } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import type { DeferredRun, DeferredRuns } from '../client/deferral.ts';
import { inNextTurn } from '../client/next-turn.ts';
import type { Settling } from '../client/settling.ts';

export const PLACED = Symbol('placed');
export const RUN = Symbol('run');
export const IN_SCOPE = Symbol('inScope');

/** A timeout as the queue sees it. */
export interface DueTimeout {
  /** It is an async resource of its own: whatever is done in its name is done by IN_SCOPE. */
  readonly isHooked: boolean;
  /** Where in the queue it stands now. */
  [PLACED](place: number): void;
  /** Its turn has come. Throws what its callback throws. */
  [RUN](context: Context): void;
  [IN_SCOPE](callback: () => void): void;
}

/** What the queue needs of the face's source. */
export interface DueQueueHost {
  readonly client: { readonly settling: Settling; readonly deferred: DeferredRuns };
  /** Whether the shard has fired timers that the scheduler has not delivered yet. */
  hasMore(): boolean;
}

/**
 * Timeouts on their way from the scheduler's delivery to their callbacks, which run at the end of the same turn. Between two
 * of them run the ticks and microtasks that the first has left, and an error that one throws surfaces before the next runs,
 * as in Node. Where Node does not give access to what runs its ticks, each has an immediate of its own, between which Node
 * does it; and while async hooks are on, as only Node can run something in the name of a resource, domains included.
 *
 * A scheduler does not say where among the timers of its tick one stands that was moved; Node does: where it would if
 * it had been set then. So what a turn has delivered is put in Node's order, by due tick and by when a timeout was set or
 * refreshed, once its last tick is complete, as far as the scheduler has fired records.
 *
 *     timeouts   │ have had their turn │ in Node's order │ as they were delivered │
 *                                      next              ordered                  length
 */
export class DueQueue implements DeferredRun {
  /** The one whose callback is running, and its context. */
  running: DueTimeout | undefined;
  runningContext: Context;
  private readonly source: DueQueueHost;
  private timeouts: (DueTimeout | undefined)[] = [];
  private contexts: Context[] = [];
  private ticks: number[] = [];
  private orders: number[] = [];
  private next = 0;
  private ordered = 0;
  /** Timeouts that are here. */
  private length = 0;
  private isWaiting = false;
  private isInOrder = true;
  private hasHooked = false;
  /** The last tick that a moved timeout has come in for: others of that tick may stand before it. */
  private movedTick = Number.NEGATIVE_INFINITY;

  constructor(source: DueQueueHost) {
    this.source = source;
  }

  /** A timeout has been delivered. `order` rises, as a word that wraps, with each that is set or refreshed. */
  add(timeout: DueTimeout, context: Context, tick: number, order: number, isMoved: boolean): void {
    const place = this.timeouts.length;
    if (place > this.ordered && this.compare(place - 1, tick, order) > 0) this.isInOrder = false;
    this.timeouts.push(timeout);
    this.contexts.push(context);
    this.ticks.push(tick);
    this.orders.push(order);
    this.length += 1;
    if (isMoved && tick > this.movedTick) this.movedTick = tick;
    if (timeout.isHooked) this.hasHooked = true;
    timeout[PLACED](place);
    this.source.client.settling.callbackDeferred();
    if (this.isWaiting) return;
    this.isWaiting = true;
    this.source.client.deferred.add(this);
  }

  /** A timeout will not run. */
  remove(place: number): void {
    this.take(place);
  }

  contextOf(place: number): Context {
    return this.contexts[place];
  }

  run(): boolean {
    if (this.isOpenEnded() && this.source.hasMore()) return true;
    this.order();
    if (runTicks === undefined || this.hasHooked) this.setImmediates();
    else this.runAll(runTicks);
    this.isWaiting = false;
    return false;
  }

  private runAll(runTicks: () => void): void {
    while (this.next < this.timeouts.length) {
      const place = this.next;
      this.next += 1;
      if (this.timeouts[place] === undefined) continue;
      const context = this.contexts[place];
      const timeout = this.take(place) as DueTimeout;
      this.running = timeout;
      this.runningContext = context;
      runUncaught(context, callTimeout, timeout, context);
      this.running = undefined;
      runTicks();
    }
  }

  /** Each in the context of its timeout: what the callback throws surfaces there. */
  private setImmediates(): void {
    for (; this.next < this.timeouts.length; this.next++) {
      const place = this.next;
      const timeout = this.timeouts[place];
      if (timeout === undefined) continue;
      const set = (): void => void inNextTurn(this.runByImmediate, place, timeout);
      if (timeout.isHooked) timeout[IN_SCOPE](set);
      else runInContext(this.contexts[place], set);
    }
    this.hasHooked = false;
  }

  private readonly runByImmediate = (place: number, timeout: DueTimeout): void => {
    if (this.timeouts[place] !== timeout) return;
    const context = this.contexts[place];
    this.take(place);
    this.running = timeout;
    this.runningContext = context;
    try {
      if (timeout.isHooked) timeout[IN_SCOPE](() => timeout[RUN](context));
      else timeout[RUN](context);
    } finally {
      this.running = undefined;
    }
  };

  private take(place: number): DueTimeout | undefined {
    const timeout = this.timeouts[place];
    this.timeouts[place] = undefined;
    this.contexts[place] = undefined;
    this.length -= 1;
    if (this.length === 0) this.clear();
    this.source.client.settling.callbackDone();
    return timeout;
  }

  private clear(): void {
    this.timeouts = [];
    this.contexts = [];
    this.ticks = [];
    this.orders = [];
    this.next = 0;
    this.ordered = 0;
    this.movedTick = Number.NEGATIVE_INFINITY;
    this.isInOrder = true;
  }

  /** Whether what is still to be delivered may belong before what is here. */
  private isOpenEnded(): boolean {
    return this.movedTick === this.ticks.at(-1);
  }

  /** More than 0 where the timeout of a place stands behind one of this tick and order. */
  private compare(place: number, tick: number, order: number): number {
    return this.ticks[place] - tick || (this.orders[place] - order) | 0;
  }

  private order(): void {
    const { timeouts, contexts, ticks, orders, ordered } = this;
    this.ordered = timeouts.length;
    if (this.isInOrder) return;
    this.isInOrder = true;
    const places = Array.from({ length: timeouts.length - ordered }, (_, at) => ordered + at);
    places.sort((one, other) => this.compare(one, ticks[other], orders[other]));
    const inOrder = <T>(all: T[]): T[] => [...all.slice(0, ordered), ...places.map((place) => all[place])];
    this.timeouts = inOrder(timeouts);
    this.contexts = inOrder(contexts);
    this.ticks = inOrder(ticks);
    this.orders = inOrder(orders);
    for (let place = ordered; place < this.timeouts.length; place++) this.timeouts[place]?.[PLACED](place);
  }
}

const callTimeout = (timeout: DueTimeout, context: Context): void => timeout[RUN](context);
