import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';
import type { RepeatOptions } from './repeat-options.ts';

/** The calls by which a group starts timers: `TimerStarts`. */
interface GroupStarts {
  schedule<A>(hint: TimerGroup, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAfter<A>(hint: TimerGroup, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleAt<A>(hint: TimerGroup, date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId;
  scheduleEvery<A>(
    hint: TimerGroup,
    period: number,
    callback?: TimerCallback<A>,
    argument?: A,
    options?: RepeatOptions,
  ): TimerId;
}

/** Ids that a group remembers before it first drops stale ones. */
const FIRST_LOOK = 8;

/**
 * The ids of a group's timers, live or stale. A timer that ends need not be removed: its id is stale, no id is given twice, and
 * cancelling a stale id does nothing. Stale ids are dropped when they may be more than half of all. So a group costs a number per
 * live timer, and O(1) per call.
 *
 * Invariant: every live timer of the group is in `ids`; ids.length < dropAt <= max(FIRST_LOOK, 2 × live at the last look).
 * @internal
 */
export class Members {
  readonly placement: number;
  ids: TimerId[] = [];
  private dropAt = FIRST_LOOK;
  private readonly client: Client;

  constructor(client: Client, placement: number) {
    this.client = client;
    this.placement = placement;
  }

  remember(id: TimerId): TimerId {
    if (this.ids.push(id) >= this.dropAt) {
      this.ids = this.live();
      this.dropAt = Math.max(FIRST_LOOK, this.ids.length * 2);
    }
    return id;
  }

  live(): TimerId[] {
    const { client } = this;
    return client.isClosed ? [] : this.ids.filter((id) => client.has(id));
  }

  cancelAll(): number {
    const ids = this.live();
    this.ids = [];
    this.dropAt = FIRST_LOOK;
    let cancelled = 0;
    for (const id of ids) if (!this.client.isClosed && this.client.cancelWaiting(id)) cancelled += 1;
    return cancelled;
  }

  isOf(client: Client): boolean {
    return this.client === client;
  }
}

let readMembers: (group: object) => Members | undefined;

/** The ids that a group remembers, live or stale: for tests. @internal */
export const rememberedIds = (group: TimerGroup): readonly TimerId[] => readMembers(group)?.ids ?? [];

/** Returns what a group given as hint remembers by. Throws InvalidArgumentError if it is not a group of the client. @internal */
export function memberOf(hint: unknown, client: Client): Members {
  const members = typeof hint === 'object' && hint !== null ? readMembers(hint) : undefined;
  if (members?.isOf(client)) return members;
  const requirement = members === undefined ? 'a finite number, a string or a group' : 'a group of this scheduler';
  throw new InvalidArgumentError('workerHint', `must be ${requirement}`, hint);
}

/**
 * A hint that remembers: timers that end together, such as those of a connection. Wherever a call takes a hint it takes a group,
 * whatever the label. `cancelAll()` ends what is live of them; a `sleep` or `withTimeout` among them rejects with AbortError. Ids belong
 * to the scheduler: move and cancel single timers there.
 */
export class TimerGroup implements Disposable {
  readonly workerHint: number | string;
  readonly #members: Members;
  readonly #starts: GroupStarts;

  static {
    readMembers = (group) => (#members in group ? group.#members : undefined);
  }

  /** Use {@link Scheduler.group}. Throws InvalidArgumentError. @internal */
  constructor(client: Client, starts: GroupStarts, workerHint: number | string) {
    this.#members = new Members(client, client.shardOf(workerHint));
    this.#starts = starts;
    this.workerHint = workerHint;
  }

  /** Number of live timers of the group. Checks each recent id. */
  get size(): number {
    return this.#members.live().length;
  }

  /** Works like {@link Scheduler.schedule}, with the group as hint. */
  schedule(deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.schedule(this, deadline, callback, argument);
  }

  /** Works like {@link Scheduler.scheduleAfter}, with the group as hint. */
  scheduleAfter(delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.scheduleAfter(this, delay, callback, argument);
  }

  /** Works like {@link Scheduler.scheduleAt}, with the group as hint. */
  scheduleAt(date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(date: Date | number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAt<A>(date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.#starts.scheduleAt(this, date, callback, argument);
  }

  /** Works like {@link Scheduler.scheduleEvery}, with the group as hint. */
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
    return this.#starts.scheduleEvery(this, period, callback, argument, options);
  }

  /**
   * Cancels all live timers of the group; returns how many there were. The group can be used again. Never throws.
   * @cost O(timers of the group).
   */
  cancelAll(): number {
    return this.#members.cancelAll();
  }

  [Symbol.dispose](): void {
    this.cancelAll();
  }

  [INSPECT](): object {
    const { workerHint, size } = this;
    return shownAs(this, { workerHint, size });
  }
}
