import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from './client.ts';
import type { ClientLane } from './client-lane.ts';
import { inNextTurn } from './next-turn.ts';

/** How long one turn of the event loop may spend, ms, and between two readings of the clock how many slots it looks at. */
const SLICE = 0.25;
const SLOTS_PER_READING = 16;
/** Timers moved in one turn at most. */
const MOVES_PER_SLICE = 1024;
/** Timers moved before they are published: an inline shard files them at once, and that is part of the slice's time. */
const MOVES_PER_PUBLISH = 128;

/**
 * Moves the scaled timers of a client to where the factors of now put them: a pass over the slots of all lanes, a slice in
 * each turn of the event loop. A timer that starts, or is moved by the program, meanwhile has the new factor as it is. To an
 * earlier deadline a move is a command to the shard, to a later one a few words in this thread.
 *
 * A factor that is set during a pass counts for what is left of it, and a second pass follows: so each pass comes to its
 * end, however often factors change.
 */
export class Rescaling {
  private readonly client: Client;
  /** Where the pass stands: a lane and a slot of it. */
  private lane = 0;
  private slot = 0;
  private isRunning = false;
  private isWantedAgain = false;
  /** Resolves what waits for the pass that runs, and for the one that is to follow. */
  private finished: (() => void)[] = [];
  private finishedNext: (() => void)[] = [];

  constructor(client: Client) {
    this.client = client;
  }

  /** A factor has changed. Resolves when all timers that were live then are where it puts them, or the client is closed. */
  begin(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isRunning) {
        this.isWantedAgain = true;
        this.finishedNext.push(resolve);
        return;
      }
      this.finished.push(resolve);
      this.isRunning = true;
      if (this.client.clock.memory.manual) this.step();
      else outsideContexts(this.stepLater);
    });
  }

  /** Resolves when all timers are where the factors of now put them: at once where no pass is under way. */
  settled(): Promise<void> {
    if (!this.isRunning) return Promise.resolve();
    return new Promise((resolve) => (this.isWantedAgain ? this.finishedNext : this.finished).push(resolve));
  }

  private readonly step = (): void => {
    const { client } = this;
    if (client.isClosed || this.slice()) this.end();
    if (client.isClosed) return;
    client.publish();
    if (this.isRunning) outsideContexts(this.stepLater);
  };

  private readonly stepLater = (): void => void inNextTurn(this.step);

  private end(): void {
    for (const resolve of this.finished) resolve();
    this.finished = this.finishedNext;
    this.finishedNext = [];
    this.lane = 0;
    this.slot = 0;
    this.isRunning = this.isWantedAgain && !this.client.isClosed;
    this.isWantedAgain = false;
    if (!this.isRunning) for (const resolve of this.finished.splice(0)) resolve();
  }

  /** Goes on with the pass; returns whether that is its end. With a manual clock, to the end at once. */
  private slice(): boolean {
    const { client } = this;
    const { clock, lanes } = client;
    const hasEnd = !clock.memory.manual;
    const end = clock.exact() + SLICE;
    let moves = 0;
    let unpublished = 0;
    for (; this.lane < lanes.length; this.lane++, this.slot = 0) {
      const lane = lanes[this.lane];
      if (lane.labels === undefined) continue;
      while (this.slot < lane.table.highWater) {
        if (hasEnd && (moves >= MOVES_PER_SLICE || clock.exact() >= end)) return false;
        try {
          unpublished += this.moveSome(lane, Math.min(this.slot + SLOTS_PER_READING, lane.table.highWater));
          if (unpublished < MOVES_PER_PUBLISH) continue;
          client.publish();
        } catch {
          return false; // memory for a command is refused: the next turn goes on at this slot
        }
        if (client.isClosed) return true; // by a listener who was told of what failed
        moves += unpublished;
        unpublished = 0;
      }
    }
    return true;
  }

  /** Returns how many it has moved. */
  private moveSome(lane: ClientLane, end: number): number {
    const { client } = this;
    const { labels, table } = lane;
    let moved = 0;
    for (; this.slot < end; this.slot++) {
      const deadline = labels === undefined ? Number.NaN : labels.scaledDeadlineOf(this.slot);
      if (Number.isNaN(deadline) || deadline === table.deadlineOf(this.slot)) continue;
      client.move(lane, this.slot, deadline);
      client.rescheduled -= 1; // it is not the program that has moved it
      moved += 1;
    }
    return moved;
  }
}
