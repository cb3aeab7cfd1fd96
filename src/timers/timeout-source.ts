import type { Context } from '../async-context/context-keeper.ts';
import type { Client } from '../client/client.ts';
import type { ClientLane } from '../client/client-lane.ts';
import type { WorkerHint } from '../client/placement.ts';
import { SchedulerClosedError } from '../errors.ts';
import { internalsOf, type Scheduler } from '../scheduler/scheduler.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { DueQueue } from './due-queue.ts';
import { InFlight } from './in-flight.ts';
import type { MissedCalls } from './missed-calls.ts';

/** Where a face's timeouts come from: one scheduler, and one hint, so that one shard keeps all of them in order. */
export class TimeoutSource {
  readonly client: Client;
  readonly scale: TickScale;
  readonly missedCalls: MissedCalls;
  readonly due: DueQueue;
  readonly inFlight: InFlight;
  private readonly lane: ClientLane;
  private orders = 0;

  /** Throws InvalidArgumentError for what is no scheduler or no hint, SchedulerClosedError. */
  constructor(scheduler: Scheduler, workerHint: WorkerHint, missedCalls: MissedCalls) {
    const { client } = internalsOf(scheduler);
    this.lane = client.laneAt(scheduler.shardOf(workerHint));
    this.client = client;
    this.scale = client.scale;
    this.missedCalls = missedCalls;
    this.due = new DueQueue(this);
    this.inFlight = new InFlight(this);
  }

  /** ms on the scheduler's clock. */
  now(): number {
    return this.client.clock.exact();
  }

  /** The context of this call, as far as the scheduler keeps it. */
  context(): Context {
    return this.client.context();
  }

  /** Rises with every setting and every refreshing of a timeout. */
  nextOrder(): number {
    this.orders += 1;
    return this.orders;
  }

  /** Whether the shard has fired timers that the scheduler has not delivered yet. */
  hasMore(): boolean {
    return !this.client.isClosed && this.lane.firedCount() > 0;
  }

  /** Whether what was scheduled in the given turn of the client has gone to the shard. */
  isPublished(turn: number): boolean {
    return this.client.loop.turns > turn && this.lane.commands.waiting === 0;
  }

  /** Schedules a timeout; its slot, which stands for it while it lives: an id would be a box per timeout. */
  schedule<T>(deadline: number, deliver: (timeout: T) => void, timeout: T): number {
    const { client, lane } = this;
    if (client.isClosed) throw new SchedulerClosedError('setTimeout');
    return client.schedule(lane, deadline, deliver, timeout, undefined); // its context is the timeout's own affair
  }

  move(slot: number, deadline: number): void {
    this.client.move(this.lane, slot, deadline);
  }

  cancel(slot: number): void {
    if (this.client.isClosed) return; // close() has handed it back
    this.client.end(this.lane, slot);
  }

  /** Takes a live timer from the shard that has not delivered it yet, though it is due: it counts as delivered. */
  take(slot: number): void {
    this.client.deliverEarly(this.lane, slot);
  }
}
