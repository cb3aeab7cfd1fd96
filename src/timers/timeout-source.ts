import { currentContext } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import { CapacityExceededError, SchedulerClosedError } from '../errors.ts';
import type { Client } from '../scheduler/client.ts';
import type { ClientLane } from '../scheduler/client-lane.ts';
import { insidesOf } from '../scheduler/insides.ts';
import type { WorkerHint } from '../scheduler/placement.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { TimerBook } from '../scheduler/timer-book.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { DueQueue } from './due-queue.ts';
import { InFlight } from './in-flight.ts';
import type { MissedCalls } from './missed-calls.ts';
import type { Timeout } from './timeout.ts';

/** Where a face's timeouts come from: one scheduler, and one hint, so that one shard keeps all of them in order. */
export class TimeoutSource {
  readonly client: Client;
  readonly scale: TickScale;
  readonly missedCalls: MissedCalls;
  readonly due: DueQueue;
  readonly inFlight: InFlight;
  private readonly keepsContexts: boolean;
  private readonly book: TimerBook;
  private readonly shard: number;
  private readonly lane: ClientLane;
  private orders = 0;

  /** Throws InvalidArgumentError for what is no scheduler or no hint, SchedulerClosedError. */
  constructor(scheduler: Scheduler, workerHint: WorkerHint, missedCalls: MissedCalls) {
    const { client, book, keepsContexts } = insidesOf(scheduler);
    this.shard = scheduler.shardOf(workerHint);
    this.lane = client.lanes[this.shard];
    this.client = client;
    this.book = book;
    this.keepsContexts = keepsContexts;
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
    return this.keepsContexts ? currentContext() : undefined;
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
    return this.client.turns > turn && this.lane.commands.waiting === 0;
  }

  /** Schedules a timeout; its slot, which stands for it while it lives: an id would be a box per timeout. */
  schedule(deadline: number, deliver: (timeout: Timeout) => void, timeout: Timeout): number {
    const { client, lane, book } = this;
    if (client.isClosed) throw new SchedulerClosedError('setTimeout');
    const slot = lane.schedule(deadline, client.dueWordOf(deadline), deliver, timeout);
    if (slot < 0) throw new CapacityExceededError(lane.table.capacity, this.shard);
    book.scheduled += 1;
    return slot;
  }

  move(slot: number, deadline: number): void {
    this.client.move(this.lane, slot, deadline);
    this.book.rescheduled += 1;
  }

  cancel(slot: number): void {
    if (this.client.isClosed) return; // close() has handed it back
    this.client.cancel(this.lane, slot);
  }

  /** Takes a live timer from the shard that has not delivered it yet, though it is due: it counts as delivered. */
  take(slot: number): void {
    const { client, lane } = this;
    client.lateness.record(Math.max(0, this.now() - lane.table.deadlineOf(slot)));
    client.cancel(lane, slot);
    client.delivery.delivered += 1;
  }
}
