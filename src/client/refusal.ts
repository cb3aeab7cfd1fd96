import { CapacityExceededError } from '../errors.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { ClientLane } from './client-lane.ts';
import type { DeliveryEvents } from './delivery-events.ts';

/** The parts of the client that it needs. */
export interface RefusalHost {
  readonly delivery: { readonly events: Pick<DeliveryEvents, 'refused'> };
  readonly clock: SharedClock;
}

/** Returns the error for a call that finds a lane full, and reports the refusal. */
export function refusal({ clock, delivery }: RefusalHost, lane: ClientLane): CapacityExceededError {
  const { capacity } = lane.table;
  delivery.events.refused(lane.shard, capacity, clock.exact());
  return new CapacityExceededError(capacity, lane.shard);
}
