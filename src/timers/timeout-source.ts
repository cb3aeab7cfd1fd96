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
 * Options of drop-in timers in cases where they can do as Node does, or better. For `shardwheel/timers` and `shardwheel/register`
 * the environment variable SHARDWHEEL_TIMERS=node selects Node's way in both.
 */
export interface TimersOptions {
  /** What intervals do if calls are overdue; see {@link MissedCalls}. Default 'skip'; 'delay' is Node's way. */
  missedCalls?: MissedCalls;
  /** 'keep': delays above 2^31 - 1 ms are kept. 'warn': they become 1 ms, with a warning, as in Node. Default 'keep'. */
  longDelays?: LongDelays;
}

export type LongDelays = 'keep' | 'warn';

/**
 * The source of drop-in timeouts: one scheduler and one hint, so that one shard keeps all of them in order.
 * @internal
 */
export class TimeoutSource {
  readonly client: Client;
  readonly missedCalls: MissedCalls;
  readonly longDelays: LongDelays;
  readonly due: DueQueue;
  private readonly lane: ClientLane;
  private orders = 0;

  /** Throws InvalidArgumentError for an invalid scheduler or hint, SchedulerClosedError. */
  constructor(scheduler: Scheduler, workerHint: WorkerHint, options: Required<TimersOptions>) {
    const { client } = internalsOf(scheduler);
    this.lane = client.laneAt(scheduler.shardOf(workerHint));
    this.lane.hasDeferred = true;
    this.client = client;
    this.missedCalls = options.missedCalls;
    this.longDelays = options.longDelays;
    this.due = new DueQueue(this);
  }

  /** The time in ms on the scheduler's clock. */
  now(): number {
    return this.client.clock.exact();
  }

  /** The context of this call, if the scheduler keeps contexts. */
  context(): Context {
    return this.client.context();
  }

  /** The next number of a timeout that is set or refreshed: it rises, and wraps. */
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

  /** Schedules a timeout. Returns its handle, which identifies it while it waits: an id would be a box per timeout. */
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

  /** The deadline of a waiting timeout in ms. */
  deadlineOf(handle: number): number {
    return isYoung(handle) ? this.lane.nursery.deadlineOf(handle) : this.lane.table.deadlineOf(handle);
  }
}
