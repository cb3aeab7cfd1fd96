import type { Scheduler } from 'shardwheel';
import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from '../timer-kind.ts';
import type { OnFire, Subject } from './subject.ts';

/**
 * shardwheel by delays: each call reads the clock. The hint is the connection's, so that a shard keeps all of its
 * timers.
 */
export class ShardwheelTimers implements Subject {
  readonly ready: Promise<void>;
  readonly scheduler: Scheduler;
  protected readonly ids: Float64Array;
  protected readonly callbacks: ((timer: number) => void)[];

  constructor(handles: number, onFire: OnFire, scheduler: Scheduler) {
    this.scheduler = scheduler;
    this.ready = scheduler.ready;
    this.ids = new Float64Array(handles);
    this.callbacks = ([CONNECT, IDLE, REQUEST, TIME_WAIT] as const).map((kind) => (timer) => onFire(kind, timer));
  }

  beginSlice(): void {}

  arm(kind: TimerKind, handle: number, hint: number, delay: number, timer: number): void {
    this.ids[handle] = this.scheduler.scheduleAfter(hint, delay, this.callbacks[kind]!, timer);
  }

  move(handle: number, delay: number): boolean {
    return this.scheduler.rescheduleAfter(this.ids[handle]!, delay);
  }

  cancel(handle: number): boolean {
    return this.scheduler.cancel(this.ids[handle]!);
  }

  forget(): void {}

  stats(): Promise<unknown> {
    return this.scheduler.stats();
  }

  async close(handBack: (timer: number) => void): Promise<void> {
    for (const { argument } of await this.scheduler.close()) handBack(argument as number);
  }
}

/** shardwheel by deadlines: the clock is read once per slice. */
export class ShardwheelDeadlines extends ShardwheelTimers {
  protected now = 0;

  override beginSlice(): void {
    this.now = this.scheduler.now();
  }

  override arm(kind: TimerKind, handle: number, hint: number, delay: number, timer: number): void {
    this.ids[handle] = this.scheduler.schedule(hint, this.now + delay, this.callbacks[kind]!, timer);
  }

  override move(handle: number, delay: number): boolean {
    return this.scheduler.reschedule(this.ids[handle]!, this.now + delay);
  }
}

/** The same without callback and argument, for loads in which nothing fires. */
export class ShardwheelBatches extends ShardwheelDeadlines {
  constructor(handles: number, onFire: OnFire, scheduler: Scheduler) {
    super(handles, onFire, scheduler);
    this.scheduler.on('fired', ({ length }) => {
      throw new Error(`${length} timers fired that were not to`);
    });
  }

  override arm(_kind: TimerKind, handle: number, hint: number, delay: number): void {
    this.ids[handle] = this.scheduler.schedule(hint, this.now + delay);
  }
}
