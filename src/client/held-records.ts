import type { RingConsumer } from '../lane/ring.ts';
import type { TimerTable } from '../lane/timer-table.ts';
import type { ClientTime } from './client-time.ts';
import type { Commands } from './commands.ts';

// Taken once: a program may replace them.
const { min } = Math;

/** The parts of a lane that it needs. */
interface HoldingLane {
  readonly table: TimerTable;
  readonly commands: Commands;
  readonly fired: RingConsumer;
}

/**
 * Fired records of a lane that may be out of order. A thread hears of a timer shortly before that is due. If the loop
 * stands still just then, the thread fires what is due later and was published before, and its records lie in the ring
 * when the loop goes on.
 *
 *     overdue commands ─▶ hold: all records that are there
 *                      ─▶ each is looked at: due after the commands? ─▶ it goes back
 *                      ─▶ stage: what goes back, in its order, before the commands ─▶ published in one
 *
 * The thread brings in order whatever is late. What it fires between the reading of its ring and of the commands is not
 * held: see "Not promised" in docs/guarantees.md.
 */
export class HeldRecords {
  /** So many of the next records of the ring are still to be looked at. */
  left = 0;
  /** Those with a later due tick go back. */
  private from = Number.POSITIVE_INFINITY;
  /** Slot and tag of each that goes back. */
  private returned: number[] = [];
  /** How often records have gone back. */
  returns = 0;
  private readonly lane: HoldingLane;
  private readonly time: ClientTime;

  constructor(lane: HoldingLane, time: ClientTime) {
    this.lane = lane;
    this.time = time;
  }

  /** Called before overdue commands are published: holds them back as well, if anything is there. O(staged). */
  hold(): void {
    const { commands, fired } = this.lane;
    const there = fired.available();
    if (there === 0) return;
    const earliest = commands.earliestStaged();
    if (earliest > this.time.tick) return;
    this.from = this.left > 0 ? min(this.from, earliest) : earliest;
    this.left = there;
    commands.isHeldBack = true;
  }

  /** Whether the next record, of this slot, goes back. Then whatever is behind it is held as well. */
  goesBack(slot: number): boolean {
    const { fired, table } = this.lane;
    if (this.time.dueTickOfRecord(table.deadlineOf(slot), table.dueOf(slot)) <= this.from) return false;
    this.left = fired.available();
    this.returned.push(slot, table.tagOf(slot));
    return true;
  }

  /**
   * Once all has been looked at, stages what goes back, and the commands may be published. If memory is refused,
   * throws, and the next call does it.
   */
  stage(): void {
    const { commands } = this.lane;
    if (this.left > 0) return;
    if (this.returned.length > 0) {
      commands.stage.addFirst(this.returned);
      this.returns += 1;
    }
    this.returned = [];
    commands.isHeldBack = false;
  }
}
