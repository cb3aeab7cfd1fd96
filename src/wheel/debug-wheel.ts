import type { TimerId } from '../timer-id.ts';
import { checkInvariants } from './check-invariants.ts';
import type { AdvanceResult, FireHandler, TimingWheel, WheelMemoryStats, WheelTimer } from './timing-wheel.ts';
import type { WheelSnapshot } from './wheel-snapshot.ts';

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

export interface DebugOptions {
  /** Checks every invariant after every operation: O(timers) each. Default true. */
  check?: boolean;
  /** Called with one line per operation and its result. Default: none. */
  log?: (line: string) => void;
  /** Called when `clear` or `close` drops timers that were not cancelled. Default: none. */
  onDropped?: (dropped: LifecycleEntry[]) => void;
}

/** A wheel that checks itself, logs its operations, and remembers which timers have not been cancelled. */
export class DebugWheel<T> implements TimingWheel<T> {
  readonly lifecycle: LifecycleLog;
  private readonly wheel: TimingWheel<T>;
  private readonly check: boolean;
  private readonly log: ((line: string) => void) | undefined;

  constructor(wheel: TimingWheel<T>, { check = true, log, onDropped }: DebugOptions = {}) {
    this.wheel = wheel;
    this.check = check;
    this.log = log;
    this.lifecycle = new LifecycleLog(onDropped);
  }

  get start(): number {
    return this.wheel.start;
  }

  get precision(): number {
    return this.wheel.precision;
  }

  get now(): number {
    return this.wheel.now;
  }

  get size(): number {
    return this.wheel.size;
  }

  get upperBound(): number {
    return this.wheel.upperBound;
  }

  schedule(deadline: number, value: T): TimerId {
    const id = this.wheel.schedule(deadline, value);
    this.lifecycle.scheduled(id, deadline);
    return this.done(`schedule(${deadline})`, id);
  }

  reschedule(id: TimerId, deadline: number): boolean {
    const moved = this.wheel.reschedule(id, deadline);
    if (moved) this.lifecycle.rescheduled(id, deadline);
    return this.done(`reschedule(${id}, ${deadline})`, moved);
  }

  cancel(id: TimerId): boolean {
    const cancelled = this.wheel.cancel(id);
    if (cancelled) this.lifecycle.ended(id);
    return this.done(`cancel(${id})`, cancelled);
  }

  advanceTo(now: number, onFire: FireHandler<T>, limit?: number): AdvanceResult {
    const result = this.wheel.advanceTo(now, this.observed(onFire), limit);
    this.done(`advanceTo(${now})`, `fired ${result.fired}, cascaded ${result.cascaded}, next ${result.nextExpiration}`);
    return result;
  }

  clear(): void {
    this.wheel.clear();
    this.done('clear()', this.lifecycle.dropped().length);
  }

  has(id: TimerId): boolean {
    return this.wheel.has(id);
  }

  get(id: TimerId): T | undefined {
    return this.wheel.get(id);
  }

  deadlineOf(id: TimerId): number | undefined {
    return this.wheel.deadlineOf(id);
  }

  nextExpiration(): number | undefined {
    return this.wheel.nextExpiration();
  }

  intervalNumber(time: number): number {
    return this.wheel.intervalNumber(time);
  }

  intervalNumberStart(n: number): number {
    return this.wheel.intervalNumberStart(n);
  }

  intervalStart(time: number): number {
    return this.wheel.intervalStart(time);
  }

  durations(): number[] {
    return this.wheel.durations();
  }

  memoryStats(): WheelMemoryStats {
    return this.wheel.memoryStats();
  }

  snapshot(): WheelSnapshot {
    return this.wheel.snapshot();
  }

  [Symbol.iterator](): Iterator<WheelTimer<T>> {
    return this.wheel[Symbol.iterator]();
  }

  private observed(onFire: FireHandler<T>): FireHandler<T> {
    if (typeof onFire !== 'function') return onFire;
    return (value, id, deadline) => {
      this.lifecycle.ended(id);
      this.log?.(`fired ${id} at ${this.wheel.now}`);
      onFire(value, id, deadline);
    };
  }

  /** Also within a handler: a wheel is consistent whenever a user can see it. */
  private done<R>(operation: string, result: R): R {
    this.log?.(`${operation} -> ${String(result)}`);
    if (this.check) checkInvariants(this.wheel.snapshot());
    return result;
  }
}
