import { doublesIn, wordsIn } from '../memory/shared-words.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { dueTickFrom, WORD_REACH } from './due-word.ts';
import { DEADLINE, DOUBLES_SHIFT, DUE, HIGH_WATER, type LaneMemory, RECORD_SHIFT, TAG } from './lane-memory.ts';

// V8: folded constants
const RECORD = RECORD_SHIFT;
const DUE_AT = DUE;
const TAG_AT = TAG;

/**
 * A lane's timer table as a shard reads it: without locks, while the client writes. Due word and tag cannot tear;
 * `ServedLane` explains why any mixture of old and new is harmless. Deadlines are doubles, of which another thread
 * might see half: they are trusted only if the due word agrees.
 */
export class TableView {
  private readonly words: Int32Array;
  private readonly doubles: Float64Array;
  private readonly header: Int32Array;
  readonly scale: TickScale;

  constructor(memory: LaneMemory, scale: TickScale) {
    this.words = wordsIn(memory.table);
    this.doubles = doublesIn(memory.table);
    this.header = new Int32Array(memory.header);
    this.scale = scale;
  }

  /** All slots that may have been used are below. */
  highWater(): number {
    return Atomics.load(this.header, HIGH_WATER);
  }

  dueOf(slot: number): number {
    return this.words[(slot << RECORD) | DUE_AT];
  }

  tagOf(slot: number): number {
    return this.words[(slot << RECORD) | TAG_AT];
  }

  /** The tick of a timer's deadline. */
  deadlineTickOf(slot: number): number {
    return this.scale.tickAtOrAfter(this.doubles[(slot << DOUBLES_SHIFT) | DEADLINE]);
  }

  /**
   * The whole due tick of a live timer; `now` is the clock's tick. For a deadline that had already passed when it was
   * set, 2^32 ticks ago or more, the result may be another: at most the next tick.
   */
  dueTickOf(slot: number, now: number): number {
    const due = this.words[(slot << RECORD) | DUE_AT];
    const deadline = this.doubles[(slot << DOUBLES_SHIFT) | DEADLINE];
    const ahead = (due - (now | 0)) | 0;
    const since = ahead <= 1 ? now - WORD_REACH : now;
    // Nearly all: it is near, or has come and is not long overdue.
    if (deadline > this.scale.timeOf(since) && deadline < this.scale.timeOf(now + WORD_REACH)) return now + ahead;
    // Apart from slack they differ for a deadline that had passed when it was set, and while the timer is being moved.
    return dueTickFrom(due, this.deadlineTickOf(slot), now);
  }

  /** Visits every live timer's slot. */
  forEachLive(visit: (slot: number, tag: number) => void): void {
    const end = this.highWater();
    for (let slot = 0; slot < end; slot++) {
      const tag = this.tagOf(slot);
      if ((tag & 1) === 1) visit(slot, tag);
    }
  }

  /** The earliest due tick of all live timers; Infinity if none is live. */
  earliestDueTick(now: number): number {
    let earliest = Number.POSITIVE_INFINITY;
    this.forEachLive((slot) => {
      earliest = Math.min(earliest, this.dueTickOf(slot, now));
    });
    return earliest;
  }
}
