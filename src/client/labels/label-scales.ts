import { InvalidArgumentError } from '../../errors.ts';
import { type LabelFactors, MAX_SCALED } from '../../sharing/label-factors.ts';
import type { Client } from '../client.ts';
import { Rescaling } from './rescaling.ts';
import type { Label } from './slot-labels.ts';

/** What the clients of a shared scheduler know of the factors that are set everywhere. */
export interface SharedScales {
  readonly factors: LabelFactors;
  /** Wakes the other clients, which then call `take`. */
  wakeOthers(): void;
  /** This client has applied all factors up to this number of changes. */
  report(changes: number): void;
  /** Resolves when all other clients have, but for those that are gone; waits a second at most for blocked ones. */
  taken(changes: number): Promise<void>;
}

/**
 * The factors of a client's labels: set by its own program, or everywhere by that of any client. Of two settings of a
 * label the later one counts, whoever has made it.
 */
export class LabelScales {
  private readonly client: Client;
  private readonly rescaling: Rescaling;
  private shared: SharedScales | undefined;
  /** What was set everywhere while there were no others, by name. */
  private readonly early = new Map<string, number>();
  /** The settings that have been applied: see `LabelFactors.read`. */
  private readonly applied = new Map<Label, number>();
  private takenChanges = 0;

  constructor(client: Client) {
    this.client = client;
    this.rescaling = new Rescaling(client);
  }

  /** The scheduler is shared from now on. Throws nothing. */
  join(shared: SharedScales): void {
    this.shared = shared;
    for (const [name, factor] of this.early) shared.factors.set(name, factor);
    for (const label of this.client.registry.all) {
      if (this.early.has(label.name)) this.note(label);
    }
    this.early.clear();
  }

  /** Sets a label's factor in this client. Resolves when all timers that were live then have been moved. */
  async set(label: Label, factor: number): Promise<void> {
    this.note(label); // what others have set before no longer counts
    if (factor === label.factor) return this.rescaling.done();
    label.factor = factor;
    return this.rescaling.begin();
  }

  /**
   * Does the same in every client that has a label of this name, or gets it later. Waits a second at most for
   * clients whose event loop is blocked, which follow in their next turn. Throws InvalidArgumentError beyond MAX_SCALED
   * names.
   */
  async setEverywhere(label: Label, factor: number): Promise<void> {
    const { shared } = this;
    if (shared === undefined) {
      this.early.set(label.name, factor);
      return this.set(label, factor);
    }
    if (!shared.factors.set(label.name, factor)) {
      const limit = `must be one of the first ${MAX_SCALED} that are scaled everywhere`;
      throw new InvalidArgumentError('label', limit, label.name);
    }
    const { changes } = shared.factors;
    shared.wakeOthers();
    // As the others do: of two clients that set it at once, both go by what stands there.
    const moved = this.apply(label) ? this.rescaling.begin() : this.rescaling.done();
    await this.client.refs.during(Promise.all([moved, shared.taken(changes)]));
  }

  /** A label has been made: it begins with the factor that was set everywhere, if one was. */
  made(label: Label): void {
    this.apply(label);
  }

  /** Called when another client may have set a factor everywhere. */
  take(): void {
    const { client, rescaling, shared } = this;
    if (shared === undefined || client.isClosed) return;
    const { changes } = shared.factors;
    if (changes === this.takenChanges) return;
    this.takenChanges = changes;
    const applied = client.registry.all.map((label) => this.apply(label));
    const moved = applied.includes(true) ? rescaling.begin() : rescaling.done();
    // Who has left has another client's words.
    void moved.then(() => client.isClosed || shared.report(changes));
  }

  /** Returns whether that changes its factor. */
  private apply(label: Label): boolean {
    if (label.min === undefined) return false;
    const set = this.shared?.factors.read(label.name);
    if (set === undefined || set.stamp === this.applied.get(label)) return false;
    this.applied.set(label, set.stamp);
    if (set.factor === label.factor) return false;
    label.factor = set.factor;
    return true;
  }

  private note(label: Label): void {
    const set = this.shared?.factors.read(label.name);
    if (set !== undefined) this.applied.set(label, set.stamp);
  }
}
