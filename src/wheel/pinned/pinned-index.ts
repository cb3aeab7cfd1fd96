import { AllocationError } from '../../errors.ts';
import { levelOccupancy, Occupancy } from '../occupancy.ts';
import { defaultCompaction } from '../presets.ts';
import type { DueSink, EntryOwner, LevelOccupancy } from '../tick-index.ts';
import type { CompactionConfig, PinnedConfig } from '../wheel-config.ts';
import type { WheelIndex } from '../wheel-index.ts';
import type { IndexSnapshot, LevelSnapshot, ListSnapshot } from '../wheel-snapshot.ts';
import { LevelReach } from './level-reach.ts';
import { Placements } from './placements.ts';
import { Spoke } from './spoke.ts';

/** A longer spoke is not looked through for the sake of a wake. */
const SHORT_SPOKE = 512;

const wantsAll: EntryOwner = { wantedAt: (_slot, tick) => tick };

export interface PinnedIndexOptions {
  /** The finest first; `width` in ticks of the first, so the first is 1. `spokes` are powers of two. */
  readonly levels: readonly { width: number; spokes: number }[];
  readonly capacity: number;
  /** Ticks beyond the last level's reach: refused (the default; `upperBound`), or held at the end of it until they come into reach. */
  readonly overflow?: 'list' | 'throw';
  readonly start?: number;
  readonly compaction?: CompactionConfig;
}

/** The levels of a configuration in ticks of the finest. */
export const pinnedLevels = ({ levels }: PinnedConfig): { width: number; spokes: number }[] =>
  levels.map(({ precision, spokes }) => ({ width: precision / levels[0].precision, spokes }));

/**
 * Hierarchical wheel whose timers never move. A slot of tick T goes to the finest level that reaches so
 * far, and is handed over at T rounded up to a tick of that level, its *round*:
 *
 *    round(T) = ceil(T / width)          floor(now / width) < round(T) < floor(now / width) + spokes
 *
 * so a spoke (round & mask) never holds two rounds, and is handed over as a whole. (A round of floor(now / width)
 * is left by a call that was cut short.) Never early, and less than one width late: the price of never moving.
 *
 * With overflow 'list', a tick that no level reaches waits in the last spoke of the coarsest: when that is handed over it is filed
 * anew, by its distance then, if its owner still wants it. `placements` keep its own tick, so that the two are told apart.
 *
 * Order: by instant of handing over; within one in the order filed, merged over all levels by filing number.
 * insert, remove: O(1), or growth of one spoke. advanceTo: O(levels) per instant with due timers.
 *
 * After: the pinned-three-level wheel; for what differs see the preset.
 */
export class PinnedIndex implements WheelIndex {
  now: number;
  size = 0;
  readonly cascaded = 0;
  readonly keepsDueTicks = false;
  readonly nearEnd = Number.NEGATIVE_INFINITY;
  private readonly widths: Float64Array;
  private readonly spokeCounts: Int32Array;
  private readonly reach: LevelReach;
  private readonly bases: Int32Array;
  private readonly spokes: (Spoke | undefined)[];
  private readonly occupancy: Occupancy;
  private readonly compaction: CompactionConfig;
  private readonly placements: Placements;
  private readonly refuses: boolean;
  private filings = 0;
  private event = Number.POSITIVE_INFINITY;
  private advancing = false;
  /** Spokes of the instant being handed over. */
  private readonly open: Spoke[] = [];

