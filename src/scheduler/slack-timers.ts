import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { WorkerHint } from '../client/placement.ts';
import { delayUntil } from '../client/wall-clock.ts';
import { InvalidArgumentError, InvalidConfigError } from '../errors.ts';
import { MAX_SLACK } from '../lane/due-word.ts';
import { TickScale } from '../time/tick-scale.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';
import { type GroupTimers, TimerGroup } from './timer-group.ts';

/** The parts of a scheduler that calls with their own slack need. */
export interface SlackScheduler extends GroupTimers {
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array;
  reschedule(id: TimerId, deadline: number): boolean;
  rescheduleAfter(id: TimerId, delay: number): boolean;
  shardOf(workerHint: WorkerHint): number;
}

/**
 * The calls of a scheduler that set a timer's deadline, with their own slack: see {@link Scheduler.withSlack}. Ids belong to the
 * scheduler. The slack belongs to the call, not to the timer: each move sets it again.
 */
export class SlackTimers {
  /** In ms. */
  readonly slack: number;
  readonly #scheduler: SlackScheduler;
  readonly #client: Client;
  readonly #ticks: number;

  /** Use {@link Scheduler.withSlack}. Throws InvalidArgumentError. @internal */
  constructor(scheduler: SlackScheduler, client: Client, slack: number) {
    this.#ticks = requireSlack(slack, client.scale);
    this.slack = slack;
    this.#scheduler = scheduler;
    this.#client = client;
  }

  /** Works like {@link Scheduler.schedule}. */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    const before = this.#begin();
    try {
      return this.#scheduler.schedule(workerHint, deadline, callback, argument as A);
    } finally {
      this.#end(before);
    }
  }

  /** Works like {@link Scheduler.scheduleAfter}. */
  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    const before = this.#begin();
    try {
      return this.#scheduler.scheduleAfter(workerHint, delay, callback, argument as A);
    } finally {
      this.#end(before);
    }
  }

  /** Works like {@link Scheduler.scheduleAt}. */
  scheduleAt(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: Date | number,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  scheduleAt<A>(workerHint: WorkerHint, date: Date | number, callback?: TimerCallback<A>, argument?: A): TimerId {
    return this.scheduleAfter(workerHint, delayUntil(date), callback, argument as A);
  }

  /** Works like {@link Scheduler.scheduleMany}. */
  scheduleMany(workerHints: ArrayLike<number>, deadlines: ArrayLike<number>, ids?: Float64Array): Float64Array {
    const before = this.#begin();
    try {
      return this.#scheduler.scheduleMany(workerHints, deadlines, ids);
    } finally {
      this.#end(before);
    }
  }

  /** Works like {@link Scheduler.reschedule}, for a timer scheduled with any slack. */
  reschedule(id: TimerId, deadline: number): boolean {
    const before = this.#begin();
    try {
      return this.#scheduler.reschedule(id, deadline);
    } finally {
      this.#end(before);
    }
  }

  /** Works like {@link Scheduler.rescheduleAfter}, for a timer scheduled with any slack. */
  rescheduleAfter(id: TimerId, delay: number): boolean {
    const before = this.#begin();
    try {
      return this.#scheduler.rescheduleAfter(id, delay);
    } finally {
      this.#end(before);
    }
  }

  /** Works like {@link Scheduler.group}, for timers with this slack. */
  group(workerHint: WorkerHint): TimerGroup {
    this.#scheduler.shardOf(workerHint);
    return new TimerGroup(this.#scheduler, workerHint, this);
  }

  [INSPECT](): object {
    return shownAs(this, { slack: this.slack });
  }

  /** Sets the slack; returns the one to restore. */
  #begin(): number {
    return this.#client.time.beginSlack(this.#ticks);
  }

  #end(before: number): void {
    this.#client.time.setSlack(before);
  }
}

/**
 * Runs a call that sets deadlines with this slack in ms, or with the client's own. Throws InvalidArgumentError.
 * @internal
 */
export function withSlack<T>(client: Client, slack: number | undefined, call: () => T): T {
  if (slack === undefined) return call();
  const { time } = client;
  const before = time.beginSlack(requireSlack(slack, client.scale));
  try {
    return call();
  } finally {
    time.setSlack(before);
  }
}

/** Converts a slack in ms to whole ticks, rounded down so that no timer is later than that. Undefined if it is invalid. */
function ticksOf(slack: unknown, scale: TickScale): number | undefined {
  if (typeof slack !== 'number' || !(slack >= 0)) return undefined;
  const ticks = scale.tickAtOrBefore(slack);
  return ticks <= MAX_SLACK ? ticks : undefined;
}

const requirement = (scale: TickScale): string => `must be ms from 0 to ${scale.timeOf(MAX_SLACK)}`;

/** Returns the slack of a call in ticks. Throws InvalidArgumentError. @internal */
export function requireSlack(slack: unknown, scale: TickScale): number {
  const ticks = ticksOf(slack, scale);
  if (ticks === undefined) throw new InvalidArgumentError('slack', requirement(scale), slack);
  return ticks;
}

/** Returns the option of a scheduler in ticks of `tick` ms. Throws InvalidConfigError. @internal */
export function resolveSlack(slack: unknown, tick: number): number {
  const scale = new TickScale(tick);
  const ticks = ticksOf(slack, scale);
  if (ticks === undefined) throw new InvalidConfigError('options.slack', requirement(scale), slack);
  return ticks;
}
