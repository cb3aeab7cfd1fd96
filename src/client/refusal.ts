import { CapacityExceededError } from '../errors.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { ClientLane } from './client-lane.ts';
import type { DeliveryEvents } from './delivery-events.ts';

/** What it needs of the client. */
export interface RefusalHost {
  readonly size: number;
  /** Most timers that may be live at once on all lanes together. */
  readonly capacity: number;
  readonly delivery: { readonly events: Pick<DeliveryEvents, 'refused'> };
  readonly clock: SharedClock;
}

/** What a call is refused with that finds a lane full; it is reported. */
export function refusal({ clock, delivery }: RefusalHost, lane: ClientLane): CapacityExceededError {
  const { capacity } = lane.table;
  delivery.events.refused(lane.shard, capacity, clock.exact());
  return new CapacityExceededError(capacity, lane.shard);
}

/** Throws CapacityExceededError where there is no room on all lanes together. */
export function requireRoom({ capacity, clock, delivery, size }: RefusalHost): void {
  if (size < capacity) return;
  delivery.events.refused(undefined, capacity, clock.exact());
  throw CapacityExceededError.ofScheduler(capacity);
}
