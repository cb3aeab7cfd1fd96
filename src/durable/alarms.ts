import { HANDED_BACK, type HandedBack } from '../client/hand-back.ts';
import { CapacityExceededError, SchedulerClosedError } from '../errors.ts';
import { createScheduler } from '../scheduler/create-scheduler.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { clearInterval, setImmediate, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';

/** ms between two looks whether the wall clock was set. */
const LOOK_MS = 500;
/** ms by which the wall clock may go another way than the monotonic one: what is set meanwhile is late by so much. */
const TOLERANCE_MS = 20;
/** Alarms that are set again in one go: some 2 ms. */
const SLICE = 5000;

/** Something that is woken at a time of the wall clock. */
export abstract class Alarm implements HandedBack {
  protected abstract readonly alarms: Alarms;
  /** Its timer, and the scheduler that has it; undefined while it is not set. */
  timerId: TimerId | undefined = undefined;
  scheduler: Scheduler | undefined = undefined;

  /** ms since 1970. */
  abstract get wakesAt(): number;
  abstract wake(): void;

  /** The scheduler was closed. */
  [HANDED_BACK](): void {
    if (this.timerId === undefined) return; // it was unset since
    this.timerId = undefined;
    this.alarms.set(this);
  }
}

/**
 * Wakes alarms by a scheduler, which is the caller's or one of their own, inline. They follow the wall clock when it is set; and if
 * the caller closes the scheduler, one of their own takes over.
 */
export class Alarms {
  private scheduler: Scheduler;
  private own: Scheduler | undefined;
  private readonly sources: (() => Iterable<Alarm>)[] = [];
  private readonly watch = setInterval(() => this.look(), LOOK_MS);
  private clockOffset = Date.now() - performance.now();
  private isClosed = false;

  constructor(scheduler: Scheduler | undefined) {
    if (scheduler === undefined) this.own = createScheduler({ shards: 0 });
    this.scheduler = scheduler ?? (this.own as Scheduler);
    this.watch.unref();
  }

  /** `source` has alarms that are to follow the clock. */
  add(source: () => Iterable<Alarm>): void {
    this.sources.push(source);
  }

  /** Sets an alarm, or moves it. Returns false, and it is not set, if the scheduler has no room. */
  set(alarm: Alarm): boolean {
    if (this.isClosed) return false;
    const delay = Math.max(0, alarm.wakesAt - Date.now());
    try {
      const { timerId, scheduler } = alarm;
      const isSet = timerId !== undefined && scheduler === this.scheduler;
      if (isSet && this.scheduler.rescheduleAfter(timerId, delay)) return true;
      alarm.timerId = this.scheduler.scheduleAfter(0, delay, this.fire, alarm);
      alarm.scheduler = this.scheduler;
      return true;
    } catch (error) {
      alarm.timerId = undefined;
      if (error instanceof CapacityExceededError) return false;
      if (!(error instanceof SchedulerClosedError) || this.own !== undefined) throw error;
      this.own = createScheduler({ shards: 0 });
      this.scheduler = this.own;
      return this.set(alarm);
    }
  }

  unset(alarm: Alarm): void {
    if (alarm.timerId !== undefined && alarm.scheduler === this.scheduler) this.cancel(alarm.timerId);
    alarm.timerId = undefined;
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.watch);
    await this.own?.close();
  }

  private cancel(id: TimerId): void {
    try {
      this.scheduler.cancel(id);
    } catch (error) {
      if (!(error instanceof SchedulerClosedError)) throw error; // it fires no more
    }
  }

  private readonly fire = (alarm: Alarm): void => {
    alarm.timerId = undefined;
    alarm.wake();
  };

  private look(): void {
    const offset = Date.now() - performance.now();
    if (Math.abs(offset - this.clockOffset) < TOLERANCE_MS) return;
    this.clockOffset = offset;
    void this.setAgain();
  }

  private async setAgain(): Promise<void> {
    for (const source of this.sources) {
      let count = 0;
      for (const alarm of source()) {
        if (alarm.timerId !== undefined) this.set(alarm);
        count += 1;
        if (count % SLICE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}
