import { setImmediate } from '../../../time/native-timers.ts';
import type { AlarmedTimer } from '../unstored/alarms.ts';
import { type NearShare, NearTier } from './near-tier.ts';
import type { Opened, Rows } from './rows.ts';

/**
 * Timers of all names that are due and wait, at most: further ones are read when half of them have begun. What waits
 * survives the young generation's collections, which copy it: with 100,000 waiting each stops the event loop for 20 ms
 * and more.
 */
const BACKLOG = 2000;
/** Of each name, however many there are. */
const MIN_BACKLOG = 50;
/** Timers that are handed to `Attempts` in one go: some 2 ms. */
const MAX_BEGUN = 100;

/**
 * The near tiers of all names that this process leads, and the one order in which what is due begins: the oldest first,
 * over all names. A name that may not begin another, as all of its handlers run, holds up none of the others;
 * its own wait here.
 *
 *     name a   ──▶ 3 ─ 7 ─ 9 ─▶ ╮
 *     name b   ──▶ 4 ─ 5 ─▶     ├─ the oldest head of those that may begin ─▶ Attempts
 *     name c   ──▶ 1 ─ 2 ─▶     ╯  (c may not: 3, 4, 5, 7, 9)
 *
 * To begin one costs two looks at each name.
 */
export class NearTiers implements NearShare {
  readonly parts: Opened;
  readonly rows: Rows;
  private readonly tiers = new Map<string, NearTier>();
  private state: 'resting' | 'beginning' | 'resuming' = 'resting';

  constructor(parts: Opened, rows: Rows) {
    this.parts = parts;
    this.rows = rows;
    parts.core.alarms.add(() => this.timers());
    parts.attempts.onRoom(() => this.begin());
  }

  get size(): number {
    let size = 0;
    for (const tier of this.tiers.values()) size += tier.size;
    return size;
  }

  get backlog(): number {
    const all = Math.min(BACKLOG, this.parts.core.settings.nearLimit);
    return Math.max(MIN_BACKLOG, Math.floor(all / this.tiers.size));
  }

  hasRoom(size: number, limit: number): boolean {
    return size < limit / this.tiers.size || this.size < limit;
  }

  has(name: string): boolean {
    return this.tiers.has(name);
  }

  /** From now on this process leads the name. */
  add(name: string): void {
    this.tiers.set(name, new NearTier(name, this));
  }

  remove(name: string): void {
    this.tiers.get(name)?.end();
    this.tiers.delete(name);
  }

  end(): void {
    for (const name of [...this.tiers.keys()]) this.remove(name);
  }

  /** Looks in the table for what is due, and what has come within the horizon. */
  look(): void {
    for (const tier of this.tiers.values()) {
      tier.sweep();
      tier.read().catch(this.parts.core.failed);
    }
    this.begin();
  }

  /** The table has a timer that is due then. */
  noticed(name: string, key: string, due: number): void {
    this.tiers.get(name)?.noticed(key, due);
    if (due <= this.parts.core.clock.now()) this.begin();
  }

  /** The table has it no longer, or not as one that is scheduled. */
  gone(name: string, key: string): void {
    this.tiers.get(name)?.remove(key);
  }

  begin(): void {
    if (this.state !== 'resting') return; // a timer that begins may leave room for another
    this.state = 'beginning';
    let begun = 0;
    for (; begun < MAX_BEGUN; begun++) {
      this.refill();
      const timer = this.next?.take();
      if (timer === undefined) break;
      this.parts.attempts.push(timer);
    }
    this.state = 'resting';
    if (begun === MAX_BEGUN) this.resume();
  }

  private resume(): void {
    this.state = 'resuming';
    setImmediate(() => {
      this.state = 'resting';
      this.begin();
    });
  }

  /** The name whose oldest is the oldest of those that may begin. */
  private get next(): NearTier | undefined {
    let next: NearTier | undefined;
    for (const tier of this.tiers.values()) {
      const isOlder = tier.oldest !== undefined && tier.oldest < (next?.oldest ?? Number.POSITIVE_INFINITY);
      if (isOlder && this.parts.attempts.mayBegin(tier.name)) next = tier;
    }
    return next;
  }

  private refill(): void {
    try {
      for (const tier of this.tiers.values()) tier.refill();
    } catch (error) {
      this.parts.core.failed(error); // the next look reads again
    }
  }

  private *timers(): Generator<AlarmedTimer> {
    for (const tier of this.tiers.values()) yield* tier.values();
  }
}
