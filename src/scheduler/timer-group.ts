import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';
import type { RepeatOptions } from './repeat-options.ts';

/**
 * The key that is hashed to a shard: a connection's number, a tenant's name. Or a group, which is such a key and remembers the
 * timers that it is given to.
 */
export type WorkerHint = number | string | TimerGroup;

/** The calls that start timers: of a {@link Scheduler}, and with a label of a {@link TimerLabel}. */
export interface TimerStarts {
  /**
   * Schedules a timer for a deadline, in ms on the clock of `now()`, on the shard to which the hint is hashed. Returns its id.
   * The callback gets the argument and the id; its ticks and microtasks run before the next callback, as with Node's timers.
   * Without a callback the timer is part of a 'fired' batch.
   * @throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError.
   * @cost O(1). No allocation, but for the first timer on a shard, which lays out a lane.
   */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  /**
   * Schedules a timer to fire when at least `delay` ms have passed since this call. Throws like {@link schedule}.
   * @cost As `schedule`, and a reading of the clock.
   */
  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  /**
   * Schedules a timer for a time of the wall clock, a Date or ms since 1970, by that clock's present state: if the clock is set
   * later, the timer does not move. Throws like {@link schedule}.
   * @cost As `scheduleAfter`, and a reading of the wall clock.
   */
  scheduleAt(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: Date | number,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  /**
   * Schedules a timer that repeats until it is cancelled, under one id. Its n-th call is due at start + first + (n − 1) · period,
   * in ms, never early and without drift. In its callback the timer is live and due at its next call; it may be moved, which moves the
   * grid, and cancelled. A callback that throws does not end it. Slack delays a call, not the grid; a label's scale does not
   * change a period. `scheduled` counts the timer once, `delivered` each call.
   * @throws as {@link schedule}; InvalidArgumentError for a period that is not finite or shorter than a tick.
   * @cost As `scheduleAfter`, and 17 bytes per timer. A call costs a delivery and a command, and allocates nothing.
   */
  scheduleEvery(
    workerHint: WorkerHint,
    period: number,
    callback?: TimerCallback<undefined>,
    argument?: undefined,
    options?: RepeatOptions,
  ): TimerId;
  scheduleEvery<A>(
    workerHint: WorkerHint,
    period: number,
    callback: TimerCallback<A> | undefined,
    argument: A,
    options?: RepeatOptions,
  ): TimerId;
}

/** Ids that a group remembers before it first drops stale ones. */
const FIRST_LOOK = 16;

let isGroup: (hint: object) => hint is TimerGroup;
let readPlacement: (group: TimerGroup, client: Client) => number | undefined;
let readIds: (group: TimerGroup) => readonly TimerId[];
/** Lets the group remember a timer that was given to it; returns its id. @internal */
export let remember: (group: TimerGroup, id: TimerId) => TimerId;

/** Called when the hint of a wait is a group, which then has to end it. @internal */
export let expectWaits: (hint: unknown) => void;

/** The ids that a group remembers, live or stale: for tests. @internal */
export const rememberedIds = (group: TimerGroup): readonly TimerId[] => readIds(group);

/** Returns the shard of a hint. Throws InvalidArgumentError. @internal */
export function placementOf(hint: WorkerHint, client: Client): number {
  return typeof hint === 'object' ? placementIn(hint, client) : client.shardOf(hint);
}

function placementIn(hint: TimerGroup | null, client: Client): number {
  const group = hint !== null && isGroup(hint) ? hint : undefined;
  const placement = group === undefined ? undefined : readPlacement(group, client);
  if (placement !== undefined) return placement;
  const requirement = group === undefined ? 'a finite number, a string or a group' : 'a group of this scheduler';
  throw new InvalidArgumentError('workerHint', `must be ${requirement}`, hint);
}

/**
 * A hint that remembers: timers that end together, such as those of a connection. Wherever a call takes a hint it takes a group,
 * whatever the label. `cancelAll()` ends what is live of them; a `sleep` or `withTimeout` among them rejects with AbortError. Ids belong
 * to the scheduler: move and cancel single timers there.
 *
 * A timer that ends need not be removed: its id is stale, no id is given twice, and cancelling a stale id does nothing. Stale ids are
 * dropped when they may be more than half of all. So a group costs a number per live timer, and O(1) per call.
 *
 * Invariant: every live timer of the group is among the first `length` ids; length < dropAt <= max(FIRST_LOOK, 2 × live at the last
 * look). The array is kept when the group is emptied: a connection after the other allocates nothing.
 */
export class TimerGroup implements Disposable {
  readonly workerHint: number | string;
  readonly #placement: number;
  readonly #client: Client;
  readonly #starts: TimerStarts;
  readonly #ids: TimerId[] = [];
  #length = 0;
  #dropAt = FIRST_LOOK;
  /** Whether somebody may wait for one of them. */
  #hasWaits = false;

