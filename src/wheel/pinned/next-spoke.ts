import { AllocationError } from '../../errors.ts';
import type { EntryOwner } from '../tick-index.ts';
import { type PinnedLevel, PinnedSpokes } from './pinned-spokes.ts';
import type { Spoke } from './spoke.ts';

/** A longer spoke is not looked through for the sake of a wake. */
const SHORT_SPOKE = 512;

const wantsAll: EntryOwner = { wantedAt: (_slot, tick) => tick };

/**
 * Which spoke is handed over next, by a look at bitmaps; and which next has a slot that is still wanted, by a look at
 * its slots.
 */
export class NextSpoke extends PinnedSpokes {
  dropped = 0;
  refiled = 0;
  /** Whether ticks beyond the last level's reach are refused. */
  private readonly refuses: boolean;

  constructor(levels: readonly PinnedLevel[], capacity: number, start: number, refuses: boolean) {
    super(levels, capacity, start);
    this.refuses = refuses;
  }

  get upperBound(): number {
    if (!this.refuses) return Number.POSITIVE_INFINITY;
    const top = this.widths.length - 1;
    return Math.min(this.reach.last(top, this.now) + 1, 2 ** 53);
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

  /**
   * The earliest tick at which a wanted slot of a spoke that is read at `tick` is handed over for good; Infinity if
   * none is wanted. Reads up to the first that is handed over there. Removes what has ended, and files anew what is due
   * later.
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
   * Files a slot anew that is filed for `due` and wanted later, or removes it if it has ended. Returns false if memory
   * is refused: it stays where it is.
   */
  private refile(slot: number, due: number, wanted: number): boolean {
    try {
      if (wanted > due) this.prepare(slot, wanted);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      return false;
    }
    this.remove(slot);
    if (wanted > due) {
      this.insert(slot, wanted);
      this.refiled += 1;
    } else this.dropped += 1;
    return true;
  }

  /**
   * Whether something that is handed over at `tick` is still wanted then, or a spoke of it is too long to be looked
   * through. Removes what is not, and files anew what is due later.
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
}
