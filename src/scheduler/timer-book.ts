import { CapacityExceededError } from '../errors.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import type { Client } from './client.ts';
import type { ClientLane, UnfiredTimer } from './client-lane.ts';
import { placementOf, type WorkerHint } from './placement.ts';

/** All timers of a client: started by hint, and from then on known by id. */
export class TimerBook {
  scheduled = 0;
  rescheduled = 0;
  cancelled = 0;
  private readonly client: Client;
  private readonly lanes: readonly ClientLane[];
  private readonly laneScale: number;

  constructor(client: Client, layout: TimerIdLayout) {
    this.client = client;
    this.lanes = client.lanes;
    this.laneScale = 2 ** -(layout.generationBits + layout.slotBits);
  }

  /** Throws InvalidArgumentError for the hint, CapacityExceededError. */
  start(hint: WorkerHint, deadline: number, callback: unknown, argument: unknown): TimerId {
    const shard = placementOf(hint, this.lanes.length);
    const lane = this.lanes[shard];
    const slot = this.client.schedule(lane, deadline, callback, argument);
    if (slot < 0) throw new CapacityExceededError(lane.table.capacity, shard);
    this.scheduled += 1;
    return lane.table.idOf(slot);
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
    this.cancelled += 1;
    return true;
  }

  /** Takes back timers of a call that failed half-way, as if they had never been scheduled. */
  undo(ids: Float64Array): void {
    for (const id of ids) if (this.cancel(id)) this.cancelled -= 1;
    this.scheduled -= ids.length;
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
    return placementOf(hint, this.lanes.length);
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