  constructor(options: PinnedIndexOptions) {
    const { levels, capacity, overflow = 'throw', start = 0, compaction = defaultCompaction } = options;
    this.now = start;
    this.refuses = overflow === 'throw';
    this.placements = new Placements(capacity);
    this.compaction = compaction;
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

  /** No memory is laid out ahead. */
  bytesFor(_slots: number): number {
    return this.bytes;
  }

  get bytes(): number {
    const fixed = this.placements.bytes + this.occupancy.bytes + 8 * this.spokes.length;
    return this.spokes.reduce((sum, spoke) => sum + (spoke?.bytes ?? 0), fixed);
  }

  get upperBound(): number {
    if (!this.refuses) return Number.POSITIVE_INFINITY;
    const top = this.widths.length - 1;
    return Math.min(this.reach.last(top, this.now) + 1, 2 ** 53);
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

  private spokeOf(level: number, round: number): number {
    return this.bases[level] + (round % this.spokeCounts[level]);
  }

  insertNear(slot: number, tick: number): void {
    this.insert(slot, tick);
  }

  /** Does not use places: what this index keeps of a slot does not fit into a word. */
  usePlaces(): void {}

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

  advanceTo(tick: number, sink: DueSink, budget: number): boolean {
    if (tick < this.event) {
      if (tick > this.now) this.now = tick;
      return true;
    }
    if (this.advancing) throw new Error('advanceTo() was called from within a handler');
    this.advancing = true;
    let left = budget;
    try {
      for (;;) {
        this.event = this.findEvent();
        if (this.event > tick) {
          if (tick > this.now) this.now = tick;
          return true;
        }
        if (left <= 0) return false;
        if (this.event > this.now) this.now = this.event;
        left = this.handOver(this.event, sink, left);
      }
    } finally {
      this.advancing = false;
      this.open.length = 0;
    }
  }

  /** Nothing ever moves: the next event is the next hand-over, but for what is beyond reach. */
  nextTick(): number {
    return this.refuses ? this.findEvent() : this.nextDue(wantsAll);
  }

  nextEvent(): number {
    return this.event;
  }

  nextWanted(owner: EntryOwner): number {
    for (;;) {
      this.event = this.findEvent();
      if (this.event === Number.POSITIVE_INFINITY || this.hasWanted(this.event, owner)) return this.event;
    }
  }

  nextDue(owner: EntryOwner): number {
    let least = Number.POSITIVE_INFINITY;
    for (let level = 0; level < this.widths.length; level++) {
      const width = this.widths[level];
      let round = this.nextRound(level, Math.floor(this.now / width));
      while (round * width < least) {
        least = Math.min(least, this.leastOf(this.spokes[this.spokeOf(level, round)] as Spoke, round * width, owner));
        round = this.nextRound(level, round + 1);
      }
    }
    return least;
  }

  levels(): LevelOccupancy[] {
    const { bases, now, occupancy, spokeCounts, spokes } = this;
    const entriesOf = (at: number) => (spokes[at] as Spoke).count;
    return Array.from(this.widths, (width, level) =>
      levelOccupancy(occupancy, { base: bases[level], slots: spokeCounts[level], width, now }, entriesOf),
    );
  }

  levelRanges(): number[] {
    return Array.from(this.widths, (width, level) => width * this.spokeCounts[level]);
  }

  forEach(visit: (slot: number) => void): void {
    for (const spoke of this.spokes.toReversed()) spoke?.slots().forEach(visit); // of one tick, the higher was filed earlier
  }

  /** Compacts every spoke, whether it is wasteful or not. */
  compact(): void {
    for (const spoke of this.spokes) {
      if (spoke !== undefined && !this.open.includes(spoke)) spoke.compact(this.compaction, this.place);
    }
  }

  clear(): void {
    this.spokes.fill(undefined);
    this.occupancy.clear();
    this.placements.clear();
    this.size = 0;
    this.open.length = 0;
    if (!this.advancing) this.event = Number.POSITIVE_INFINITY;
  }

  inspect(): IndexSnapshot {
    const levels = Array.from(this.widths, (width, level) => this.inspectLevel(width, level));
    const { now, size } = this;
    return { engine: 'pinned', now, size, nextTick: this.nextTick(), nextEvent: this.event, levels };
  }

  private inspectLevel(width: number, level: number): LevelSnapshot {
    const occupied: number[] = [];
    const lists: ListSnapshot[] = [];
    for (let index = 0; index < this.spokeCounts[level]; index++) {
      const at = this.bases[level] + index;
      if (this.occupancy.has(at)) occupied.push(index);
      const spoke = this.spokes[at];
      if (spoke === undefined) continue;
      const entries = spoke.slots().map((slot) => {
        const filed = this.placements.spokeOf(slot) === at && spoke.entries[this.placements.entryOf(slot)] === slot;
        return { slot, tick: this.tickOf(slot), filed };
      });
      lists.push({ index, live: spoke.count, capacity: spoke.capacity, entries });
    }
    return { width, slots: this.spokeCounts[level], occupied, occupiedCount: occupied.length, lists };
  }

  private findEvent(): number {
    let event = Number.POSITIVE_INFINITY;
    for (let level = 0; level < this.widths.length; level++) {
      const round = this.nextRound(level, Math.floor(this.now / this.widths[level]));
      event = Math.min(event, round * this.widths[level]);
    }
    return event;
  }

  /** The next round of a level, from one on, that hands something over; Infinity if there is none within reach. */
  private nextRound(level: number, from: number): number {
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

  /**
   * The earliest tick at which a wanted slot of a spoke that is read at `tick` is handed over for good; Infinity if none is wanted.
   * Reads up to the first that is handed over there. Removes what has ended, and files anew what is due later.
   */
  private leastOf(spoke: Spoke, tick: number, owner: EntryOwner): number {
    let least = Number.POSITIVE_INFINITY;
    for (const slot of spoke) {
      const due = this.tickOf(slot);
      const wanted = owner.wantedAt(slot, due);
      if (wanted === due && due <= tick) return tick;
      if (wanted === due) {
        least = Math.min(least, this.reach.handedOverAt(due, tick));
        continue;
      }
      if (wanted > due) least = Math.min(least, this.reach.handedOverAt(wanted, this.now));
      this.refile(slot, due, wanted);
    }
    return least;
  }

  /**
   * Files a slot anew that is filed for `due` and wanted later, or removes it if it has ended. Returns false if memory is refused: it stays
   * where it is.
   */
  private refile(slot: number, due: number, wanted: number): boolean {
    try {
      if (wanted > due) this.prepare(slot, wanted);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      return false;
    }
    this.remove(slot);
    if (wanted > due) this.insert(slot, wanted);
    return true;
  }

  /**
   * Whether something that is handed over at `tick` is still wanted then, or a spoke of it is too long to be looked through. Removes what
   * is not, and files anew what is due later.
   */
  private hasWanted(tick: number, owner: EntryOwner): boolean {
    for (let level = 0; level < this.widths.length; level++) {
      const round = tick / this.widths[level];
      if (!Number.isInteger(round)) continue;
      const spoke = this.spokes[this.spokeOf(level, round)];
      if (spoke === undefined || spoke.count === 0) continue;
      if (spoke.count > SHORT_SPOKE) return true;
      for (const slot of spoke.slots()) {
        const due = this.tickOf(slot);
        const wanted = owner.wantedAt(slot, due);
        if (wanted === due) return true;
        // Beyond a range that refuses it waits at its end: `wanted` may be far later.
        const next = Math.min(wanted, this.upperBound - 1);
        if (wanted > due && next <= due) return true;
        if (!this.refile(slot, due, wanted > due ? next : wanted)) return true;
      }
    }
    return false;
  }

  /** Hands over an instant: the spokes of all levels that are due at `tick`, merged by filing number. */
  private handOver(tick: number, sink: DueSink, budget: number): number {
    const { open } = this;
    let left = budget;
    for (let level = 0; level < this.widths.length; level++) {
      const round = tick / this.widths[level];
      if (!Number.isInteger(round)) continue;
      const spoke = this.spokes[this.spokeOf(level, round)];
      if (spoke === undefined || spoke.count === 0) continue;
      spoke.sortEntries(this.place);
      open.push(spoke);
    }
    for (;;) {
      let earliest: Spoke | undefined;
      for (const spoke of open) {
        if (spoke.count > 0 && (earliest === undefined || spoke.first() < earliest.first())) earliest = spoke;
      }
      if (earliest === undefined || left <= 0) break;
      left--;
      earliest.first();
      let due = this.placements.tickOf(earliest.slot);
      if (due > tick) {
        due = sink.wantedAt?.(earliest.slot, due) ?? due; // it had been beyond reach
        if (due > tick) this.prepare(earliest.slot, due); // memory may be refused: then nothing has changed
      }
      const slot = earliest.shift();
      const at = this.placements.spokeOf(slot);
      this.placements.displace(slot);
      this.size--;
      if (earliest.count === 0) this.vacate(at);
      if (due > tick) this.insert(slot, due);
      else if (due >= 0) sink.due(slot, tick);
    }
    for (const spoke of open) {
      if (spoke.count > 0 && spoke.wasteful(this.compaction)) spoke.compact(this.compaction, this.place);
    }
    open.length = 0;
    return left;
  }

  /** Replaces a spoke: one that has been read from its front must never be filed into again. */
  private vacate(at: number): void {
    this.occupancy.unset(at);
    this.spokes[at] = undefined;
  }

  private readonly place = (slot: number, entry: number): void => {
    this.placements.moveTo(slot, entry);
  };
}
