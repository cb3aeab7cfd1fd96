import { wordOf } from '../lane/due-word.ts';
import type { TimerId } from '../timer-id.ts';
import type { CallGrids } from './call-grids.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { Label } from './label.ts';

/** The parts of the client that they need. */
export interface RepeatingHost {
  readonly isClosed: boolean;
  readonly time: ClientTime;
  labelOf(lane: ClientLane, slot: number): Label;
  dueWordOf(deadline: number, slack: number): number;
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

  constructor(host: RepeatingHost) {
    this.host = host;
    this.time = host.time;
  }

  /** Called before a call, which began at `now`: moves the timer to its next one. Precondition: a command was reserved. */
  begin(lane: ClientLane, slot: number, now: number): void {
    const { time } = this;
    const grids = lane.grids as CallGrids;
    const begun = grids.missedOf(slot) === 'delay' ? time.clock.exact() : now;
    const next = grids.nextCall(slot, lane.table.deadlineOf(slot), begun, now);
    const { slack } = this.host.labelOf(lane, slot);
    if (time.clock.memory.manual) {
      // What a jump of the clock has passed is delivered before it moves again.
      lane.restage(slot, next, wordOf(time.tickWithSlack(next, slack)));
      return;
    }
    lane.restage(slot, next, this.host.dueWordOf(next, slack));
    if (next < time.nextTickTime) lane.putOffToNextTick(slot); // one call per tick
  }

  /** Called after the callback, with the deadline that `begin` has set: skips the calls that have been missed meanwhile. */
  end(lane: ClientLane, slot: number, id: TimerId, next: number): void {
    const { host, time } = this;
    const { grids, table } = lane;
    if (grids === undefined || host.isClosed || grids.missedOf(slot) !== 'skip') return;
    if (table.slotOf(id) !== slot || table.deadlineOf(slot) !== next) return; // it has cancelled or moved itself
    const now = time.clock.exact();
    if (next > now) return;
    const later = grids.nextCall(slot, next - grids.periodOf(slot), now, now);
    const { slack } = host.labelOf(lane, slot);
    lane.move(slot, later, host.dueWordOf(later, slack), later < time.wordReachEnd);
  }
}
