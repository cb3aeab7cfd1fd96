import { InvalidArgumentError } from '../../errors.ts';
import type { TickScale } from '../../time/tick-scale.ts';
import { warnOnce } from '../../warn-once.ts';
import { slackInTicks, slackRange } from '../client-time.ts';
import { DROP_IN } from '../home/home-timers.ts';
import { Label, NO_LABEL } from './slot-labels.ts';

/** Maximum of labels of a client; further ones count as OTHER. */
const MAX_LABELS = 254;
const OTHER = '(other)';

/** Maximum of characters in a label's name. */
const MAX_LENGTH = 128;

/** The settings of a label, fixed for its life. */
export interface LabelOptions {
  /**
   * Makes the label's timers scaled. Each gets at least this many ms from its call, or its whole delay if that is
   * shorter; {@link TimerLabel.setScale} sets the share of the rest. Default: not scaled.
   */
  min?: number;
  /**
   * How much later the label's timers may come, in ms, so that several fall together. Default: the scheduler's slack.
   */
  slack?: number;
  /** false: its timers do not hold the process, such as those of a cache's entries. Default true. */
  ref?: boolean;
}

type Unchecked<T> = { readonly [K in keyof T]?: unknown };

/**
 * The labels of a client's timers. A timer gets its label when it starts, and keeps it: its lane stores the label as a
 * byte, see `SlotLabels`.
 * @internal
 */
export class LabelRegistry {
  /** That of all timers that are started without one. Its slack is the scheduler's. */
  readonly plain: Label;
  /** By code. */
  readonly byCode: Label[];
  private readonly byName = new Map<string, Label>();
  private readonly scale: TickScale;

  /** `slack` in ticks. */
  constructor(scale: TickScale, slack: number) {
    this.scale = scale;
    this.plain = new Label('', NO_LABEL, undefined, slack);
    this.byCode = [this.plain];
  }

  /** How many there are, but for the plain one. */
  get count(): number {
    return this.byCode.length - 1;
  }

  /** All but the plain one. */
  get all(): readonly Label[] {
    return this.byCode.slice(NO_LABEL + 1);
  }

  /**
   * Returns the label of a name, and creates it if necessary. `min` and `slack` in ms; undefined: as made, or at first
   * the default. Throws InvalidArgumentError for an invalid name or setting, and for one that differs from the label's.
   */
  named(name: unknown, { min, slack, ref }: Unchecked<LabelOptions>): Label {
    if (typeof name !== 'string' || name === '' || name.length > MAX_LENGTH) {
      throw new InvalidArgumentError('label', `must be a string of 1 to ${MAX_LENGTH} characters`, name);
    }
    if (name === DROP_IN) {
      throw new InvalidArgumentError('label', `must not be '${DROP_IN}', as which drop-in timers are counted`, name);
    }
    if (min !== undefined && !(typeof min === 'number' && min >= 0 && min < Number.POSITIVE_INFINITY)) {
      throw new InvalidArgumentError('options.min', 'must be a finite number of ms, at least 0', min);
    }
    const ticks = slack === undefined ? undefined : slackInTicks(slack, this.scale);
    if (Number.isNaN(ticks)) throw new InvalidArgumentError('options.slack', slackRange(this.scale), slack);
    if (ref !== undefined && typeof ref !== 'boolean') {
      throw new InvalidArgumentError('options.ref', 'must be true or false', ref);
    }
    const label = this.byName.get(name);
    if (label === undefined) return this.make(name, min as number | undefined, ticks, ref);
    const asMade = `as when the label '${name}' was made`;
    if (min !== undefined && min !== label.min) {
      throw new InvalidArgumentError('options.min', `must be ${label.min ?? 'omitted'}, ${asMade}`, min);
    }
    if (ticks !== undefined && ticks !== label.slack) {
      throw new InvalidArgumentError('options.slack', `must be ${this.scale.timeOf(label.slack)}, ${asMade}`, slack);
    }
    if (ref !== undefined && ref !== label.ref) {
      throw new InvalidArgumentError('options.ref', `must be ${label.ref}, ${asMade}`, ref);
    }
    return label;
  }

  private make(name: string, min: number | undefined, slack: number | undefined, ref = true): Label {
    const hasSettings = min !== undefined || slack !== undefined || !ref;
    if (name === OTHER && hasSettings) {
      throw new InvalidArgumentError('label', `must not be '${OTHER}' with a min, a slack or ref: false`, name);
    }
    if (this.byCode.length <= MAX_LABELS) return this.put(name, min, slack ?? this.plain.slack, ref);
    if (hasSettings) {
      const limit = `must be one of the first ${MAX_LABELS} labels, to have a min, a slack or ref: false`;
      throw new InvalidArgumentError('label', limit, name);
    }
    const why = `More than ${MAX_LABELS} labels of timers are in use: those from '${name}' on count as '${OTHER}'`;
    warnOnce('SHARDWHEEL_LABELS', () => why);
    return this.byName.get(OTHER) ?? this.put(OTHER, undefined, this.plain.slack, true);
  }

  private put(name: string, min: number | undefined, slack: number, ref: boolean): Label {
    const label = new Label(name, this.byCode.length, min, slack, ref);
    this.byCode.push(label);
    this.byName.set(name, label);
    return label;
  }
}
