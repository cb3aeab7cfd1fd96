import { AllocationError, CapacityExceededError, SchedulerClosedError } from '../../../errors.ts';
import { createScheduler } from '../../../scheduler/create-scheduler.ts';
import type { Scheduler } from '../../../scheduler/scheduler.ts';
import { clearInterval, setImmediate, setInterval, setTimeout } from '../../../time/native-timers.ts';
import type { TimerId } from '../../../timer-id.ts';
import { performanceNow } from '../../../unfaked.ts';
import { awaited, type WaitEnd, Waiter } from '../../../waiter.ts';
import type { Claim, DueTimer, Ending, StoredTimer } from '../stored-timer.ts';
import type { WallClock } from '../wall-clock.ts';

/** ms between two looks whether the wall clock was set, and whether the caller's scheduler wakes in time. */
const CLOCK_CHECK_MS = 500;
/** ms by which the wall clock may go another way than the monotonic one: what is set meanwhile is late by so much. */
const TOLERANCE_MS = 20;
/** Timers that are looked at every half second, whether they are late: some 10 ms. */
const MAX_LOOKED_AT = 50_000;
/** Timers that are set again, or looked at, in one go: some 2 ms. */
const TIMERS_PER_SLICE = 5000;

/**
 * A timer in memory, which is woken at a time of the wall clock: no store has it yet, or it stands in the wheel beside
 * its store.
 */
export abstract class AlarmedTimer extends Waiter implements DueTimer {
  override readonly call = 'durable timer';
  override readonly isSettledByClose = true;
  /** Its timer, and the scheduler that has it; undefined while it is not set. */
  timerId: TimerId | undefined = undefined;
  scheduler: Scheduler | undefined = undefined;
  abstract readonly name: string;
  abstract readonly key: string;
  /** ms until it is to be woken, at least 0. */
  abstract readonly delay: number;
  private readonly alarms: Alarms;

  constructor(alarms: Alarms) {
    super();
    this.alarms = alarms;
  }

  abstract wake(): void;
  abstract claim(): Promise<Claim | undefined>;
  abstract writeEnding(attempt: StoredTimer, ending: Ending): Promise<boolean>;

  protected override letGo(): void {
    this.timerId = undefined;
    this.scheduler = undefined;
  }

  /** The program may have closed its scheduler, or cancelled what it has not set. */
  protected override ended(how: WaitEnd): void {
    if (how === 'delivered') this.wake();
    else this.alarms.takeOver(this);
  }
}

/**
 * Wakes timers in memory by a scheduler, which is the caller's or one of their own, inline. They follow the wall clock
 * when it is set; and if the caller closes the scheduler, or cancels one of them there, one of their own takes over.
 * The caller's may be coarse, or stand still: what it has not woken is found by looks, in real time.
 */
export class Alarms {
  readonly clock: WallClock;
  private scheduler: Scheduler;
  private own: Scheduler | undefined;
  private readonly sources: (() => Iterable<AlarmedTimer>)[] = [];
  private readonly watch = setInterval(() => this.look(), CLOCK_CHECK_MS);
  private clockOffset: number;
  private readonly unfollow: () => void;
  /** What is looked at next. */
  private looking = this.all();
  private isWaking = false;
  private isClosed = false;

  constructor(scheduler: Scheduler | undefined, clock: WallClock) {
    this.scheduler = scheduler ?? this.ownScheduler();
    this.clock = clock;
    this.clockOffset = this.offset;
    this.unfollow = clock.follow(() => void this.setAgain());
    this.watch.unref();
  }

  /** `source` has timers that are to follow the clock. */
  add(source: () => Iterable<AlarmedTimer>): void {
    this.sources.push(source);
  }

  /**
   * Sets a timer, or moves it. Returns false, and it is not set, if the scheduler has no room, or is refused memory.
   */
  set(timer: AlarmedTimer): boolean {
    if (this.isClosed) return false;
    try {
      return this.setOn(timer.scheduler ?? this.scheduler, timer);
    } catch (error) {
      timer.leave();
      if (error instanceof CapacityExceededError || error instanceof AllocationError) return false;
      if (!(error instanceof SchedulerClosedError) || this.scheduler === this.own) throw error;
      this.scheduler = this.ownScheduler();
      return this.set(timer);
    }
  }

  /**
   * Sets a timer that the caller's scheduler no longer has, or has no room for, on one that only this package knows.
   * Throws nothing, as the program may be within a call of its own: without room the timer is woken a little later, and
   * finds what is to be done.
   */
  takeOver(timer: AlarmedTimer): void {
    if (this.isClosed) return;
    try {
      this.setOn(this.ownScheduler(), timer);
    } catch {
      // Memory was refused.
      timer.leave();
      setTimeout(() => this.isClosed || timer.wake(), CLOCK_CHECK_MS).unref();
    }
  }

  unset(timer: AlarmedTimer): void {
    timer.leave();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.watch);
    this.unfollow();
    await this.own?.close();
  }

  /** Returns true. Throws CapacityExceededError, SchedulerClosedError, AllocationError. */
  private setOn(scheduler: Scheduler, timer: AlarmedTimer): boolean {
    const { timerId, delay } = timer;
    if (timerId !== undefined && scheduler.rescheduleAfter(timerId, delay)) return true;
    timer.timerId = scheduler.scheduleAfter(0, delay, awaited, timer);
    timer.scheduler = scheduler;
    return true;
  }

  private ownScheduler(): Scheduler {
    this.own ??= createScheduler({ shards: 0 });
    return this.own;
  }

  private get offset(): number {
    return this.clock.now() - performanceNow();
  }

  private look(): void {
    const { offset } = this;
    if (!this.clock.isManual && Math.abs(offset - this.clockOffset) >= TOLERANCE_MS) {
      this.clockOffset = offset;
      void this.setAgain();
    } else if (this.scheduler !== this.own) {
      void this.wakeLate();
    }
  }

  /** Wakes what the caller's scheduler has not: its tick or its slack may be long, its clock a manual one. */
  private async wakeLate(): Promise<void> {
    if (this.isWaking) return;
    this.isWaking = true;
    for (let count = 1; count <= MAX_LOOKED_AT; count++) {
      const { value: timer, done } = this.looking.next();
      if (done === true) {
        this.looking = this.all();
        break;
      }
      if (timer.timerId !== undefined && timer.delay === 0) {
        this.unset(timer); // as if it had been delivered
        timer.wake();
      }
      if (count % TIMERS_PER_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
      if (this.isClosed) return;
    }
    this.isWaking = false;
  }

  private *all(): Generator<AlarmedTimer, undefined> {
    for (const source of this.sources) yield* source();
    return undefined;
  }

  private async setAgain(): Promise<void> {
    for (const source of this.sources) {
      let count = 0;
      for (const timer of source()) {
        if (timer.timerId !== undefined && !this.set(timer)) this.takeOver(timer);
        count += 1;
        if (count % TIMERS_PER_SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}
