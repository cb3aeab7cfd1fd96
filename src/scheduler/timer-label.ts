import type { Client } from '../client/client.ts';
import type { Label } from '../client/lane-labels.ts';
import { Rescaling } from '../client/rescaling.ts';
import { InvalidArgumentError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import { INSPECT, shownAs } from './inspection.ts';
import { requireOpen } from './internals.ts';
import { type TimerStarts, TimerView } from './timer-view.ts';

/** The settings of a label, fixed for its life. */
export interface LabelOptions {
  /**
   * Makes the label's timers scaled. Each gets at least this many ms from its call, or its whole delay if that is shorter; {@link
   * TimerLabel.setScale} sets the share of the rest. Default: not scaled.
   */
  min?: number;
  /** How much later the label's timers may come, in ms, so that several fall together. Default: the scheduler's slack. */
  slack?: number;
}

let readClient: (label: object) => Client | undefined;

/** Returns the calls of a label given as an option. Throws InvalidArgumentError if it is not a label of the client. @internal */
export function labelOf(label: unknown, client: Client): TimerLabel {
  const of = typeof label === 'object' && label !== null ? readClient(label) : undefined;
  if (of === client) return label as TimerLabel;
  throw new InvalidArgumentError('options.label', 'must be a label of this scheduler: scheduler.label(name)', label);
}

/**
 * Timers of one kind: counted apart, scaled together, late together. See {@link Scheduler.label}. `stats()`, metrics and
 * `liveTimers()` report by label. Ids belong to the scheduler, whose calls work for these timers too. A timer keeps its label.
 */
export class TimerLabel extends TimerView implements TimerStarts {
  readonly #client: Client;
  readonly #label: Label;
  readonly #rescaling: Rescaling;

  static {
    readClient = (label) => (#client in label ? label.#client : undefined);
  }

  /** @internal */
  constructor(client: Client, label: Label, rescaling: Rescaling) {
    super(client, label);
    this.#client = client;
    this.#rescaling = rescaling;
    this.#label = label;
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

  /** The factor of the last {@link setScale}, from 0 to 1; 1 before the first. */
  get factor(): number {
    return this.#label.factor;
  }

  /**
   * Sets the share, from 0 to 1, of the time beyond the minimum that the label's timers get. It holds at once for timers that are
   * scheduled or moved from now on. Live timers are moved in slices of about a quarter of a millisecond per turn of the event loop;
   * resolves when all have been.
   * @throws InvalidArgumentError for a factor, and if the label was made without `min`.
   * @cost 0.25 ms of each turn, until all live timers of the label have moved.
   */
  async setScale(factor: number): Promise<void> {
    requireOpen(this.#client, 'setScale');
    if (this.min === undefined) {
      const remedy = `must be scaled; create it with scheduler.label('${this.name}', { min })`;
      throw new InvalidArgumentError('label', remedy, this.name);
    }
    if (typeof factor !== 'number' || !(factor >= 0 && factor <= 1)) {
      throw new InvalidArgumentError('factor', 'must be a number from 0 to 1', factor);
    }
    if (factor === this.factor) return this.#rescaling.done();
    this.#label.factor = factor;
    await this.#rescaling.begin();
  }

  [INSPECT](): object {
    const { name, min, slack, factor, size } = this;
    return shownAs(this, min === undefined ? { name, slack, size } : { name, min, slack, factor, size });
  }
}

const NAMES = { min: 0, slack: 0 } satisfies Record<keyof LabelOptions, 0>;

/** The labels of a client, as its program has them. @internal */
export class TimerLabels {
  readonly #client: Client;
  readonly #rescaling: Rescaling;
  readonly #known = new Map<Label, TimerLabel>();

  constructor(client: Client) {
    this.#client = client;
    this.#rescaling = new Rescaling(client);
  }

  /** See {@link Scheduler.label}. */
  named(name: string, options: LabelOptions = {}): TimerLabel {
    if (typeof options !== 'object' || options === null) {
      throw new InvalidArgumentError('options', 'must be an object', options);
    }
    refuseUnknown(options, NAMES);
    const label = this.#client.labels.named(name, { min: options.min, slack: options.slack });
    const known = this.#known.get(label) ?? new TimerLabel(this.#client, label, this.#rescaling);
    this.#known.set(label, known);
    return known;
  }
}
