import { Occupancy } from '../occupancy.ts';
import { LevelReach } from './level-reach.ts';
import { Placements } from './placements.ts';
import { Spoke } from './spoke.ts';

export interface PinnedLevel {
  /** In ticks of the finest level. */
  readonly width: number;
  /** A power of two. */
  readonly spokes: number;
}

/**
 * The spokes of a pinned wheel's levels, which of them hold anything, and the place of each slot in them.
 *
 *    spokes, occupancy   │ those of level 0, up to a whole word │ those of level 1 …
 *                        └ bases: where each level begins       └
 *
 * A spoke holds one round of its level: see PinnedIndex.
 */
export class PinnedSpokes {
  now: number;
  size = 0;
  protected readonly widths: Float64Array;
  protected readonly spokeCounts: Int32Array;
  protected readonly reach: LevelReach;
  protected readonly bases: Int32Array;
  protected readonly spokes: (Spoke | undefined)[];
  protected readonly occupancy: Occupancy;
  protected readonly placements: Placements;
  private filings = 0;
  /** No spoke is handed over before this tick. */
  protected event = Number.POSITIVE_INFINITY;

  constructor(levels: readonly PinnedLevel[], capacity: number, start: number) {
    this.now = start;
    this.placements = new Placements(capacity);
    this.widths = Float64Array.from(levels, (level) => level.width);
    this.spokeCounts = Int32Array.from(levels, (level) => level.spokes);
    this.reach = new LevelReach(this.widths, this.spokeCounts);
    this.bases = new Int32Array(levels.length + 1);
    levels.forEach(({ spokes }, level) => {
      this.bases[level + 1] = this.bases[level] + Math.ceil(spokes / 32) * 32;
    });
    this.spokes = new Array(this.bases[levels.length]).fill(undefined);
    this.occupancy = new Occupancy(this.spokes.length);
  }

  get bytes(): number {
    const fixed = this.placements.bytes + this.occupancy.bytes + 8 * this.spokes.length;
    return this.spokes.reduce((sum, spoke) => sum + (spoke?.bytes ?? 0), fixed);
  }

  insert(slot: number, tick: number): void {
    const due = tick > this.now ? tick : this.now + 1;
    const level = this.reach.levelFor(due, this.now);
    const round = this.reach.roundFor(level, due, this.now);
    const at = this.spokeOf(level, round);
    const spoke = this.spokes[at] ?? new Spoke();
    this.placements.reserve(slot); // memory may be refused: then nothing has changed
    this.placements.place(slot, at, spoke.add(slot, this.filings++), due);
    this.spokes[at] = spoke;
    if (spoke.count === 1) this.occupancy.set(at);
    this.size++;
    this.event = Math.min(this.event, round * this.widths[level]);
  }

  prepare(_slot: number, tick: number): void {
    const due = tick > this.now ? tick : this.now + 1;
    const level = this.reach.levelFor(due, this.now);
    this.spokes[this.spokeOf(level, this.reach.roundFor(level, due, this.now))]?.reserve(); // a new one has room
  }

  protected spokeOf(level: number, round: number): number {
    return this.bases[level] + (round % this.spokeCounts[level]);
  }

  remove(slot: number): boolean {
    const { placements } = this;
    if (!placements.has(slot)) return false;
    const at = placements.spokeOf(slot);
    const spoke = this.spokes[at] as Spoke;
    spoke.remove(placements.entryOf(slot));
    placements.displace(slot);
    this.size--;
    if (spoke.count === 0) this.vacate(at);
    return true;
  }

  has(slot: number): boolean {
    return this.placements.has(slot);
  }

  /** Also works for a slot that is being handed over. */
  tickOf(slot: number): number {
    return this.placements.tickOf(slot);
  }

  /** The first tick at which a spoke is handed over; Infinity if none holds anything. */
  protected findEvent(): number {
    let event = Number.POSITIVE_INFINITY;
    for (let level = 0; level < this.widths.length; level++) {
      const round = this.nextRound(level, Math.floor(this.now / this.widths[level]));
      event = Math.min(event, round * this.widths[level]);
    }
    return event;
  }

  /** The next round of a level, from one on, that hands something over; Infinity if there is none within reach. */
  protected nextRound(level: number, from: number): number {
    const count = this.spokeCounts[level];
    const base = this.bases[level];
    const current = Math.floor(this.now / this.widths[level]);
    if (from - current >= count) return Number.POSITIVE_INFINITY;
    const index = from % count;
    // The small terms first, so that no intermediate sum is beyond 2^53.
    const ahead = this.occupancy.next(base + index, base + count);
    if (ahead >= 0) {
      const round = from + (ahead - base - index);
      return round - current < count ? round : Number.POSITIVE_INFINITY;
    }
    const wrapped = this.occupancy.next(base, base + count);
    if (wrapped < 0) return Number.POSITIVE_INFINITY;
    const round = from + (count + wrapped - base - index);
    return round - current < count ? round : Number.POSITIVE_INFINITY;
  }

  /** Replaces a spoke: one that has been read from its front must never be filed into again. */
  protected vacate(at: number): void {
    this.occupancy.unset(at);
    this.spokes[at] = undefined;
  }
}
