import type { Context } from '../async-context/context-keeper.ts';
import { CapacityExceededError } from '../errors.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import { requireDeadline } from './arguments.ts';
import type { Client } from './client.ts';
import type { ClientLane, UnfiredTimer } from './client-lane.ts';
import { placementOf, placementOfInteger, type WorkerHint } from './placement.ts';

/** All timers of a client: started by hint, and from then on known by id. */
export class TimerBook {
  scheduled = 0;
  rescheduled = 0;
  private readonly client: Client;
  private readonly lanes: readonly ClientLane[];
  private readonly laneScale: number;

  constructor(client: Client, layout: TimerIdLayout) {
    this.client = client;
    this.lanes = client.lanes;
    this.laneScale = 2 ** -(layout.generationBits + layout.slotBits);
  }

  /** Throws InvalidArgumentError for the hint, CapacityExceededError. */
  start(hint: WorkerHint, deadline: number, callback: unknown, argument: unknown, context?: Context): TimerId {
    const shard = this.shardOf(hint);
    const lane = this.lanes[shard];
    const { table } = lane;
    lane.commands.reserve(1); // before anything is changed: it may be refused
    const slot = table.allocate(deadline, this.client.dueWordOf(deadline));
    if (slot < 0) throw new CapacityExceededError(table.capacity, shard);
    const tag = table.tagOf(slot);
    lane.begin(slot, tag, callback, argument, context);
    this.scheduled += 1;
    return table.idWith(slot, tag);
  }

  move(id: TimerId, deadline: number): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    this.client.move(lane, slot, deadline);
    this.rescheduled += 1;
    return true;
  }

  cancel(id: TimerId): boolean {
    const lane = this.laneOf(id);
    if (lane === undefined) return false;
    const slot = lane.table.slotOf(id);
    if (slot < 0) return false;
    this.client.cancel(lane, slot);
    return true;
  }

  /** Timers cancelled so far: what was scheduled and is neither live nor delivered. */
  get cancelled(): number {
    return this.lanes.reduce((rest, lane) => rest - lane.table.size, this.scheduled - this.client.delivery.delivered);
  }

  /** Starts all or, where one is refused, none. Nobody else may write to `ids`. Throws as `start`, or InvalidDeadlineError. */
  startMany(hints: ArrayLike<number>, deadlines: ArrayLike<number>, ids: Float64Array, count: number): void {
    for (let i = 0; i < count; i++) {
      const deadline = deadlines[i]; // once: another thread may write to it
      try {
        requireDeadline(deadline);
        ids[i] = this.start(hints[i], deadline, undefined, undefined);
      } catch (error) {
        for (let undone = 0; undone < i; undone++) this.cancel(ids[undone]);
        this.scheduled -= i; // as if they had never been
        throw error;
      }
    }
  }

  has(id: TimerId): boolean {
    const lane = this.laneOf(id);
    return lane !== undefined && lane.table.slotOf(id) >= 0;
  }

  deadlineOf(id: TimerId): number | undefined {
    const lane = this.laneOf(id);
    if (lane === undefined) return undefined;
    const slot = lane.table.slotOf(id);
    return slot < 0 ? undefined : lane.table.deadlineOf(slot);
  }

  shardOf(hint: WorkerHint): number {
    const shards = this.lanes.length;
    return typeof hint === 'number' && (hint | 0) === hint
      ? placementOfInteger(hint, shards)
      : placementOf(hint, shards);
  }

  /** Every live timer. */
  unfired(): UnfiredTimer[] {
    return this.lanes.flatMap((lane) => [...lane.unfired()]);
  }

  /** Most timers that can be live at once. */
  get capacity(): number {
    return this.lanes.reduce((sum, lane) => sum + lane.table.capacity, 0);
  }

  /** The lane that an id names; for what is no id, none or any: its table refuses it. */
  private laneOf(id: TimerId): ClientLane | undefined {
    return typeof id === 'number' ? this.lanes[(id * this.laneScale) | 0] : undefined;
  }
}
