import { availableParallelism } from 'node:os';
import { createScheduler, type Scheduler } from '../../src/index.ts';
import type { SubjectEntry } from '../suite.ts';
import type { OnFire, TimerSubject } from './timer-subject.ts';

export const DRIVER = 'driver alone';
export const NODE = 'node:timers';
export const SHARDWHEEL = 'shardwheel';
export const AFTER = 'shardwheel, after';
export const BATCH = 'shardwheel, batch';

/** The subject named `shards n` has that many. */
const shardsOf = (name: string): number =>
  name.startsWith('shards ') ? Number(name.slice('shards '.length)) : availableParallelism();

export const driverEntry: SubjectEntry = { name: DRIVER, note: 'the same driver, keeping a number per timer' };
export const nodeEntry: SubjectEntry = { name: NODE, note: 'setTimeout with an argument, clearTimeout, refresh' };
export const shardwheelEntry: SubjectEntry = {
  name: SHARDWHEEL,
  note: `${availableParallelism()} shards; deadlines by schedule() and reschedule() on a now() read once per slice`,
};
export const afterEntry: SubjectEntry = {
  name: AFTER,
  note: 'the same by scheduleAfter() and rescheduleAfter(), which read the clock in each call',
};
export const batchEntry: SubjectEntry = {
  name: BATCH,
  note: "no callback, no argument: timers arrive in 'fired' batches",
};

export function createSubject(name: string, capacity: number, onFire: OnFire): TimerSubject {
  if (name === DRIVER) return new NoTimers(capacity);
  if (name === NODE) return new NodeTimers(capacity, onFire);
  const options = { shards: shardsOf(name) };
  if (name === AFTER) return new RelativeShardwheel(capacity, onFire, options);
  if (name === BATCH) return new BatchShardwheel(capacity, options);
  return new AbsoluteShardwheel(capacity, onFire, options);
}

class NoTimers implements TimerSubject {
  readonly ready = Promise.resolve();
  private readonly kept: Float64Array;

  constructor(capacity: number) {
    this.kept = new Float64Array(capacity).fill(0);
  }

  slice(): void {}

  start(timer: number, delay: number): void {
    this.kept[timer] = delay;
  }

  cancel(timer: number): boolean {
    const wasLive = this.kept[timer] > 0;
    this.kept[timer] = 0;
    return wasLive;
  }

  move(timer: number): boolean {
    return this.kept[timer] > 0;
  }

  async close(): Promise<number> {
    return this.kept.reduce((live, delay) => live + (delay > 0 ? 1 : 0), 0);
  }
}

/** Node's own timers, as its documentation has them: one function for all, the timer's number as its argument. */
class NodeTimers implements TimerSubject {
  readonly ready = Promise.resolve();
  private readonly timeouts: (NodeJS.Timeout | undefined)[];
  private readonly onTimeout: OnFire;

  constructor(capacity: number, onFire: OnFire) {
    this.timeouts = new Array<NodeJS.Timeout | undefined>(capacity).fill(undefined);
    this.onTimeout = (timer) => {
      this.timeouts[timer] = undefined;
      onFire(timer);
    };
  }

  slice(): void {}

  start(timer: number, delay: number): void {
    this.timeouts[timer] = setTimeout(this.onTimeout, delay, timer);
  }

  cancel(timer: number): boolean {
    const timeout = this.timeouts[timer];
    if (timeout === undefined) return false;
    clearTimeout(timeout);
    this.timeouts[timer] = undefined;
    return true;
  }

  move(timer: number): boolean {
    const timeout = this.timeouts[timer];
    if (timeout === undefined) return false;
    timeout.refresh();
    return true;
  }

  async close(): Promise<number> {
    let live = 0;
    for (let timer = 0; timer < this.timeouts.length; timer++) if (this.cancel(timer)) live++;
    return live;
  }
}

abstract class ShardwheelTimers implements TimerSubject {
  readonly ready: Promise<void>;
  protected readonly scheduler: Scheduler;
  protected readonly ids: Float64Array;

  constructor(capacity: number, options: { shards: number }) {
    this.ids = new Float64Array(capacity).fill(1);
    this.scheduler = createScheduler(options);
    this.ready = this.scheduler.ready;
  }

  abstract slice(): void;
  abstract start(timer: number, delay: number): void;
  abstract move(timer: number, delay: number): boolean;

  cancel(timer: number): boolean {
    return this.scheduler.cancel(this.ids[timer]);
  }

  async close(): Promise<number> {
    return (await this.scheduler.close()).length;
  }
}

class AbsoluteShardwheel extends ShardwheelTimers {
  private readonly onFire: OnFire;
  private now = 0;

  constructor(capacity: number, onFire: OnFire, options: { shards: number }) {
    super(capacity, options);
    this.onFire = onFire;
  }

  slice(): void {
    this.now = this.scheduler.now();
  }

  start(timer: number, delay: number): void {
    this.ids[timer] = this.scheduler.schedule(timer, this.now + delay, this.onFire, timer);
  }

  move(timer: number, delay: number): boolean {
    return this.scheduler.reschedule(this.ids[timer], this.now + delay);
  }
}

class RelativeShardwheel extends ShardwheelTimers {
  private readonly onFire: OnFire;

  constructor(capacity: number, onFire: OnFire, options: { shards: number }) {
    super(capacity, options);
    this.onFire = onFire;
  }

  slice(): void {}

  start(timer: number, delay: number): void {
    this.ids[timer] = this.scheduler.scheduleAfter(timer, delay, this.onFire, timer);
  }

  move(timer: number, delay: number): boolean {
    return this.scheduler.rescheduleAfter(this.ids[timer], delay);
  }
}

/** For loads in which nothing fires. */
class BatchShardwheel extends ShardwheelTimers {
  private now = 0;

  constructor(capacity: number, options: { shards: number }) {
    super(capacity, options);
    this.scheduler.on('fired', ({ length }) => {
      throw new Error(`${length} timers fired that were not to`);
    });
  }

  slice(): void {
    this.now = this.scheduler.now();
  }

  start(timer: number, delay: number): void {
    this.ids[timer] = this.scheduler.schedule(timer, this.now + delay);
  }

  move(timer: number, delay: number): boolean {
    return this.scheduler.reschedule(this.ids[timer], this.now + delay);
  }
}
