import type { TimerId } from '../timer-id.ts';

/** Number of timers of one turn that are reported one by one. */
const MAX_REPORTED_TIMERS = 16;

/** A timer that was delivered later than a watched threshold. */
export interface LateTimer {
  /** Undefined for a drop-in timer, which has no id. */
  id: TimerId | undefined;
  /** ms */
  deadline: number;
  /** The scheduler's time at the delivery, in ms. */
  now: number;
  /** `now` minus `deadline`, ms. */
  lateness: number;
  /** Undefined for a drop-in timer. */
  shard: number | undefined;
  /** The callback's name, which may be empty; undefined if the timer has no callback. */
  callback: string | undefined;
}

/** The late timers of one turn of the event loop. */
export interface LateTurn {
  /** In ms; all of these timers were later. */
  threshold: number;
  /** Number of late timers. */
  count: number;
  /** The largest lateness among them, in ms. */
  max: number;
  /** The first of them, at most 16. */
  timers: LateTimer[];
}

/** Number of watches for each threshold in ms. */
const watchers = new Map<number, number>();

/** The lowest threshold that this thread watches; Infinity if there is none. @internal */
export const watched = { above: Number.POSITIVE_INFINITY };

/**
 * Watches a threshold from the next turn of each client on. Returns a function that ends the watch; it works once.
 * @internal
 */
export function watchFor(threshold: number): () => void {
  watchers.set(threshold, (watchers.get(threshold) ?? 0) + 1);
  watched.above = Math.min(...watchers.keys());
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    const left = (watchers.get(threshold) as number) - 1;
    if (left === 0) watchers.delete(threshold);
    else watchers.set(threshold, left);
    watched.above = Math.min(...watchers.keys());
  };
}

/** The late timers of one turn, for each watched threshold: it counts all and keeps 16 of them. @internal */
export class LateTimers {
  private readonly turns: readonly LateTurn[] = [...watchers.keys()].map((threshold) => {
    return { threshold, count: 0, max: 0, timers: [] };
  });

  note(id: TimerId | undefined, deadline: number, now: number, shard: number | undefined, callback: unknown): void {
    const lateness = now - deadline;
    for (const turn of this.turns) {
      if (lateness <= turn.threshold) continue;
      turn.count += 1;
      if (lateness > turn.max) turn.max = lateness;
      if (turn.timers.length < MAX_REPORTED_TIMERS) {
        turn.timers.push({ id, deadline, now, lateness, shard, callback: callbackName(callback) });
      }
    }
  }

  /** The thresholds that had late timers. */
  all(): LateTurn[] {
    return this.turns.filter(({ count }) => count > 0);
  }
}

/** The name of a callback, '' if it has none or it cannot be read; undefined if it is not a function. Never throws. */
export function callbackName(callback: unknown): string | undefined {
  if (typeof callback !== 'function') return undefined;
  try {
    const name: unknown = callback.name;
    return typeof name === 'string' ? name : '';
  } catch {
    return ''; // the program's own getter has thrown
  }
}
