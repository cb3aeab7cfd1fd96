import { delayUntil, requireCallback, requireDelay, requireTimer, warnOfOptionsAsArgument } from '../arguments.ts';
import type { Client } from '../client/client.ts';
import type { TimerCallback } from '../client/client-lane.ts';
import type { LabelOptions } from '../client/labels/label-registry.ts';
import type { LabelScales } from '../client/labels/label-scales.ts';
import type { Label } from '../client/labels/slot-labels.ts';
import { InvalidArgumentError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';
import { addClass, unlessOfOtherCopy } from '../own-copy.ts';
import type { WallClockTime } from '../time/wall-clock-time.ts';
import type { TimerId } from '../timer-id.ts';
import { INSPECT, shownAs } from './inspection.ts';
import { REPEAT_OPTIONS, type RepeatOptions, requirePeriod, resolveRepeatOptions } from './repeat-options.ts';
import { requireOpen, throwClosed } from './require-open.ts';
import { placementInGroup, placementOf, remember, type TimerStarts, type WorkerHint } from './timer-group.ts';

export interface ScaleOptions {
  /** In every client of the scheduler that has the label, or gets it later. Default false: in this one. */
  everywhere?: boolean;
}

let readClient: (label: object) => Client | undefined;

/** The client of a label. @internal */
export const clientOf = (label: TimerLabel): Client => readClient(label) as Client;

/**
 * Returns a label given as an option, or else the plain one. Throws InvalidArgumentError if it is not of the same
 * client. @internal
 */
export function labelOr(plain: TimerLabel, label: unknown): TimerLabel {
  if (label === undefined) return plain;
  const client = typeof label === 'object' && label !== null ? readClient(label) : undefined;
  if (client === clientOf(plain)) return label as TimerLabel;
  const requirement = 'must be a label of this scheduler: scheduler.label(name)';
  throw new InvalidArgumentError('options.label', unlessOfOtherCopy(label, requirement), label);
}

/**
 * Timers of one kind: counted apart, scaled together, late together. See {@link Scheduler.label}. `stats()`, metrics
 * and `liveTimers()` report by label. Ids belong to the scheduler, whose calls work for these timers too. A timer keeps
 * its label.
 */
export class TimerLabel implements TimerStarts {
  readonly #client: Client;
  readonly #label: Label;
  readonly #scales: LabelScales;

  static {
    addClass(TimerLabel);
    readClient = (label) => (#client in label ? label.#client : undefined);
  }

  /** @internal */
  constructor(client: Client, label: Label, scales: LabelScales) {
    this.#client = client;
    this.#label = label;
    this.#scales = scales;
  }

  schedule(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<undefined>): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  schedule<A>(workerHint: WorkerHint, deadline: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    const client = this.#client;
    if (client.isClosed === true) throwClosed('schedule');
    requireTimer(deadline, callback);
    const isGroup = typeof workerHint === 'object';
    const placement = isGroup ? placementInGroup(workerHint, client) : client.shardOf(workerHint);
    const id = client.start(this.#label, placement, deadline, callback, argument);
    return isGroup ? remember(workerHint, id) : id;
  }

  scheduleAfter(workerHint: WorkerHint, delay: number, callback?: TimerCallback<undefined>): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback: TimerCallback<A> | undefined, argument: A): TimerId;
  scheduleAfter<A>(workerHint: WorkerHint, delay: number, callback?: TimerCallback<A>, argument?: A): TimerId {
    const client = this.#client;
    if (client.isClosed === true) throwClosed('scheduleAfter');
    if (
      typeof delay !== 'number' ||
      delay - delay !== 0 ||
      (callback !== undefined && typeof callback !== 'function')
    ) {
      requireDelay(delay);
      requireCallback(callback);
    }
    const isGroup = typeof workerHint === 'object';
    // Before the clock: its reading waits until all before it is read, so a group comes from memory beside what else is
    // on its way.
    const placement = isGroup ? placementInGroup(workerHint, client) : client.shardOf(workerHint);
    const id = client.start(this.#label, placement, client.clock.read() + delay, callback, argument);
    return isGroup ? remember(workerHint, id) : id;
  }

  scheduleAt(workerHint: WorkerHint, date: WallClockTime, callback?: TimerCallback<undefined>): TimerId;
  scheduleAt<A>(
    workerHint: WorkerHint,
    date: WallClockTime,
    callback: TimerCallback<A> | undefined,
    argument: A,
  ): TimerId;
  scheduleAt<A>(workerHint: WorkerHint, date: WallClockTime, callback?: TimerCallback<A>, argument?: A): TimerId {
    requireOpen(this.#client, 'scheduleAt');
    return this.scheduleAfter(workerHint, delayUntil(date), callback, argument as A);
  }

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
  scheduleEvery(hint: WorkerHint, period: number, callback?: unknown, argument?: unknown, options?: RepeatOptions) {
    const client = this.#client;
    requireOpen(client, 'scheduleEvery');
    requireCallback(callback);
    requirePeriod(period, client.scale.timeOf(1));
    if (options === undefined && argument !== undefined) warnOfOptionsAsArgument(argument, REPEAT_OPTIONS);
    const repetition = resolveRepeatOptions(period, options);
    requireOpen(client, 'scheduleEvery'); // a getter of the options may have closed it
    const placement = placementOf(hint, client);
    const id = client.startRepeating(this.#label, placement, repetition, callback, argument);
    return typeof hint === 'object' ? remember(hint, id) : id;
  }

  /** '(other)' if the client has more labels than it counts separately. */
  get name(): string {
    return this.#label.name;
  }

  /** Live timers with this label. */
  get size(): number {
    return this.#client.isClosed ? 0 : this.#label.size;
  }

  /** In ms; undefined if the timers are not scaled. */
  get min(): number | undefined {
    return this.#label.min;
  }

  /** In ms, rounded down to whole ticks. */
  get slack(): number {
    return this.#client.scale.timeOf(this.#label.slack);
  }

  /** Whether its timers hold the process. */
  get ref(): boolean {
    return this.#label.ref;
  }

  /** The factor of the last {@link setScale}, from 0 to 1; 1 before the first. */
  get factor(): number {
    return this.#label.factor;
  }

  /**
   * Sets the share, from 0 to 1, of the time beyond the minimum that the label's timers get. It holds at once for
   * timers that are scheduled or moved from now on. Live timers are moved in slices of about a quarter of a millisecond
   * per turn of the event loop; resolves when all have been. With `everywhere` the same holds for every client of a
   * shared scheduler that has a label of this name, with a `min`, or gets it later; those whose event loop is blocked
   * are waited for a second at most. Of two calls the later one counts.
   * @throws InvalidArgumentError for a factor, if the label was made without `min`, and everywhere beyond 1,024 names;
   * InvalidConfigError for an unknown option.
   * @cost 0.25 ms of each turn, until all live timers of the label have moved; with `everywhere` in each client, and a
   * wake of each.
   */
  async setScale(factor: number, options: ScaleOptions = {}): Promise<void> {
    requireOptions(options, { everywhere: 0 } satisfies Record<keyof ScaleOptions, 0>);
    const { everywhere = false } = options;
    requireOpen(this.#client, 'setScale');
    if (this.min === undefined) {
      const remedy = `must be scaled; create it with scheduler.label('${this.name}', { min })`;
      throw new InvalidArgumentError('label', remedy, this.name);
    }
    if (typeof factor !== 'number' || !(factor >= 0 && factor <= 1)) {
      throw new InvalidArgumentError('factor', 'must be a number from 0 to 1', factor);
    }
    if (typeof everywhere !== 'boolean') {
      throw new InvalidArgumentError('options.everywhere', 'must be true or false', everywhere);
    }
    await (everywhere ? this.#scales.setEverywhere(this.#label, factor) : this.#scales.set(this.#label, factor));
  }

  [INSPECT](): object {
    const { name, min, slack, ref, factor, size } = this;
    const scaled = min === undefined ? {} : { min, factor };
    return shownAs(this, { name, slack, ...(ref ? {} : { ref }), ...scaled, size });
  }
}

/** The labels of a client, as its program has them. @internal */
export class TimerLabels {
  /** Its calls start timers without a label. */
  readonly plain: TimerLabel;
  readonly #client: Client;
  readonly #scales: LabelScales;
  readonly #known = new Map<Label, TimerLabel>();

  constructor(client: Client, scales: LabelScales) {
    this.#client = client;
    this.#scales = scales;
    this.plain = new TimerLabel(client, client.registry.plain, scales);
  }

  /** See {@link Scheduler.label}. */
  named(name: string, options: LabelOptions = {}): TimerLabel {
    requireOptions(options, { min: 0, slack: 0, ref: 0 } satisfies Record<keyof LabelOptions, 0>);
    const label = this.#client.registry.named(name, options);
    const known = this.#known.get(label);
    if (known !== undefined) return known;
    this.#scales.made(label);
    const made = new TimerLabel(this.#client, label, this.#scales);
    this.#known.set(label, made);
    return made;
  }
}
