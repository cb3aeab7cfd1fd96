import type { TimerCallback } from '../client/client-lane.ts';
import type { WorkerHint } from '../client/placement.ts';
import { delayUntil } from '../client/wall-clock.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';

/** The calls by which a group starts timers. */
export interface StartTimers {
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
}

/** The parts of a scheduler that a group needs. */
export interface GroupTimers extends StartTimers {
  readonly size: number;
  has(id: TimerId): boolean;
  cancelMany(ids: readonly TimerId[]): number;
}

/** Ids that a group remembers before it first drops stale ones. */
const FIRST_LOOK = 8;

let readIds: (group: TimerGroup) => readonly TimerId[];

/** The ids that a group remembers, live or stale: for tests. @internal */
export const rememberedIds = (group: TimerGroup): readonly TimerId[] => readIds(group);

/**
 * The timers of one connection, or of anything that ends as a whole: `cancelAll()` cancels those that are live. Ids belong to the
 * scheduler: move and cancel single timers there.
 *
 * The group remembers only ids. A timer that ends need not be removed: its id is stale, no id is given twice, and cancelling a
 * stale id does nothing. Stale ids are dropped when they may be more than half of all. So a group costs a number per live timer,
 * and O(1) per call.
 *
 * Invariant: every live timer of the group is in `ids`; ids.length < dropAt <= max(FIRST_LOOK, 2 × live at the last look).
 */
export class TimerGroup implements Disposable {
  readonly workerHint: WorkerHint;
  readonly #scheduler: GroupTimers;
  readonly #starts: StartTimers;
  #ids: TimerId[] = [];
  #dropAt = FIRST_LOOK;

  static {
    readIds = (group) => group.#ids;
  }

  /** Use {@link Scheduler.group}. `starts`: the scheduler, or its calls with their own slack. @internal */
  constructor(scheduler: GroupTimers, workerHint: WorkerHint, starts: StartTimers = scheduler) {
    this.#scheduler = scheduler;
    this.#starts = starts;
    this.workerHint = workerHint;
  }

  /** Number of live timers of the group. Checks each recent id. */
  get size(): number {
    return this.#live().length;
  }

  /** Works like {@link Scheduler.schedule}, with the group's hint. */
  schedule(deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#remember(this.#starts.schedule(this.workerHint, deadline, callback, argument as A));
  }

  /** Works like {@link Scheduler.scheduleAfter}, with the group's hint. */
  scheduleAfter(delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#remember(this.#starts.scheduleAfter(this.workerHint, delay, callback, argument as A));
  }

  /** Works like {@link Scheduler.scheduleAt}, with the group's hint. */
  scheduleAt(date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(date: Date | number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAt<A>(date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.scheduleAfter(delayUntil(date), callback, argument as A);
  }

  /**
   * Cancels all live timers of the group; returns how many there were. The group can be used again. Never throws.
   * @cost O(timers of the group).
   */
  cancelAll(): number {
    const live = this.#live();
    this.#ids = [];
    this.#dropAt = FIRST_LOOK;
    return live.length === 0 ? 0 : this.#scheduler.cancelMany(live);
  }

  [Symbol.dispose](): void {
    this.cancelAll();
  }

  [INSPECT](): object {
    const { workerHint, size } = this;
    return shownAs(this, { workerHint, size });
  }

  #remember(id: TimerId): TimerId {
    this.#ids.push(id);
    if (this.#ids.length >= this.#dropAt) {
      this.#ids = this.#live();
      this.#dropAt = Math.max(FIRST_LOOK, this.#ids.length * 2);
    }
    return id;
  }

  #live(): TimerId[] {
    if (this.#scheduler.size === 0) return []; // also after close(): nothing is live then
    return this.#ids.filter((id) => this.#scheduler.has(id));
  }
}
