import type { TimerId } from '../timer-id.ts';
import { callbackName } from './callback-name.ts';

/** Timers of one turn that are told one by one. */
const TOLD = 16;

/** A timer that was delivered later than somebody watches for. */
export interface LateTimer {
  /** Undefined for a drop-in timer, which has none. */
  id: TimerId | undefined;
  /** ms */
  deadline: number;
  /** The scheduler's time at the delivery, ms. */
  now: number;
  /** `now` minus `deadline`, ms. */
  lateness: number;
  shard: number;
  /** The callback's name, which may be empty; undefined where the timer has no callback. */
  callback: string | undefined;
}

/** Those of one turn of the event loop. */
export interface LateTurn {
  /** ms; all of these were later. */
  threshold: number;
  /** How many. */
  count: number;
  /** The longest lateness among them, ms. */
  max: number;
  /** The first of them, 16 at most. */
  timers: LateTimer[];
}

/** How many watch for each threshold, ms. */
const watchers = new Map<number, number>();

/** What this thread watches for; Infinity where nobody does. */
export const watched = { above: Number.POSITIVE_INFINITY };

/** From the next turn of each client on. Returns what ends it, once. */
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

/** The late timers of one turn, for each threshold that is watched for: however many they are, 16 of them are kept. */
export class LateTimers {
  private readonly turns: readonly LateTurn[] = [...watchers.keys()].map((threshold) => {
    return { threshold, count: 0, max: 0, timers: [] };
  });

  note(id: TimerId | undefined, deadline: number, now: number, shard: number, callback: unknown): void {
    const lateness = now - deadline;
    for (const turn of this.turns) {
      if (lateness <= turn.threshold) continue;
      turn.count += 1;
      if (lateness > turn.max) turn.max = lateness;
      if (turn.timers.length < TOLD) {
        turn.timers.push({ id, deadline, now, lateness, shard, callback: callbackName(callback) });
      }
    }
  }

  /** Where there were any. */
  all(): LateTurn[] {
    return this.turns.filter(({ count }) => count > 0);
  }
}
