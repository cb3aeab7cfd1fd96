import type { ClientBell } from '../lane/doorbell.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import type { KeepAlive } from './keep-alive.ts';

/** What a client is made of. */
export interface ClientParts {
  /** Places that hints are hashed to; each is a lane's. */
  readonly placements: number;
  /** Lays out the lane of a placement, as that is used first. Throws AllocationError. */
  readonly openLane: (placement: number) => ClientLane;
  /** Most timers that a lane can hold at once. */
  readonly laneCapacity: number;
  /** Most timers that all lanes together may hold; undefined where nothing but the lanes sets a limit. */
  readonly totalCapacity: number | undefined;
  readonly layout: TimerIdLayout;
  readonly time: ClientTime;
  readonly bell: ClientBell;
  readonly keepAlive: KeepAlive;
  readonly events: DeliveryEvents;
  readonly maxBatch: number;
  /** Where latenesses are counted; default: in memory of its own. */
  readonly lateness?: LatenessHistogram;
  /** Callbacks run in the async context of the call that set their timer. */
  readonly keepsContexts: boolean;
  /** Commands have been published, or fired records taken: a shard in this thread takes its turn. */
  readonly afterPublish: () => void;
  /** Fired records are about to be taken: shards in this thread fire what has come due. */
  readonly catchUp: () => void;
  /** See `ShardHost.firedUpTo`. */
  readonly firedUpTo: (lane: ClientLane) => number;
}
