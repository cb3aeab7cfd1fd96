import type { Client } from '../client/client.ts';
import type { TimerId } from '../timer-id.ts';

/** How many are remembered before stale ones are first dropped. */
const FIRST_SWEEP = 12;

/**
 * The ids of a group's timers beyond those that it holds itself.
 *
 * Stale ids are dropped when they may be more than half of all. So they cost a number per live timer, and O(1) per
 * call.
 *
 * Invariant: length < dropAt <= max(FIRST_SWEEP, 2 × live at the last look).
 * @internal
 */
export class FurtherIds {
  /** Of ids, live or stale. */
  length = 0;
  private readonly ids: TimerId[] = [];
  private dropAt = FIRST_SWEEP;

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
    this.dropAt = Math.max(FIRST_SWEEP, live * 2);
    return live;
  }

  /**
   * Forgets all and cancels those that are live; returns how many they were. Where somebody waits, code of the program
   * may run, and what that adds stays. The array is kept.
   */
  cancelAll(client: Client): number {
    const { length } = this;
    const ids = client.waiters === 0 ? this.ids : this.all();
    this.length = 0;
    this.dropAt = FIRST_SWEEP;
    let cancelled = 0;
    for (let i = 0; i < length; i++) cancelled += cancelOne(client, ids[i]);
    return cancelled;
  }

  all(): readonly TimerId[] {
    return this.ids.slice(0, this.length);
  }
}

/** Cancels a timer with its group; returns how many that has ended: one or none. @internal */
export function cancelOne(client: Client, id: TimerId): number {
  return !client.isClosed && client.cancel(id, 'cancelled with its group') ? 1 : 0;
}
