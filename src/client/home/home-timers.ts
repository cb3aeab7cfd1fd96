import { executionAsyncId } from 'node:async_hooks';
import { contexts } from '../../async-context/async-context.ts';
import type { Context } from '../../async-context/context-keeper.ts';
import { runTicks } from '../../async-context/run-ticks.ts';
import { CapacityExceededError, SchedulerClosedError } from '../../errors.ts';
import { CALLS_PER_READING, type ClientTime } from '../client-time.ts';
import type { Delivery } from '../delivery.ts';
import type { KeepAlive } from '../keep-alive.ts';
import { Label, NO_LABEL } from '../labels/slot-labels.ts';
import type { TurnClock } from '../turn-clock.ts';
import { HANDED_BACK, type HomeTimer, REFED, SLOT } from './home-timer.ts';
import { HomeWheel, type NewIndex } from './home-wheel.ts';

// Taken once: a program may replace them.
const { max } = Math;

/** The label of all of them. */
export const DROP_IN = '(drop-in)';

/** The parts of the client that they need. */
export interface HomeClient {
  readonly isClosed: boolean;
  readonly delivery: Delivery;
  readonly refs: KeepAlive;
  readonly turnClock: TurnClock;
}

/**
 * A turn leaves the rest to the next after so many callbacks that took so long, in ms, that the loop may serve its I/O.
 */
const TURN_CALLS = 1024;
const TURN_TIME_MS = 4;

/**
 * The drop-in timers of a client. They live in its own thread, on a wheel of that thread: their callbacks, their order
 * and their objects belong to it already, so no lane, no command and no shard has a part in them.
 *
 *     setTimeout ─▶ add ─▶ a slot of the wheel ─▶ its tick has come: the queue
 *                          ─▶ run: in its context, then its ticks and microtasks
 *
 * Timers of a tick run in the order in which they were set or refreshed, and none runs before one that was due a tick
 * earlier. What a callback sets runs in a later turn. All is found by slot, whoever calls: a program may call a timer's
 * methods through a proxy, or on an object that inherits from it.
 */
export class HomeTimers {
  /** Their counts; its size is the number of live ones. */
  readonly label: Label;
  /** The timer whose callback is running, and its context. */
  running: HomeTimer | undefined;
  runningContext: Context;
  /** The last reading of the clock by a turn, in ms. */
  now = Number.NaN; // V8: double fields
  /** Maximum of live ones. */
  readonly capacity: number;
  private readonly client: HomeClient;
  private readonly time: ClientTime;
  readonly wheel: HomeWheel;
  /** By slot; undefined for a free one. */
  private timers: (HomeTimer | undefined)[] = [];
  /** By slot; made when a timer first has a context. */
  private contexts: Context[] | undefined;
  /** Moves so far. */
  moved = 0;
  /** Timers ended so far: a word that wraps. */
  private ended = 0;

  /** `slack` in ticks. */
  constructor(client: HomeClient, time: ClientTime, slack: number, capacity: number, newIndex: NewIndex) {
    this.client = client;
    this.time = time;
    this.capacity = capacity;
    this.label = new Label(DROP_IN, NO_LABEL, undefined, slack);
    this.wheel = new HomeWheel(time, slack, (now) => {
      this.label.prepare();
      return newIndex(now);
    });
  }

  /** Live ones: they wait, or are due and have not run. */
  get size(): number {
    return this.label.size;
  }

  /** Makes what the first timer needs. Throws what the system refuses. */
  prepare(): void {
    this.wheel.prepare();
  }

  /**
   * Starts a timer, with a deadline in ms. `isAgain`: it has been one before, so only the room for a slot can be
   * refused. Throws SchedulerClosedError, CapacityExceededError, AllocationError.
   */
  add(timer: HomeTimer, deadline: number, context: Context, isAgain = false): void {
    const { client, label } = this;
    if (client.isClosed) throw new SchedulerClosedError('setTimeout');
    if (label.size >= this.capacity) throw this.refusal();
    const slot = this.wheel.take(deadline, isAgain);
    this.timers[slot] = timer;
    if (context !== undefined) this.contexts ??= [];
    if (this.contexts !== undefined) this.contexts[slot] = context;
    timer[SLOT] = slot;
    label.size += 1;
    label.scheduled += 1;
    if (!timer[REFED]) client.refs.adjustUnref(1);
    else if (client.refs.keepsAlive === false) client.refs.updateRef();
    if (deadline < client.turnClock.comesBy) this.comeBy(this.wheel.dueTimeOf(deadline));
  }

  /** Moves a live timer to a deadline in ms, to its place among those that are set now. */
  move(slot: number, deadline: number): void {
    this.wheel.move(slot, deadline);
    this.moved += 1;
    if (deadline < this.client.turnClock.comesBy) this.comeBy(this.wheel.dueTimeOf(deadline));
  }

