/** What serves the shards, since when and why. */
export interface Serving {
  by: 'inline' | 'threads';
  /** Time of the last change, in ms on the scheduler's clock. */
  since: number;
  reason: string;
  /** Number of changes so far. */
  changes: number;
}

/** What serves a client's shards, as whoever decides it notes it: a policy, or what becomes of the threads. */
export class ServingRecord {
  private present: Serving;

  constructor(by: Serving['by'], reason: string) {
    this.present = { by, since: 0, reason, changes: 0 };
  }

  /** As it is now. A copy of the caller's own. */
  now(): Serving {
    return { ...this.present };
  }

  is(by: Serving['by'], reason: string): boolean {
    return this.present.by === by && this.present.reason === reason;
  }

  change(by: Serving['by'], since: number, reason: string): void {
    this.present = { by, since, reason, changes: this.present.changes + 1 };
  }
}
