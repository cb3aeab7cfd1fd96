import { requireCallback, requireDeadline, requireDelay, requireTimer } from '../client/arguments.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { Label } from '../client/label.ts';
import type { WorkerHint } from '../client/placement.ts';
import { requireRoom } from '../client/refusal.ts';
import { delayUntil } from '../client/wall-clock.ts';
import { InvalidArgumentError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';
import { requireOpen } from './require-open.ts';
import { requireSlack } from './slack-timers.ts';
import { type GroupTimers, TimerGroup } from './timer-group.ts';

/** The parts of a scheduler that labelled timers need. */
interface LabelScheduler extends GroupTimers {
  shardOf(workerHint: WorkerHint): number;
}

export interface LabelOptions {
  /**
   * Makes the label's timers scaled. Each gets at least this many ms from its call, or its whole delay if that is shorter; {@link
   * Scheduler.setScale} sets the share of the rest. Default: not scaled.
   */
  min?: number;
  /** How much later timers of these calls may come, in ms. Default: the scheduler's slack. */
  slack?: number;
}

/**
 * The calls of a scheduler that start timers, with a label. `stats()`, metrics and `timers()` report by label. Ids belong to the
 * scheduler: its `reschedule` and `cancel` work for these timers too. A timer keeps its label.
 */
export class LabelledTimers {
  readonly #scheduler: LabelScheduler;
  readonly #client: Client;
  readonly #code: number;
  readonly #label: Label;
  /** In ticks. */
  readonly #slack: number | undefined;

  /** Use {@link Scheduler.label}. Throws InvalidArgumentError. @internal */
  constructor(scheduler: LabelScheduler, client: Client, name: string, options: LabelOptions = {}) {
    if (typeof options !== 'object' || options === null) {
      throw new InvalidArgumentError('options', 'must be an object', options);
    }
    refuseUnknown(options, { min: 0, slack: 0 } satisfies Record<keyof LabelOptions, 0>);
    this.#scheduler = scheduler;
    this.#client = client;
    this.#code = client.labels.codeOf(name, options.min);
    this.#label = client.labels.labelOf(this.#code);
    this.#slack = options.slack === undefined ? undefined : requireSlack(options.slack, client.scale);
  }

  /** '(other)' if the client has more labels than it counts separately. */
  get label(): string {
    return this.#label.name;
  }

  /** In ms; undefined if the timers are not scaled. */
  get min(): number | undefined {
    return this.#label.min;
  }

  /** The factor of the last {@link Scheduler.setScale}, from 0 to 1; 1 before the first. */
  get factor(): number {
    return this.#label.factor;
  }

  /** Live timers with this label. */
  get size(): number {
    return this.#client.isClosed ? 0 : this.#label.size;
  }

  /** Works like {@link Scheduler.schedule}. */
  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'schedule');
    requireDeadline(deadline);
    requireTimer(deadline, callback);
    const now = this.#label.min === undefined ? 0 : this.#client.clock.exact();
    return this.#start(workerHint, deadline, callback, argument, now);
  }

  /** Works like {@link Scheduler.scheduleAfter}. */
  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'scheduleAfter');
    requireDelay(delay);
    requireCallback(callback);
    const now = this.#client.clock.exact();
    return this.#start(workerHint, now + delay, callback, argument, now);
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

  /** Works like {@link Scheduler.group}, for timers with this label. */
  group(workerHint: WorkerHint): TimerGroup {
    this.#scheduler.shardOf(workerHint);
    return new TimerGroup(this.#scheduler, workerHint, this);
  }

  [INSPECT](): object {
    const { label, min, factor, size } = this;
    return shownAs(this, min === undefined ? { label, size } : { label, min, factor, size });
  }

  /** `now` in ms, used if the label is scaled. */
  #start(hint: WorkerHint, deadline: number, callback: unknown, argument: unknown, now: number): TimerId {
    const [client, label] = [this.#client, this.#label];
    const context = callback === undefined ? undefined : client.context();
    const placement = client.shardOf(hint);
    if (client.isLimited) requireRoom(client);
    const lane = client.laneAt(placement);
    const labels = client.labels.of(lane, label);
    const earliest = label.min === undefined ? deadline : now + label.min;
    const before = this.#slack === undefined ? undefined : client.time.beginSlack(this.#slack);
    try {
      const slot = client.schedule(lane, label.deadlineOf(earliest, deadline), callback, argument, context);
      labels.begin(slot, this.#code, earliest, deadline);
      return lane.table.idOf(slot);
    } finally {
      if (before !== undefined) client.time.setSlack(before);
    }
  }
}
