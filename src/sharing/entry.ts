import { BUCKETS, LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { Pulse } from './pulse.ts';

/** Words of a client's entry on the board: two groups, of which the second is its pulse. */
export const ENTRY_GROUPS = 2;
export const STATE = 0;
export const JOINED_AT = 1;
export const THREAD = 2;
const COUNTS_REPORTED = 3;
export const SCALED = 4;

const COUNTS = 16;
/** What a client counts for the others. */
export const COUNTED = [
  'size',
  'scheduled',
  'rescheduled',
  'cancelled',
  'delivered',
  'stale',
  'highWater',
  'latest',
  'labels',
] as const;
/** Doubles of a client's counts and latenesses. */
export const RECORD_DOUBLES = COUNTS + BUCKETS;

/** The counts of a client, for the others. `latest`: the largest lateness in ms; `labels`: how many it has. */
export type ClientCounts = Record<(typeof COUNTED)[number], number>;

/** A client as the others see it. */
export class Entry {
  readonly serial: number;
  /** `threadId` of node:worker_threads. */
  readonly thread: number;
  readonly pulse: Pulse;
  private readonly words: Int32Array;
  private readonly record: Float64Array;

  /** `serial`: as its state was read, once. A second reading may find it free, or another's. */
  constructor(serial: number, words: Int32Array, pulse: Int32Array, record: Float64Array) {
    this.serial = serial;
    this.words = words;
    this.record = record;
    this.thread = Atomics.load(words, THREAD);
    this.pulse = new Pulse(pulse, this.serial);
  }

  /** Whether this client still has the entry. */
  get isJoined(): boolean {
    return Atomics.load(this.words, STATE) === this.serial;
  }

  /** Frees the entry for another client. */
  free(): void {
    if (this.isJoined) Atomics.store(this.words, JOINED_AT, 0);
    Atomics.compareExchange(this.words, STATE, this.serial, 0);
  }

  /** The counts at its latest turn, or when it was last asked, while it goes on. */
  counts(): ClientCounts {
    return Object.fromEntries(COUNTED.map((name, at) => [name, this.record[at]])) as ClientCounts;
  }

  lateness(): LatenessHistogram {
    const latenesses = this.latenesses().slice(); // its thread goes on counting in them
    const histogram = new LatenessHistogram(latenesses);
    histogram.count = latenesses.reduce((sum, count) => sum + count);
    histogram.max = this.counts().latest;
    return histogram;
  }

  latenesses(): Float64Array {
    return this.record.subarray(COUNTS);
  }

  /** Which question of the owner its counts answer. */
  get reported(): number {
    return Atomics.load(this.words, COUNTS_REPORTED);
  }

  /** Whether it has applied the factors up to this number of changes. Both wrap. */
  hasScaled(changes: number): boolean {
    return ((Atomics.load(this.words, SCALED) - changes) | 0) >= 0;
  }

  reportScaled(changes: number): void {
    Atomics.store(this.words, SCALED, changes);
  }

  setCounts(counts: ClientCounts): void {
    for (let at = 0; at < COUNTED.length; at++) this.record[at] = counts[COUNTED[at]];
  }

  /** Answers a question of the owner. Call after `setCounts`. */
  report(asked: number): void {
    Atomics.store(this.words, COUNTS_REPORTED, asked);
  }
}
