import type { Client } from '../scheduler/client.ts';
import type { ClientLane } from '../scheduler/client-lane.ts';
import { insidesOf } from '../scheduler/insides.ts';
import type { WorkerHint } from '../scheduler/placement.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { TimerBook } from '../scheduler/timer-book.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { TimerId } from '../timer-id.ts';
import { DueQueue } from './due-queue.ts';
import { InFlight } from './in-flight.ts';
import type { MissedCalls } from './missed-calls.ts';

/** Where a face's timeouts come from: one scheduler, and one hint, so that one shard keeps all of them in order. */
export class TimeoutSource {
  readonly client: Client;
  readonly book: TimerBook;
  readonly scale: TickScale;
  readonly workerHint: WorkerHint;
  readonly missedCalls: MissedCalls;
  readonly due: DueQueue;
  readonly inFlight: InFlight;
  private readonly lane: ClientLane;
  private orders = 0;

  /** Throws InvalidArgumentError for what is no scheduler or no hint, SchedulerClosedError. */
  constructor(scheduler: Scheduler, workerHint: WorkerHint, missedCalls: MissedCalls) {
    const { client, book } = insidesOf(scheduler);
    this.lane = client.lanes[scheduler.shardOf(workerHint)];
    this.client = client;
    this.book = book;
    this.scale = client.scale;
    this.workerHint = workerHint;
    this.missedCalls = missedCalls;
    this.due = new DueQueue(this);
    this.inFlight = new InFlight(this);
  }

  /** ms on the scheduler's clock. */
  now(): number {
    return this.client.clock.exact();
  }

  /** Rises with every setting and every refreshing of a timeout. */
  nextOrder(): number {
    this.orders += 1;
    return this.orders;
  }

  /** Whether what was scheduled in the given turn of the client has gone to the shard. */
  isPublished(turn: number): boolean {
    return this.client.turns > turn && this.lane.commands.waiting === 0;
  }

  /** Takes a live timer from the shard that has not delivered it yet, though it is due: it counts as delivered. */
  take(id: TimerId): void {
    const { book, client } = this;
    client.lateness.record(Math.max(0, this.now() - (book.deadlineOf(id) as number)));
    book.cancel(id);
    book.cancelled -= 1;
    client.delivery.delivered += 1;
  }
}