  /** Ends a live timer. */
  remove(slot: number): void {
    const { refs } = this.client;
    const timer = this.timers[slot] as HomeTimer;
    this.wheel.free(slot);
    this.timers[slot] = undefined;
    if (this.contexts !== undefined) this.contexts[slot] = undefined;
    this.label.size -= 1;
    this.end(timer);
    if (!timer[REFED]) refs.adjustUnref(-1);
    else if (this.label.size <= refs.unrefCount) refs.updateRef();
  }

  /** Sets whether a live timer holds the process. */
  setRef(slot: number, isRef: boolean): void {
    const timer = this.timers[slot] as HomeTimer;
    if (timer[REFED] === isRef) return;
    timer[REFED] = isRef;
    this.client.refs.adjustUnref(isRef ? -1 : 1);
  }

  /** The deadline of a live timer in ms. */
  deadlineOf(slot: number): number {
    return this.wheel.deadlineOf(slot);
  }

  /** Whether its callback is running. */
  isRunning(timer: HomeTimer): boolean {
    return this.running !== undefined && this.running[SLOT] === timer[SLOT];
  }

  /**
   * The tick at which the next of them runs, as its wheel says: at most the present if one is due; Infinity if none is
   * live.
   */
  nextDue(): number {
    const { timers, wheel } = this;
    const { queue } = wheel;
    for (let at = queue.next; at < queue.length; at++) {
      const slot = queue.slots[at];
      if (timers[slot] !== undefined && wheel.words[2 * slot + 1] === queue.orders[at]) return this.time.tick;
    }
    return wheel.nextDue();
  }

  *live(): Generator<HomeTimer> {
    for (const timer of this.timers) if (timer !== undefined) yield timer;
  }

  /**
   * Runs due ones within a turn, for which the clock has been read. `isPhase`: those due by now, else the rest of an
   * earlier turn. Returns whether some are left. Throws what a callback, or a tick of the program, throws.
   */
  run(isPhase: boolean): boolean {
    const { wheel, time } = this;
    const { queue } = wheel;
    if (isPhase) wheel.until = time.tick;
    if (queue.next === queue.length && !wheel.takeTick()) return false;
    const asyncId = executionAsyncId();
    this.now = time.now;
    const end = time.isManual ? Number.POSITIVE_INFINITY : this.now + TURN_TIME_MS;
    for (let calls = 1; !this.client.isClosed; ) {
      const timer = this.takeNext();
      if (timer !== undefined) {
        // Called here, so that a callback has at most four frames of this package below it.
        try {
          contexts.runUncaught(this.runningContext, timer);
        } finally {
          this.running = undefined;
          this.runningContext = undefined;
        }
      }
      const isLast = queue.next === queue.length && !wheel.takeTick();
      if (timer === undefined && isLast) return false;
      if (timer === undefined) continue;
      // Node itself runs the ticks of the last callback: with the stacks of a program that has its own timers only.
      if (isLast && end !== Number.POSITIVE_INFINITY) return false;
      if (runTicks === undefined) return !isLast; // Node runs them between two turns
      runTicks();
      if (isLast) return false;
      // A microtask has thrown: Node has cleared its stack of async ids, and further callbacks would run in no
      // resource.
      if (executionAsyncId() !== asyncId) return true;
      if (calls % CALLS_PER_READING === 0) this.now = time.clock.read();
      if (calls >= TURN_CALLS && this.now >= end) return true;
      calls += 1;
    }
    return false;
  }

  /** Called when the client is closed: tells all timers, and releases them. */
  handBack(): void {
    const all = [...this.live()];
    for (const timer of all) {
      this.end(timer);
      if (!timer[REFED]) this.client.refs.unrefCount -= 1;
    }
    this.timers = [];
    this.contexts = undefined;
    for (const timer of all) timer[HANDED_BACK]();
  }

  /**
   * Takes the next entry of the queue; returns its timer, which runs now; undefined if that was cleared or refreshed.
   */
  private takeNext(): HomeTimer | undefined {
    const { wheel } = this;
    const { queue } = wheel;
    const at = queue.next;
    queue.next = at + 1;
    const slot = queue.slots[at];
    const timer = this.timers[slot];
    // cleared, or refreshed
    if (timer === undefined || wheel.words[2 * slot + 1] !== queue.orders[at]) return undefined;
    const deadline = wheel.dueDeadline(at);
    this.running = timer;
    this.runningContext = this.contexts?.[slot];
    this.remove(slot);
    this.label.deliver(max(0, this.now - deadline));
    this.client.delivery.noteHome(deadline, this.now, timer._onTimeout);
    return timer;
  }

  private comeBy(time: number): void {
    if (!this.time.isManual) this.client.turnClock.by(time);
  }

  private end(timer: HomeTimer): void {
    this.ended = (this.ended + 1) & 0x3fffffff;
    timer[SLOT] = -1 - this.ended;
  }

  private refusal(): CapacityExceededError {
    this.client.delivery.events.refused(undefined, this.capacity, this.time.clock.read());
    return new CapacityExceededError(this.capacity, undefined, 'The wheel of drop-in timers');
  }
}
