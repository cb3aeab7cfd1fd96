import type { Context } from '../async-context/context-keeper.ts';
import type { Client } from '../client/client.ts';
import type { ClientLane } from '../client/client-lane.ts';
import type { DeferredTimer } from '../client/deferral.ts';
import { isYoung } from '../client/nursery.ts';
import type { WorkerHint } from '../client/placement.ts';
import { SchedulerClosedError } from '../errors.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { internalsOf } from '../scheduler/timer-calls.ts';
import { coincidingTick } from '../time/coinciding-tick.ts';
import { DueQueue } from './due-queue.ts';
import type { MissedCalls } from './missed-calls.ts';

/**
 * What a face does where it can do as Node does, or better. For `shardwheel/timers` and `shardwheel/register` the environment
 * variable SHARDWHEEL_TIMERS=node stands for Node's way in both.
 */
export interface TimersOptions {
  /** What intervals do when calls are overdue; see {@link MissedCalls}. Default 'skip'; 'delay' is what Node does. */
  missedCalls?: MissedCalls;
  /** What becomes of delays above 2^31 - 1 ms: they are kept (the default), or become 1 ms, with a warning, as in Node. */
  longDelays?: LongDelays;
}

export type LongDelays = 'keep' | 'warn';

/** Where a face's timeouts come from: one scheduler, and one hint, so that one shard keeps all of them in order. */
export class TimeoutSource {
  readonly client: Client;
  readonly missedCalls: MissedCalls;
  readonly longDelays: LongDelays;
  readonly due: DueQueue;
  private readonly lane: ClientLane;
  private orders = 0;

  /** Throws InvalidArgumentError for what is no scheduler or no hint, SchedulerClosedError. */
  constructor(scheduler: Scheduler, workerHint: WorkerHint, options: Required<TimersOptions>) {
    const { client } = internalsOf(scheduler);
    this.lane = client.laneAt(scheduler.shardOf(workerHint));
    this.lane.hasDeferred = true;
    this.client = client;
    this.missedCalls = options.missedCalls;
    this.longDelays = options.longDelays;
    this.due = new DueQueue(this);
  }

  /** ms on the scheduler's clock. */
  now(): number {
    return this.client.clock.exact();
  }

  /** The context of this call, as far as the scheduler keeps it. */
  context(): Context {
    return this.client.context();
  }

  /** Rises with every setting and every refreshing of a timeout, and wraps. */
  nextOrder(): number {
    this.orders = (this.orders + 1) | 0;
    return this.orders;
  }

  /** Whether the shard has fired, or may yet fire, timers with deadlines in a tick that the scheduler has not delivered. */
  hasMore(tick: number): boolean {
    const { client, lane } = this;
    if (client.isClosed) return false;
    return lane.firedCount() > 0 || client.firedUpTo(lane) < coincidingTick(tick, client.time.slack);
  }

  /** Schedules a timeout; its handle, which stands for it while it waits: an id would be a box per timeout. */
  schedule(deadline: number, timeout: DeferredTimer, context: Context): number {
    const { client, lane } = this;
    if (client.isClosed) throw new SchedulerClosedError('setTimeout');
    return client.young.start(lane, deadline, timeout, context);
  }

  move(handle: number, deadline: number): void {
    this.client.young.move(this.lane, handle, deadline);
  }

  cancel(handle: number): void {
    if (this.client.isClosed) return; // close() has handed it back
    this.client.young.end(this.lane, handle);
  }

  /** ms, of one that waits. */
  deadlineOf(handle: number): number {
    return isYoung(handle) ? this.lane.nursery.deadlineOf(handle) : this.lane.table.deadlineOf(handle);
  }
}
