import type { ClientBell } from '../lane/doorbell.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { TimerIdLayout } from '../timer-id.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import type { DeliveryEvents } from './delivery-events.ts';
import type { NewIndex } from './home-wheel.ts';
import type { KeepAlive } from './keep-alive.ts';

/** The parts of a client. */
export interface ClientParts {
  /** Number of placements to which hints are hashed; each has a lane. */
  readonly placements: number;
  /** Lays out the lane of a placement at its first use. Throws AllocationError. */
  readonly openLane: (placement: number) => ClientLane;
  /** Maximum of live timers in a lane. */
  readonly laneCapacity: number;
  readonly layout: TimerIdLayout;
  readonly time: ClientTime;
  /** How many ticks timers without a label may come after the tick of their deadlines. */
  readonly slack: number;
  readonly bell: ClientBell;
  readonly keepAlive: KeepAlive;
  readonly events: DeliveryEvents;
  readonly maxBatch: number;
  /** Where latenesses are counted. Default: memory of the client's own. */
  readonly lateness?: LatenessHistogram;
  /** Whether callbacks run in the async context of the call that set their timer. */
  readonly keepsContexts: boolean;
  /** Called after commands were published or fired records taken: a shard in this thread takes its turn. */
  readonly afterPublish: () => void;
  /** Called before fired records are taken: shards in this thread fire due timers. */
  readonly catchUp: () => void;
  /** Makes the wheel of drop-in timers. */
  readonly newHomeIndex: NewIndex;
}
