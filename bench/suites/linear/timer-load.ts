import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../../src/client/client.ts';
import { createScheduler } from '../../../src/entries/index.ts';
import { commandCounters } from '../../../src/lane/lane-memory.ts';
import { Scheduler } from '../../../src/scheduler/scheduler.ts';
import { SEED, scaled, scaleFor } from '../../engine/draws.ts';
import { xorshift } from '../../replay/xorshift.ts';

/** Most timers that a shard can hold. Every load has room for them, so that loads differ by their timers alone. */
const CAPACITY = 2 ** 24;
/** ms ahead of everything else in a measurement: timers that are not to fire. */
export const FAR = 600_000;
/** ms over which far deadlines spread. */
export const FAR_SPAN = 60_000;
/** Timers that are begun and ended before anything is measured, for the compilers of both threads. */
const WARM_UP = 2 ** 15;
/** Between two looks at whether something is done, ms. */
const LOOK = 1;

/** A scheduler with one lane and as many timers as asked for, all with one callback and a number. */
export class TimerLoad {
  readonly scheduler: Scheduler;
  readonly client: Client;
  fired = 0;
  /** Its shard is served as it is to be. */
  isUp = false;
  private readonly ids: Float64Array;
  private readonly header: Int32Array;
  private readonly onFire = (): void => {
    this.fired += 1;
  };

  /** Precondition: count is a power of two. */
  constructor(shards: number, count: number) {
    this.scheduler = createScheduler({ shards, capacity: CAPACITY });
    void this.scheduler.ready.then(() => {
      this.isUp = true;
    });
    this.client = Scheduler.coordinatorOf(this.scheduler).client;
    this.header = new Int32Array(this.client.lanes[0].memory.header);
    this.ids = new Float64Array(Math.max(count, WARM_UP)).fill(1);
  }

  /** With the code of both threads compiled, and nothing live. */
  static async warm(shards: number, count: number): Promise<TimerLoad> {
    const load = new TimerLoad(shards, count);
    await load.until(() => load.isUp);
    for (let time = 0; time < 4; time++) {
      load.schedule(WARM_UP, 1, 20);
      await load.until(() => load.fired === WARM_UP);
      load.fired = 0;
      load.schedule(WARM_UP, FAR, FAR_SPAN);
      await load.published();
      load.cancelAll(WARM_UP);
    }
    return load;
  }

  /** In one go: timers due between `after` and `after + span` ms from now. */
  schedule(count: number, after: number, span: number): void {
    const { ids, onFire, scheduler } = this;
    const scale = scaleFor(span);
    const start = scheduler.now() + after;
    let random = SEED;
    for (let timer = 0; timer < count; timer++) {
      random = xorshift(random);
      ids[timer] = scheduler.schedule(0, start + scaled(random, scale), onFire, timer);
    }
  }

  /** Has all commands published. Resolves when the shard has filed them: one that sleeps would else leave the last of them for later. */
  async published(): Promise<void> {
    this.client.publish();
    const { tail, head } = commandCounters(this.header);
    const { doorbell, stage } = this.client.lanes[0];
    await this.until(() => {
      if (stage.length > 0) return false;
      if (Atomics.load(this.header, tail) === Atomics.load(this.header, head)) return true;
      doorbell.ring();
      return false;
    });
  }

  /** In an order that no processor foresees. Precondition: all live, count a power of two. */
  cancelAll(count: number): void {
    const { ids, scheduler } = this;
    let cancelled = 0;
    for (let i = 0; i < count; i++) if (scheduler.cancel(ids[scattered(i, count)])) cancelled += 1;
    if (cancelled !== count) throw new Error(`${count - cancelled} of ${count} timers were not live`);
  }

  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await sleep(LOOK);
  }

  /** Ends it with all its timers. Returns how many were live. */
  async close(): Promise<number> {
    return (await this.scheduler.close()).length;
  }
}

/** A permutation of 0 .. count - 1. Precondition: count is a power of two. */
const scattered = (i: number, count: number): number => Math.imul(i, 0x9e3779b1) & (count - 1);
