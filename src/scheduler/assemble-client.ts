import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import type { NewIndex } from '../client/home-wheel.ts';
import { KeepAlive } from '../client/keep-alive.ts';
import { LaneHost } from '../hosts/lane-host.ts';
import type { LaneLink } from '../hosts/lane-link.ts';
import { ThreadPolicy } from '../hosts/thread-policy.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateLane, type RingSizes } from '../lane/lane-memory.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import type { HandleParts } from '../sharing/handle.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { timerIdLayout } from '../timer-id.ts';
import { createTickIndex } from '../wheel/create-index.ts';
import type { WheelConfig } from '../wheel/wheel-config.ts';
import type { CoordinatorEvents, HostedLanes } from './coordinator.ts';
import type { ConnectOptions } from './options.ts';

/** What a client is made of, whether it owns the threads or not. */
export interface ClientPlan {
  /** What it has in common with all clients of the scheduler. */
  readonly shared: HandleParts;
  readonly options: ConnectOptions;
  readonly events: CoordinatorEvents;
  readonly ringSizes: RingSizes;
  /** Where its latenesses are counted. Default: memory of its own. */
  readonly lateness?: LatenessHistogram;
  /** Called when the first lane of a host is laid out. */
  readonly linkTo: (setup: ShardSetup) => LaneLink;
  /** The client has a host more, with a policy if that decides whether a thread pays. */
  readonly hosting: (hosted: HostedLanes, number: number) => void;
  /** Set if a policy decides whether a thread pays. Called when it wants one: whether that may be started. */
  readonly mayStart: ((number: number) => boolean) | undefined;
  /** No thread will serve a host's lanes again. */
  readonly stays: (number: number) => void;
  /** Called at the end of each turn. */
  readonly turned: () => void;
}

export interface AssembledClient {
  readonly client: Client;
  readonly scale: TickScale;
  readonly keepAlive: KeepAlive;
  /** In the order of first use. */
  readonly hosted: readonly HostedLanes[];
}

/** Builds a client. It lays out each lane, and its host, at the lane's first use. */
export function assembleClient(plan: ClientPlan): AssembledClient {
  const { shared, options, events } = plan;
  const hosted: HostedLanes[] = [];
  const byNumber: (HostedLanes | undefined)[] = [];
  const clientBell = ClientBell.allocate();
  const scale = new TickScale(shared.tick);
  const time = new ClientTime(new SharedClock(shared.clock), scale);
  const layout = timerIdLayout(shared.shards, shared.capacity);
  const keepAlive = new KeepAlive();
  const client = new Client({
    placements: Math.max(1, shared.shards),
    openLane,
    laneCapacity: shared.capacity,
    layout,
    time,
    slack: options.slack,
    bell: new ClientBell(clientBell),
    keepAlive,
    events,
    maxBatch: options.maxBatch,
    lateness: plan.lateness,
    keepsContexts: shared.keepsContexts,
    afterPublish: () => {
      for (const { host, policy } of hosted) {
        host.afterPublish();
        policy?.judge();
      }
      plan.turned();
    },
    catchUp: () => {
      for (const { host } of hosted) host.catchUp();
    },
    newHomeIndex: homeIndex(shared),
  });
  return { client, scale, keepAlive, hosted };

  function openLane(placement: number): ClientLane {
    const number = shared.isAuto ? 0 : placement;
    const setup = { memory: allocateLane(shared.capacity, plan.ringSizes), clientBell };
    const { host } = byNumber[number] ?? newHost(number);
    const lane = new ClientLane(setup.memory, layout, placement, new Doorbell(shared.hosts[number].doorbell), time);
    host.open({ placement, setup, stage: lane.stage });
    return lane;
  }

  function newHost(number: number): HostedLanes {
    const { tick, wheel, clock } = shared;
    const { mayStart } = plan;
    const setup: ShardSetup = { number, tick, wheel, clock, ...shared.hosts[number] };
    const host = new LaneHost(setup, plan.linkTo(setup), {
      wakeClient: () => client.turnClock.now(),
      turnBy: (due) => client.turnClock.by(due),
      failed: events.shardFailed,
      restarted: events.restarted,
      stays: () => plan.stays(number),
    });
    const policy =
      mayStart &&
      new ThreadPolicy(
        host,
        () => loadOf(client),
        events.servingChanged,
        () => mayStart(number),
      );
    const lanes = { host, policy };
    byNumber[number] = lanes;
    hosted.push(lanes);
    plan.hosting(lanes, number);
    return lanes;
  }
}

/** The load that decides whether a thread pays for a client. */
const loadOf = (client: Client) => ({
  now: client.clock.exact(),
  size: client.size - client.home.size,
  work: workOf(client),
});

/** The work of the shards so far: commands and fired records taken. */
const workOf = ({ lanes, delivery, home }: Client): number =>
  lanes.reduce((sum, lane) => sum + lane.stage.taken, delivery.delivered - home.label.delivered + delivery.stale);

/** Makes the wheel of a client's drop-in timers: the engine that its shards have, in its own memory. */
const homeIndex =
  ({ wheel, capacity }: { readonly wheel: WheelConfig; readonly capacity: number }): NewIndex =>
  (now) =>
    createTickIndex(wheel, { capacity, start: now });
