import { createScheduler, type Scheduler, type SchedulerOptions } from '../../src/index.ts';
import type { ReplayOptions } from '../options.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from '../timer-kind.ts';
import type { OnFire, Subject } from './subject.ts';

/** shardwheel, with the connection's number as the hint, so that all timers of a connection live on one shard. */
export class ShardwheelTimers implements Subject {
  readonly ready: Promise<void>;
  readonly scheduler: Scheduler;
  readonly #callbacks: ((timer: number) => void)[];
  readonly #ids: Float64Array;

  constructor(handles: number, onFire: OnFire, { shards, wheel, tick }: ReplayOptions, more: SchedulerOptions = {}) {
    this.scheduler = createScheduler({ shards, wheel, tick, ...more });
    this.ready = this.scheduler.ready;
    this.#ids = new Float64Array(handles);
    this.#callbacks = ([CONNECT, IDLE, REQUEST, TIME_WAIT] as const).map((kind) => (timer) => onFire(kind, timer));
  }

  arm(kind: TimerKind, handle: number, hint: number, delay: number, timer: number): void {
    this.#ids[handle] = this.scheduler.scheduleAfter(hint, delay, this.#callbacks[kind]!, timer);
  }

  move(handle: number, delay: number): boolean {
    return this.scheduler.rescheduleAfter(this.#ids[handle]!, delay);
  }

  cancel(handle: number): boolean {
    return this.scheduler.cancel(this.#ids[handle]!);
  }

  forget(): void {}

  stats(): Promise<unknown> {
    return this.scheduler.stats();
  }

  async close(handBack: (timer: number) => void): Promise<void> {
    for (const { argument } of await this.scheduler.close()) handBack(argument as number);
  }
}
