import { InvalidArgumentError } from '../errors.ts';
import { process } from '../process.ts';
import type { ClientLane } from './client-lane.ts';
import { Label } from './label.ts';
import { LaneLabels, NO_LABEL } from './lane-labels.ts';

/** Maximum of labels of a client; further ones count as OTHER. */
const MAX_LABELS = 254;
const OTHER = '(other)';

const MAX_LENGTH = 128;

/**
 * The labels of a client's timers. A timer gets its label when it starts, and keeps it: its lane stores the label as a byte, see
 * `LaneLabels`.
 */
export class LabelRegistry {
  /** By code; the first means no label. */
  private readonly byCode: Label[] = [new Label('', undefined)];
  private readonly codes = new Map<string, number>();
  private hasWarned = false;

  /** All labels. */
  get all(): readonly Label[] {
    return this.byCode.slice(NO_LABEL + 1);
  }

  /** Returns the scaled label of this name. Throws InvalidArgumentError if there is none. */
  scaled(name: unknown): Label {
    const label = this.all.find((each) => each.name === name && each.min !== undefined);
    if (label !== undefined) return label;
    const names = this.all.flatMap((each) => (each.min === undefined ? [] : [`'${each.name}'`]));
    const known = names.length === 0 ? 'and there is none yet' : `such as ${names.slice(0, 5).join(', ')}`;
    throw new InvalidArgumentError('class', `must be a label that was made with a min, ${known}`, name);
  }

  /**
   * Returns the code of a name, and creates its label if necessary. Throws InvalidArgumentError for an invalid name or minimum,
   * and for a minimum that differs from the label's; throws AllocationError.
   */
  codeOf(name: unknown, min: unknown): number {
    if (typeof name !== 'string' || name === '' || name.length > MAX_LENGTH) {
      throw new InvalidArgumentError('label', `must be a string of 1 to ${MAX_LENGTH} characters`, name);
    }
    if (min !== undefined && !(typeof min === 'number' && min >= 0 && min < Number.POSITIVE_INFINITY)) {
      throw new InvalidArgumentError('options.min', 'must be a finite number of ms, at least 0', min);
    }
    if (name === OTHER && min !== undefined) {
      throw new InvalidArgumentError('label', "must not be '(other)' if it is scaled", name);
    }
    const code = this.codes.get(name);
    if (code === undefined) return this.add(name, min as number | undefined);
    const label = this.byCode[code];
    if (min !== undefined && min !== label.min) {
      const made = label.min === undefined ? 'without one' : `with ${label.min}`;
      throw new InvalidArgumentError('options.min', `must not change: the label '${name}' was made ${made}`, min);
    }
    return code;
  }

  labelOf(code: number): Label {
    return this.byCode[code];
  }

  /** Returns the labels of a lane, and creates them if necessary. Throws AllocationError. */
  of(lane: ClientLane, label: Label): LaneLabels {
    lane.labels ??= new LaneLabels(this.byCode, lane.table.capacity);
    if (label.min !== undefined) lane.labels.allowScaling();
    return lane.labels;
  }

  private add(name: string, min: number | undefined): number {
    if (this.byCode.length <= MAX_LABELS) return this.put(name, min);
    if (min !== undefined) {
      throw new InvalidArgumentError('label', `must be one of the first ${MAX_LABELS} labels, to be scaled`, name);
    }
    if (!this.hasWarned) {
      const why = `More than ${MAX_LABELS} labels of timers are in use: those from '${name}' on count as '${OTHER}'`;
      process.emitWarning(why, { type: 'ShardwheelWarning', code: 'SHARDWHEEL_LABELS' });
      this.hasWarned = true;
    }
    return this.codes.get(OTHER) ?? this.put(OTHER, undefined);
  }

  private put(name: string, min: number | undefined): number {
    const code = this.byCode.length;
    this.byCode.push(new Label(name, min));
    this.codes.set(name, code);
    return code;
  }
}
