import { outsideContexts } from '../../async-context/async-context.ts';
import { setImmediate } from '../../time/native-timers.ts';
import type { Client } from '../client.ts';
import type { ClientLane } from '../client-lane.ts';
import type { SlotLabels } from './slot-labels.ts';

/**
 * How long one turn of the event loop may spend, in ms, and how many slots it reads between two readings of the clock.
 */
const SLICE_MS = 0.25;
const SLOTS_PER_READING = 16;
/** Maximum of timers moved in one turn. */
const MOVES_PER_SLICE = 1024;
/**
 * Timers moved before they are published: to a thread that takes part of the slice's time, an inline shard files them
 * in its next turn.
 */
const MOVES_PER_PUBLISH = 128;

/**
 * Moves the scaled timers of a client to their deadlines by the present factors: a pass over the slots of all lanes, a
 * slice in each turn of the event loop. Timers that start, or that the program moves, meanwhile already use the new
 * factor. A move to an earlier deadline is a command to the shard; a move to a later one changes a few words in this
 * thread.
 *
 * If a factor is set during a pass, the rest of the pass uses it, and a second pass follows. So each pass ends, however
 * often factors change.
 */
export class Rescaling {
  private readonly client: Client;
  /** The position of the pass: a lane and one of its slots. */
  private lane = 0;
  private slot = 0;
  /**
   * For the present pass, if there is one, and for the next, if it is wanted: what resolves the promises that wait for
   * it.
   */
  private readonly passes: (() => void)[][] = [];

  constructor(client: Client) {
    this.client = client;
  }

  /**
   * Called when a factor has changed. Resolves when all timers that were live then have been moved, or the client is
   * closed.
   */
  begin(): Promise<void> {
    return new Promise((resolve) => {
      const { passes } = this;
      if (passes.length < 2) passes.push([resolve]);
      else passes[1].push(resolve);
      if (passes.length > 1) return; // a pass is under way
      if (this.client.clock.memory.manual) this.step();
      else outsideContexts(this.stepLater);
    });
  }

  /** Resolves when all timers have the deadlines of the present factors: at once if no pass is under way. */
  done(): Promise<void> {
    const last = this.passes.at(-1);
    return last === undefined ? Promise.resolve() : new Promise((resolve) => last.push(resolve));
  }

  private readonly step = (): void => {
    const { client } = this;
    if (client.isClosed || this.slice()) this.end();
    if (client.isClosed) return;
    client.publish();
    if (this.passes.length > 0) outsideContexts(this.stepLater);
  };

  private readonly stepLater = (): void => void setImmediate(this.step);

  private end(): void {
    const ended = this.passes.splice(0, this.client.isClosed ? 2 : 1);
    for (const resolve of ended.flat()) resolve();
    this.lane = 0;
    this.slot = 0;
  }

  /** Continues the pass; returns whether it has ended. With a manual clock, runs it to the end. */
  private slice(): boolean {
    const { client } = this;
    const { clock, lanes } = client;
    const hasEnd = !clock.memory.manual;
    const end = clock.read() + SLICE_MS;
    let moves = 0;
    let unpublished = 0;
    for (; this.lane < lanes.length; this.lane++) {
      const lane = lanes[this.lane];
      if (lane.slotLabels === undefined) continue;
      while (this.slot < lane.table.highWater) {
        if (hasEnd && (moves >= MOVES_PER_SLICE || clock.read() >= end)) return false;
        try {
          unpublished += this.moveSome(
            lane,
            lane.slotLabels,
            Math.min(this.slot + SLOTS_PER_READING, lane.table.highWater),
          );
          if (unpublished < MOVES_PER_PUBLISH) continue;
          client.publish();
        } catch {
          return false; // memory for a command is refused: the next turn continues at this slot
        }
        moves += unpublished;
        unpublished = 0;
      }
      this.slot = 0;
    }
    return true;
  }

  /** Moves some timers; returns how many. */
  private moveSome(lane: ClientLane, labels: SlotLabels, end: number): number {
    const { client } = this;
    const { table } = lane;
    let moved = 0;
    for (; this.slot < end; this.slot++) {
      const { min, slack } = labels.labelOf(this.slot);
      if (min === undefined || lane.payload.isRepeating(this.slot)) continue;
      const deadline = labels.scaledDeadlineOf(this.slot);
      if (deadline === table.deadlineOf(this.slot)) continue;
      client.move(lane, this.slot, deadline, slack);
      moved += 1;
    }
    return moved;
  }
}