  static {
    isGroup = (hint): hint is TimerGroup => #client in hint;
    readPlacement = (group, client) => (group.#client === client ? group.#placement : undefined);
    readIds = (group) => group.#ids.slice(0, group.#length);
    expectWaits = (hint) => {
      if (typeof hint === 'object' && hint !== null && isGroup(hint)) hint.#hasWaits = true;
    };
    remember = (group, id) => {
      group.#ids[group.#length++] = id;
      if (group.#length >= group.#dropAt) group.#dropStale();
      return id;
    };
  }

  /** Use {@link Scheduler.group}. Throws InvalidArgumentError. @internal */
  constructor(client: Client, starts: TimerStarts, workerHint: number | string) {
    this.#client = client;
    this.#starts = starts;
    this.#placement = client.shardOf(workerHint);
    this.workerHint = workerHint;
  }

  /** Number of live timers of the group. Checks each recent id. */
  get size(): number {
    this.#dropStale();
    return this.#length;
  }

  /** Works like {@link TimerStarts.schedule}, with the group as hint. */
  schedule(deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.schedule(this, deadline, callback, argument as A);
  }

  /** Works like {@link TimerStarts.scheduleAfter}, with the group as hint. */
  scheduleAfter(delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.scheduleAfter(this, delay, callback, argument as A);
  }

  /** Works like {@link TimerStarts.scheduleAt}, with the group as hint. */
  scheduleAt(date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(date: Date | number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAt<A>(date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.scheduleAt(this, date, callback, argument as A);
  }

  /** Works like {@link TimerStarts.scheduleEvery}, with the group as hint. */
  scheduleEvery(
    period: number,
    callback?: TimerCallback<undefined>,
    argument?: undefined,
    options?: RepeatOptions,
  ): TimerId;
  scheduleEvery<A>(
    period: number,
    callback: TimerCallback<A> | undefined,
    argument: A,
    options?: RepeatOptions,
  ): TimerId;
  scheduleEvery<A>(period: number, callback?: TimerCallback<A>, argument?: A, options?: RepeatOptions): TimerId {
    return this.#starts.scheduleEvery(this, period, callback, argument as A, options);
  }

  /**
   * Cancels all live timers of the group; returns how many there were. The group can be used again. Never throws.
   * @cost O(timers of the group).
   */
  cancelAll(): number {
    const client = this.#client;
    // With waits code of the program may run, and start timers of this group.
    const ids = this.#hasWaits ? readIds(this) : this.#ids;
    const length = this.#length;
    this.#length = 0;
    this.#dropAt = FIRST_LOOK;
    let cancelled = 0;
    for (let i = 0; i < length && !client.isClosed; i++) {
      const isLive = this.#hasWaits ? client.cancelWaiting(ids[i]) : client.cancel(ids[i]);
      if (isLive) cancelled += 1;
    }
    return cancelled;
  }

  [Symbol.dispose](): void {
    this.cancelAll();
  }

  [INSPECT](): object {
    const { workerHint, size } = this;
    return shownAs(this, { workerHint, size });
  }

  #dropStale(): void {
    const client = this.#client;
    const ids = this.#ids;
    let live = 0;
    for (let i = 0; i < this.#length && !client.isClosed; i++) if (client.has(ids[i])) ids[live++] = ids[i];
    this.#length = live;
    this.#dropAt = Math.max(FIRST_LOOK, live * 2);
  }
}
