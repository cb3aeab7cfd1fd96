import type { Client } from '../client/client.ts';
import type { TimerId } from '../timer-id.ts';

/** How many are remembered before stale ones are first dropped. */
const FIRST_LOOK = 12;

/**
 * The ids of a group's timers beyond those that it holds itself, and whether somebody waits for any of its timers.
 *
 * Stale ids are dropped when they may be more than half of all. So they cost a number per live timer, and O(1) per call.
 *
 * Invariant: length < dropAt <= max(FIRST_LOOK, 2 × live at the last look).
 * @internal
 */
export class FurtherIds {
  /** Of ids, live or stale. */
  length = 0;
  /** Whether somebody may wait for a timer of the group. */
  hasWaits = false;
  private readonly ids: TimerId[] = [];
  private dropAt = FIRST_LOOK;

  add(id: TimerId, client: Client): void {
    this.ids[this.length++] = id;
    if (this.length >= this.dropAt) this.dropStale(client);
  }

  /** Forgets the ids whose timers have ended; returns how many are left. Precondition: the client is open. */
  dropStale(client: Client): number {
    const { ids } = this;
    let live = 0;
    for (let i = 0; i < this.length; i++) if (client.has(ids[i])) ids[live++] = ids[i];
    this.length = live;
    this.dropAt = Math.max(FIRST_LOOK, live * 2);
    return live;
  }

  /**
   * Forgets all and cancels those that are live; returns how many they were. What the program's code adds meanwhile, if there are
   * waits, stays. The array is kept.
   */
  cancelAll(client: Client): number {
    const { length } = this;
    const ids = this.hasWaits ? this.all() : this.ids;
    this.length = 0;
    this.dropAt = FIRST_LOOK;
    let cancelled = 0;
    for (let i = 0; i < length; i++) cancelled += cancelOne(client, ids[i], this.hasWaits);
    return cancelled;
  }

  all(): readonly TimerId[] {
    return this.ids.slice(0, this.length);
  }
}

/** Cancels a timer of a group, and tells whoever waits for it; returns how many that has ended: one or none. @internal */
export function cancelOne(client: Client, id: TimerId, isWaitedFor: boolean): number {
  if (client.isClosed) return 0;
  const wasLive = isWaitedFor ? client.cancelWaiting(id) : client.cancel(id);
  return wasLive ? 1 : 0;
}
