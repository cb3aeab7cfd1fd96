import { levelOccupancy } from '../occupancy.ts';
import { defaultCompaction } from '../presets.ts';
import type { DueSink, LevelOccupancy } from '../tick-index.ts';
import type { CompactionConfig, PinnedConfig } from '../wheel-config.ts';
import type { WheelIndex } from '../wheel-index.ts';
import type { IndexSnapshot, LevelSnapshot, ListSnapshot } from '../wheel-snapshot.ts';
import { NextSpoke } from './next-spoke.ts';
import type { PinnedLevel } from './pinned-spokes.ts';
import type { Spoke } from './spoke.ts';

export interface PinnedIndexOptions {
  /** The finest first, whose width is 1. */
  readonly levels: readonly PinnedLevel[];
  readonly capacity: number;
  /**
   * Ticks beyond the last level's reach: refused (the default; `upperBound`), or held at the end of it until they come
   * into reach.
   */
  readonly overflow?: 'list' | 'throw';
  readonly start?: number;
  readonly compaction?: CompactionConfig;
}

/** The levels of a configuration in ticks of the finest. */
export const pinnedLevels = ({ levels }: PinnedConfig): PinnedLevel[] =>
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
 * With overflow 'list', a tick that no level reaches waits in the last spoke of the coarsest: when that is handed over
 * it is filed anew, by its distance then, if its owner still wants it. `placements` keep its own tick, so that the two
 * are told apart.
 *
 * Order: by instant of handing over; within one in the order filed, merged over all levels by filing number.
 * insert, remove: O(1), or growth of one spoke. advanceTo: O(levels) per instant with due timers.
 *
 * After: the pinned-three-level wheel; for what differs see the preset.
 */
export class PinnedIndex extends NextSpoke implements WheelIndex {
  readonly cascaded = 0;
  readonly keepsDueTicks = false;
  readonly directEnd = Number.NEGATIVE_INFINITY;
  private readonly compaction: CompactionConfig;
  private advancing = false;
  /** Spokes of the instant being handed over. */
  private readonly open: Spoke[] = [];

  constructor(options: PinnedIndexOptions) {
    const { levels, capacity, overflow = 'throw', start = 0, compaction = defaultCompaction } = options;
    super(levels, capacity, start, overflow === 'throw');
    this.compaction = compaction;
  }

  /** No memory is laid out ahead. */
  bytesFor(_slots: number): number {
    return this.bytes;
  }

  insertDirect(slot: number, tick: number): void {
    this.insert(slot, tick);
  }

  /** Does not use places: what this index keeps of a slot does not fit into a word. */
  usePlaces(): void {}

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
    // of one tick, the higher was filed earlier
    for (const spoke of this.spokes.toReversed()) spoke?.slots().forEach(visit);
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

  /** Hands over an instant: the spokes of all levels that are due at `tick`, merged by filing number. */
  private handOver(tick: number, sink: DueSink, budget: number): number {
    const { open } = this;
    let left = budget;
    this.openDue(tick);
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
      if (due > tick) {
        this.insert(slot, due);
        this.refiled += 1;
      } else if (due >= 0) sink.due(slot, tick);
      else this.dropped += 1;
    }
    for (const spoke of open) {
      if (spoke.count > 0 && spoke.wasteful(this.compaction)) spoke.compact(this.compaction, this.place);
    }
    open.length = 0;
    return left;
  }

  /** Sorts the spokes that are due at `tick`, and notes them as `open`. */
  private openDue(tick: number): void {
    for (let level = 0; level < this.widths.length; level++) {
      const round = tick / this.widths[level];
      if (!Number.isInteger(round)) continue;
      const spoke = this.spokes[this.spokeOf(level, round)];
      if (spoke === undefined || spoke.count === 0) continue;
      spoke.sortEntries(this.place);
      this.open.push(spoke);
    }
  }

  private readonly place = (slot: number, entry: number): void => {
    this.placements.moveTo(slot, entry);
  };
}
