import { CapacityExceededError } from '../errors.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { TimerId } from '../timer-id.ts';
import type { StoredTimer } from './durable-store.ts';

/** A timer that is in no store yet. */
export interface YoungTimer {
  readonly id: string;
  timer: StoredTimer;
  /** When it is to be stored, ms of the monotonic clock. */
  readonly storeAt: number;
  /** Its timer in the wheel. */
  wheelId: TimerId | undefined;
  /** It has been handed to the store, which has not confirmed it: it may be stored or not. */
  isUncertain: boolean;
}

/**
 * The timers that are in memory alone, as they were scheduled less than their `persistAfter` ago. Each has one timer in the wheel, for its
 * deadline or for the time at which it is stored, whichever comes first. To move or cancel one costs no write.
 */
export class YoungTier {
  private readonly scheduler: Scheduler;
  private readonly limit: number;
  private readonly wake: (young: YoungTimer) => void;
  private readonly all = new Map<string, YoungTimer>();

  /** `wake` is called with a timer that is due, or to be stored. It stays here until `remove`. */
  constructor(scheduler: Scheduler, limit: number, wake: (young: YoungTimer) => void) {
    this.scheduler = scheduler;
    this.limit = limit;
    this.wake = wake;
  }

  get size(): number {
    return this.all.size;
  }

  get isFull(): boolean {
    return this.all.size >= this.limit;
  }

  get(id: string): YoungTimer | undefined {
    return this.all.get(id);
  }

  values(): Iterable<YoungTimer> {
    return this.all.values();
  }

  /** `persistAfter` in ms. Returns false if the scheduler, which may be the caller's, has no room. */
  add(id: string, timer: StoredTimer, persistAfter: number): boolean {
    const young: YoungTimer = {
      id,
      timer,
      storeAt: performance.now() + persistAfter,
      wheelId: undefined,
      isUncertain: false,
    };
    try {
      this.set(young);
    } catch (error) {
      if (error instanceof CapacityExceededError) return false;
      throw error;
    }
    this.all.set(id, young);
    return true;
  }

  /** The time at which it is stored does not move: a timer that moves for ever is stored all the same. */
  move(young: YoungTimer, timer: StoredTimer): void {
    young.timer = timer;
    this.set(young);
  }

  /** Wakes it after `delay` ms. */
  setAfter(young: YoungTimer, delay: number): void {
    if (young.wheelId !== undefined && this.scheduler.rescheduleAfter(young.wheelId, delay)) return;
    young.wheelId = this.scheduler.scheduleAfter(0, delay, this.fire, young);
  }

  remove(young: YoungTimer): void {
    this.unset(young);
    this.all.delete(young.id);
  }

  /** Stops its timer in the wheel. */
  unset(young: YoungTimer): void {
    if (young.wheelId !== undefined) this.scheduler.cancel(young.wheelId);
    young.wheelId = undefined;
  }

  private set(young: YoungTimer): void {
    const untilDue = young.timer.due - Date.now();
    const untilStored = young.storeAt - performance.now();
    this.setAfter(young, Math.max(0, Math.min(untilDue, untilStored)));
  }

  private readonly fire = (young: YoungTimer): void => {
    young.wheelId = undefined;
    this.wake(young);
  };
}
