import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import { InvalidArgumentError } from '../errors.ts';
import { addClass, unlessOfOtherCopy } from '../own-copy.ts';
import type { WallClockTime } from '../time/wall-clock-time.ts';
import type { TimerId } from '../timer-id.ts';
import { cancelOne, FurtherIds } from './further-ids.ts';
import { INSPECT, shownAs } from './inspection.ts';
import type { RepeatOptions } from './repeat-options.ts';

/**
 * The key that is hashed to a shard: a connection's number, a tenant's name. Or a group, which is such a key and
 * remembers the timers that it is given to.
 */
export type WorkerHint = number | string | TimerGroup;

/**
 * The calls that start timers: of a {@link Scheduler}, and with a label of a {@link TimerLabel}.
 *
 * Each class that has them declares the overloads again, for TypeScript takes none over from an interface. What
 * declares them once is worse: a single signature lets a callback that needs its argument go without; a rest tuple
 * whose type depends on `A` refuses generic callers, and costs an array in each call; a property of type
 * `TimerStarts['schedule']`, or an interface merged with the class, is not checked to be there; and the place of a base
 * class is EventEmitter's in `Scheduler`.
 */
export interface TimerStarts {
  /**
   * Schedules a timer for a deadline, in ms on the clock of `now()`, on the shard to which the hint is hashed. Returns
   * its id. The callback gets the argument and the id; its ticks and microtasks run before the next callback, as with
   * Node's timers. Without a callback the timer is part of a 'fired' batch.
   * @throws InvalidDeadlineError, InvalidArgumentError (hint or callback), CapacityExceededError, AllocationError,
   * SchedulerClosedError.
   * @cost O(1). No allocation; but the first timer of a connected scheduler on a shard lays out a lane.
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
   * Schedules a timer for a time of the wall clock, by that clock's present state: if the clock is set later, the timer
   * does not move. See {@link WallClockTime} for what is a date. Throws like {@link schedule}.
   * @cost As `scheduleAfter`, and a reading of the wall clock.
   */
  scheduleAt(workerHint: WorkerHint, date: WallClockTime, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: WallClockTime,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  /**
   * Schedules a timer that repeats until it is cancelled, under one id. Its n-th call is due at start + first + (n − 1)
   * · period, in ms, never early and without drift. In its callback the timer is live and due at its next call; it may
   * be moved, which moves the grid, and cancelled. A callback that throws does not end it. Slack delays a call, not the
   * grid; a label's scale does not change a period. `scheduled` counts the timer once, `delivered` each call.
   * @throws as {@link schedule}; InvalidArgumentError for a period that is not finite or shorter than a tick, and for
   * an option; InvalidConfigError for an unknown one.
   * @cost As `scheduleAfter`, and 25 bytes per timer. A call costs a delivery and a command, and allocates nothing.
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

/** What the groups of a client on one placement have in common. @internal */
export interface GroupPlace {
  readonly client: Client;
  readonly placement: number;
  /** The bits of an id that are its slot. */
  readonly slotMask: number;
  /** The calls that start timers without a label. */
  readonly starts: TimerStarts;
}

const LOW = 2 ** 32;
const NO_ID = -1;

const idOf = (low: number, high: number): TimerId => (low >>> 0) + high * LOW;

let isGroup: (hint: object) => hint is TimerGroup;
let readPlacement: (group: TimerGroup, client: Client) => number | undefined;
let readIds: (group: TimerGroup) => readonly TimerId[];
let rememberElsewhere: (group: TimerGroup, id: TimerId) => void;
/** Lets the group remember a timer that was given to it; returns its id. @internal */
export let remember: (group: TimerGroup, id: TimerId) => TimerId;

/** The ids that a group remembers, live or stale: for tests. @internal */
export const rememberedIds = (group: TimerGroup): readonly TimerId[] => readIds(group);

/** Returns the shard of a hint. Throws InvalidArgumentError. @internal */
export function placementOf(hint: WorkerHint, client: Client): number {
  return typeof hint === 'object' ? placementInGroup(hint, client) : client.shardOf(hint);
}

/** The same of a hint that is an object: a group, or nothing that places a timer. @internal */
export function placementInGroup(hint: TimerGroup | null, client: Client): number {
  const group = hint !== null && isGroup(hint) ? hint : undefined;
  const placement = group === undefined ? undefined : readPlacement(group, client);
  if (placement !== undefined) return placement;
  const requirement = group === undefined ? 'a finite number, a string or a group' : 'a group of this scheduler';
  throw new InvalidArgumentError('workerHint', unlessOfOtherCopy(hint, `must be ${requirement}`), hint);
}

/**
 * A hint that remembers: timers that end together, such as those of a connection. Every call that takes one hint takes
 * a group, whatever the label. `cancelAll()` ends what is live of them; a `sleep` or `withTimeout` among them rejects
 * with AbortError, a signal of `signalAfter` aborts with one. Ids belong to the scheduler: move and cancel single
 * timers there.
 *
 * A timer that ends need not be removed: its id is stale, no id is given twice, and cancelling a stale id does nothing.
 * New timers take the places of stale ids. So a group is an object of 112 bytes, beyond four live timers with an array
 * of a number for each, and costs O(1) per call.
 */
export class TimerGroup implements Disposable {
  readonly workerHint: number | string;
  readonly #place: GroupPlace;
  // Where each connection has a group, to read the group from memory is most of what it costs. So four ids are numbers
  // in it, by halves: a whole id, or an array, would be another object to read; a private method would be another
  // field.
  //
  //     low, high    0 to 3: an id, or NO_ID
  //     further      the ids for which there was no place. While there are any, new ones join them
  //
  // An id in a place whose slot a new timer has is stale: nothing else needs to be read to know it.
  // Invariant: every live timer of the group is in a place or among the further ids.
  #low0 = NO_ID;
  #high0 = NO_ID;
  #low1 = NO_ID;
  #high1 = NO_ID;
  #low2 = NO_ID;
  #high2 = NO_ID;
  #low3 = NO_ID;
  #high3 = NO_ID;
  #further: FurtherIds | undefined = undefined;

  static {
    addClass(TimerGroup);
    isGroup = (hint): hint is TimerGroup => #place in hint;
    readPlacement = (group, client) => (group.#place.client === client ? group.#place.placement : undefined);
    readIds = (group) =>
      [
        idOf(group.#low0, group.#high0),
        idOf(group.#low1, group.#high1),
        idOf(group.#low2, group.#high2),
        idOf(group.#low3, group.#high3),
        ...(group.#further?.all() ?? []),
      ].filter((id) => id !== NO_ID);
    remember = (group, id) => {
      const { client, slotMask } = group.#place;
      const further = group.#further;
      if (further !== undefined && further.length > 0) {
        further.add(id, client);
        return id;
      }
      const low = id | 0;
      const high = (id / LOW) | 0;
      if (((low ^ group.#low0) & slotMask) === 0) {
        group.#low0 = low;
        group.#high0 = high;
      } else if (((low ^ group.#low1) & slotMask) === 0) {
        group.#low1 = low;
        group.#high1 = high;
      } else if (((low ^ group.#low2) & slotMask) === 0) {
        group.#low2 = low;
        group.#high2 = high;
      } else if (((low ^ group.#low3) & slotMask) === 0) {
        group.#low3 = low;
        group.#high3 = high;
      } else {
        rememberElsewhere(group, id);
      }
      return id;
    };
    rememberElsewhere = (group, id) => {
      const { client } = group.#place;
      const low = id | 0;
      const high = (id / LOW) | 0;
      if (!client.has(idOf(group.#low0, group.#high0))) {
        group.#low0 = low;
        group.#high0 = high;
      } else if (!client.has(idOf(group.#low1, group.#high1))) {
        group.#low1 = low;
        group.#high1 = high;
      } else if (!client.has(idOf(group.#low2, group.#high2))) {
        group.#low2 = low;
        group.#high2 = high;
      } else if (!client.has(idOf(group.#low3, group.#high3))) {
        group.#low3 = low;
        group.#high3 = high;
      } else {
        group.#further ??= new FurtherIds();
        group.#further.add(id, client);
      }
    };
  }

  /** Use {@link Scheduler.group}. @internal */
  constructor(place: GroupPlace, workerHint: number | string) {
    this.#place = place;
    this.workerHint = workerHint;
  }

  /** Number of live timers of the group. Checks each recent id. */
  get size(): number {
    const { client } = this.#place;
    if (client.isClosed) return 0;
    let size = this.#further === undefined ? 0 : this.#further.dropStale(client);
    if (client.has(idOf(this.#low0, this.#high0))) size += 1;
    if (client.has(idOf(this.#low1, this.#high1))) size += 1;
    if (client.has(idOf(this.#low2, this.#high2))) size += 1;
    if (client.has(idOf(this.#low3, this.#high3))) size += 1;
    return size;
  }

  /** Works like {@link TimerStarts.schedule}, with the group as hint. */
  schedule(deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#place.starts.schedule(this, deadline, callback, argument as A);
  }

  /** Works like {@link TimerStarts.scheduleAfter}, with the group as hint. */
  scheduleAfter(delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#place.starts.scheduleAfter(this, delay, callback, argument as A);
  }

  /** Works like {@link TimerStarts.scheduleAt}, with the group as hint. */
  scheduleAt(date: WallClockTime, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(date: WallClockTime, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAt<A>(date: WallClockTime, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#place.starts.scheduleAt(this, date, callback, argument as A);
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
    return this.#place.starts.scheduleEvery(this, period, callback, argument as A, options);
  }

  /**
   * Cancels all live timers of the group; returns how many there were. The group can be used again. Never throws.
   * @cost O(timers of the group).
   */
  cancelAll(): number {
    const { client } = this.#place;
    const further = this.#further;
    const id0 = idOf(this.#low0, this.#high0);
    const id1 = idOf(this.#low1, this.#high1);
    const id2 = idOf(this.#low2, this.#high2);
    const id3 = idOf(this.#low3, this.#high3);
    // All are forgotten before one is cancelled: where somebody waits, code of the program may run, and start timers of
    // this group.
    this.#low0 = NO_ID;
    this.#high0 = NO_ID;
    this.#low1 = NO_ID;
    this.#high1 = NO_ID;
    this.#low2 = NO_ID;
    this.#high2 = NO_ID;
    this.#low3 = NO_ID;
    this.#high3 = NO_ID;
    let cancelled = further === undefined ? 0 : further.cancelAll(client);
    cancelled += cancelOne(client, id0) + cancelOne(client, id1);
    cancelled += cancelOne(client, id2) + cancelOne(client, id3);
    return cancelled;
  }

  [Symbol.dispose](): void {
    this.cancelAll();
  }

  [INSPECT](): object {
    const { workerHint, size } = this;
    return shownAs(this, { workerHint, size });
  }
}
