import { wordOf } from '../lane/due-word.ts';
import type { CallGrids } from './call-grids.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { Label } from './lane-labels.ts';

/** The parts of the client that they need. */
export interface RepeatingHost {
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
 *     fired record taken ─▶ begin: moved to its next call, staged ─▶ callback ─▶ end: moved on if it has missed calls meanwhile
 *
 * So whatever happens in between, a command for its next call is on its way, and a second record of the call before finds a later
 * deadline.
 */
export class RepeatingCalls {
  private readonly host: RepeatingHost;
  private readonly time: ClientTime;
  /** Of the call that is being made: the tag of its timer, and the deadline of the next. */
  private tag = 0;
  private next = Number.NaN; // V8: double fields

  constructor(host: RepeatingHost) {
    this.host = host;
    this.time = host.time;
  }

  /** Called before a call: moves the timer to its next one. Precondition: a command was reserved, and the clock was just read. */
  begin(lane: ClientLane, slot: number): void {
    const { time } = this;
    const { table } = lane;
    const grids = lane.grids as CallGrids;
    const begun = grids.missedOf(slot) === 'delay' ? time.clock.read() : time.now;
    const next = grids.nextCall(slot, table.deadlineOf(slot), begun, time.now);
    const { slack } = this.host.labelOf(lane, slot);
    this.tag = table.tagOf(slot);
    this.next = next;
    // With a manual clock, what a jump has passed is delivered before the clock moves again.
    const due = time.isManual ? wordOf(time.tickWithSlack(next, slack)) : this.host.dueWordOf(next, slack);
    this.host.restageAt(lane, slot, next, due);
  }

  /** Called after the callback: skips the calls that have been missed meanwhile. */
  end(lane: ClientLane, slot: number): void {
    const { host, next, tag, time } = this;
    const { grids, table } = lane;
    if (grids === undefined || host.isClosed || grids.missedOf(slot) !== 'skip') return;
    if (table.tagOf(slot) !== tag || table.deadlineOf(slot) !== next) return; // it has cancelled or moved itself
    const now = time.clock.read();
    if (next > now) return;
    const later = grids.nextCall(slot, next - grids.periodOf(slot), now, now);
    host.move(lane, slot, later, host.labelOf(lane, slot).slack);
  }
}
