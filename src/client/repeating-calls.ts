import { wordOf } from '../lane/due-word.ts';
import type { CallGrids } from './call-grids.ts';
import type { ClientLane } from './client-lane.ts';
import { type ClientTime, LAST_TICK } from './client-time.ts';
import type { Label } from './labels/slot-labels.ts';

// Taken once: a program may replace them.
const { min } = Math;

/** The parts of the client that they need. */
export interface RepeatingClient {
  readonly isClosed: boolean;
  readonly time: ClientTime;
  labelOf(lane: ClientLane, slot: number): Label;
  dueWordOf(deadline: number, slack: number): number;
  restageAt(lane: ClientLane, slot: number, deadline: number, due: number): void;
  move(lane: ClientLane, slot: number, deadline: number, slack: number): void;
}

/**
 * The calls of repeating timers. A timer keeps its slot and its id; each call moves it on its grid:
 *
 *     fired record taken ─▶ begin: moved to its next call, staged ─▶ callback ─▶ end: moved on if it has missed calls
 *                        ─▶ passesOver, if its last call is pending and may not be overlapped: the same, no callback
 *
 * So whatever happens in between, a command for its next call is on its way, and a second record of the call before
 * finds a later deadline.
 */
export class RepeatingCalls {
  /** Whether a timer has been started whose calls may not overlap. */
  mayPassOver = false;
  /** Calls that were not made, since the promise that the one before had returned was pending. */
  overlapped = 0;
  private readonly client: RepeatingClient;
  private readonly time: ClientTime;
  /** Of the call that is being made: the tag of its timer, and the deadline of the next. */
  private tag = 0;
  private next = Number.NaN; // V8: double fields

  constructor(client: RepeatingClient) {
    this.client = client;
    this.time = client.time;
  }

  /**
   * Returns whether a call that is due is not made, since the last one is pending; it is counted. Precondition: as for
   * `begin`.
   */
  passesOver(lane: ClientLane, slot: number): boolean {
    if (lane.grids?.isPending(slot) !== true) return false;
    this.begin(lane, slot);
    this.overlapped += 1;
    return true;
  }

  /**
   * Called before a call: moves the timer to its next one. Precondition: a command was reserved, and the clock was just
   * read.
   */
  begin(lane: ClientLane, slot: number): void {
    const { time } = this;
    const { table } = lane;
    const grids = lane.grids as CallGrids;
    // A manual clock stands still in a turn, and a reading of it allocates.
    const begun = time.isManual || grids.missedOf(slot) === 'burst' ? time.now : time.clock.read();
    const deadline = table.deadlineOf(slot);
    // The end of its due tick, with its slack: a tick after its deadline at the earliest, which is enough to know for
    // most calls.
    const lateFrom =
      begun < deadline + time.scale.tick
        ? Number.POSITIVE_INFINITY
        : time.scale.timeOf(time.dueTickOfRecord(deadline, table.dueOf(slot)) + 1);
    const next = grids.advance(slot, lateFrom, begun);
    const { slack } = this.client.labelOf(lane, slot);
    this.tag = table.tagOf(slot);
    this.next = next;
    // With a manual clock, what a jump has passed is delivered before the clock moves again.
    const due = time.isManual
      ? wordOf(min(time.tickWithSlack(next, slack), LAST_TICK))
      : this.client.dueWordOf(next, slack);
    this.client.restageAt(lane, slot, next, due);
  }

  /** Called after the callback, with what it has returned: skips the calls that have been missed meanwhile. */
  end(lane: ClientLane, slot: number, returned: unknown): void {
    const { client, next, tag, time } = this;
    const { grids, table } = lane;
    if (grids === undefined || client.isClosed || table.tagOf(slot) !== tag) return; // it has cancelled itself
    if (returned !== undefined) grids.noteReturned(slot, returned);
    if (grids.missedOf(slot) !== 'skip' || table.deadlineOf(slot) !== next) return; // or moved
    const now = time.isManual ? time.now : time.clock.read();
    if (next > now) return;
    client.move(lane, slot, grids.skip(slot, now), client.labelOf(lane, slot).slack);
  }
}
