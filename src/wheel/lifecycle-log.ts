import type { TimerId } from '../timer-id.ts';

export interface LifecycleEntry {
  readonly id: TimerId;
  readonly deadline: number;
  /** The line of code that scheduled the timer, if stacks show it. */
  readonly scheduledAt: string;
}

/**
 * The timers that were scheduled, and not yet fired or cancelled: their owners must still cancel them. For debugging; takes a
 * stack per timer.
 */
export class LifecycleLog {
  private readonly open = new Map<TimerId, LifecycleEntry>();
  private readonly onDropped: ((dropped: LifecycleEntry[]) => void) | undefined;

  constructor(onDropped?: (dropped: LifecycleEntry[]) => void) {
    this.onDropped = onDropped;
  }

  /** Notes a timer, with the line that schedules it. */
  scheduled(id: TimerId, deadline: number): void {
    this.open.set(id, { id, deadline, scheduledAt: callSite() });
  }

  /** Notes the new deadline of a timer. */
  rescheduled(id: TimerId, deadline: number): void {
    const entry = this.open.get(id);
    if (entry !== undefined) this.open.set(id, { ...entry, deadline });
  }

  /** Cancelled or fired. */
  ended(id: TimerId): void {
    this.open.delete(id);
  }

  /** Reports everything that is still open as dropped without a cancel, and forgets it. */
  dropped(): LifecycleEntry[] {
    const dropped = this.outstanding();
    this.open.clear();
    if (dropped.length > 0) this.onDropped?.(dropped);
    return dropped;
  }

  /** Returns the timers that are still open. */
  outstanding(): LifecycleEntry[] {
    return [...this.open.values()];
  }
}

/** The first frame of the stack outside this directory, if this code's path is known: in a bundle it may not be. */
function callSite(): string {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const { url } = import.meta as Partial<ImportMeta>;
  const inside = url === undefined ? undefined : new URL('.', url).pathname;
  return frames.find((frame) => inside === undefined || !frame.includes(inside))?.trim() ?? 'unknown';
}
