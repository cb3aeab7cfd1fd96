import { outsideContexts } from '../async-context/async-context.ts';
import { Client } from '../client/client.ts';
import { ClientLane } from '../client/client-lane.ts';
import { ClientTime } from '../client/client-time.ts';
import { KeepAlive } from '../client/keep-alive.ts';
import { HandleError, ShardInlineError } from '../errors.ts';
import { AutoShard, type Serving } from '../hosts/auto-shard.ts';
import { RemoteShard } from '../hosts/remote-shard.ts';
import type { ShardHost } from '../hosts/shard-host.ts';
import { ClientBell, Doorbell } from '../lane/doorbell.ts';
import { allocateLane } from '../lane/lane-memory.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { threadNumber } from '../runtime.ts';
import type { FromShard } from '../shard/guest-lanes.ts';
import { Board, type Membership } from '../sharing/board.ts';
import { addressOf, type SchedulerHandle } from '../sharing/handle.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import { SharedClock } from '../time/shared-clock.ts';
import { TickScale } from '../time/tick-scale.ts';
import { type TimerId, timerIdLayout } from '../timer-id.ts';
import { type Companions, Coordinator, type CoordinatorEvents, type HostedShards } from './coordinator.ts';
import { homeIndex } from './home-index.ts';
import { inlineEvents, loadOf } from './host-shards.ts';
import type { ConnectOptions } from './options.ts';
import { Peers } from './peers.ts';
import type { ClientStats } from './sharing.ts';

/** ms between two checks of the owner's pulse, if the owner is not the main thread. */
const LOOK = 100;

/** Joins the clients of a shared scheduler and calls `left` after leaving them. Throws HandleError, AllocationError. */
export function connectCoordinator(
  handle: SchedulerHandle,
  options: ConnectOptions,
  events: CoordinatorEvents,
  left: () => void,
): Coordinator {
  const board = new Board(handle.board, handle.hosts.length);
  if (board.isClosed) throw HandleError.stale('the scheduler has been closed');
  if (board.owner.isGone()) throw HandleError.stale("the scheduler's thread has ended");
  const bell = ClientBell.allocate();
  const membership = outsideContexts(() => board.join(threadNumber(), () => connection.heard()));
  if (membership === undefined) throw HandleError.tooManyClients(board.clients().length);
  board.owner.wake(); // it checks on its clients from now on
  let connection: Connection;
  try {
    connection = new Connection(handle, board, membership, bell, options, events, left);
  } catch (error) {
    membership.pulse.release();
    membership.entry.free();
    throw error;
  }
  return connection.coordinator;
}

interface Remote extends HostedShards {
  readonly host: ShardHost;
  readonly shard: RemoteShard;
  readonly placements: number[];
}

/** A client of a scheduler that another thread owns: opens lanes at their first use, and watches the owner. */
class Connection implements Companions {
  readonly handle: SchedulerHandle;
  readonly number: number;
  readonly coordinator: Coordinator;
  private readonly board: Board;
  private readonly membership: Membership;
  private readonly bell: SharedArrayBuffer;
  readonly events: CoordinatorEvents;
  private readonly left: () => void;
  readonly client: Client;
  private readonly time: ClientTime;
  private readonly peers: Peers;
  private readonly looking: NodeJS.Timeout | undefined;
  /** In the order of first use. */
  private readonly hosted: Remote[] = [];
  private readonly byHost: (Remote | undefined)[];
  private readonly serving: Serving;
  /** How the owner ended, once it has. */
  private ending: string | undefined;

  constructor(
    handle: SchedulerHandle,
    board: Board,
    membership: Membership,
    bell: SharedArrayBuffer,
    options: ConnectOptions,
    events: CoordinatorEvents,
    left: () => void,
  ) {
    this.left = left;
    this.handle = handle;
    this.board = board;
    this.membership = membership;
    this.number = membership.entry.serial;
    this.bell = bell;
    this.events = events;
    this.byHost = Array.from({ length: handle.hosts.length });
    this.serving = { by: 'inline', since: 0, reason: this.settings(), changes: 0 };
    const scale = new TickScale(handle.tick);
    const keepAlive = new KeepAlive();
    this.time = new ClientTime(new SharedClock(handle.clock), scale);
    this.time.setSlack(options.slack);
    const layout = timerIdLayout(handle.shards, handle.capacity);
    const { name } = handle;
    const { serial } = membership.entry;
    this.client = new Client({
      placements: Math.max(1, handle.shards),
      openLane: (placement) => this.openLane(placement),
      laneCapacity: handle.capacity,
      totalCapacity: options.totalCapacity,
      layout,
      time: this.time,
      bell: new ClientBell(bell),
      keepAlive,
      events,
      maxBatch: options.maxBatch,
      lateness: new LatenessHistogram(membership.entry.latenesses()),
      keepsContexts: handle.keepsContexts,
      afterPublish: () => this.afterPublish(),
      catchUp: () => {
        for (const { host } of this.hosted) host.catchUp();
      },
      newHomeIndex: homeIndex(handle),
    });
    const cancel = (id: TimerId) => !this.client.isClosed && this.client.cancel(id);
    const fromShard = (message: FromShard) => this.byHost[message.host]?.shard.receive(message);
    this.peers = new Peers({ name, serial, board, cancel, fromShard });
    if (handle.ownerThread !== 0) {
      this.looking = outsideContexts(() => setInterval(() => this.lookForOwner(), LOOK).unref());
    }
    this.coordinator = new Coordinator({
      client: this.client,
      serial,
      scale,
      keepAlive,
      hosted: this.hosted,
      serving: () => this.servingNow(),
      start: () => undefined,
      companions: this,
      share: () => this,
    });
  }

  cancelElsewhere(id: TimerId): Promise<boolean> {
    return this.peers.cancelElsewhere(id);
  }

  clockMoved(): void {
    this.board.wakeClients();
    this.board.owner.wake();
    for (const { doorbell } of this.handle.hosts) new Doorbell(doorbell).ring();
  }

  clientStats(): ClientStats[] {
    return [];
  }

  close(): void {
    clearInterval(this.looking);
    this.client.lateness.detach();
    this.membership.pulse.release();
    this.peers.close();
    const isDetached = this.hosted.map(({ shard }) => shard.detach());
    if (isDetached.every(Boolean)) this.membership.entry.free(); // else the owner finds the pulse without a holder
    this.left();
  }

  /** The board may have changed. */
  heard(): void {
    if (this.handle.clock.manual) this.client.turnClock.now();
    if (this.board.isClosed) this.endSharing('the scheduler that was shared has been closed');
    for (const { shard } of this.hosted) shard.look();
  }

  private lookForOwner(): void {
    if (!this.board.owner.isGone()) return;
    this.heard(); // the scheduler may have been closed before
    this.endSharing('the thread of the scheduler that was shared has ended');
  }

  /** The owner has ended: this thread serves every lane from now on. */
  private endSharing(how: string): void {
    if (this.ending !== undefined) return;
    this.ending = how;
    clearInterval(this.looking);
    for (const { shard } of this.hosted) shard.look();
    this.serve('inline', how);
    if (this.handle.mayHaveThreads) this.events.wentInline(ShardInlineError.withoutOwner(how));
  }

  private openLane(placement: number): ClientLane {
    const { handle } = this;
    const number = handle.isAuto ? 0 : placement;
    const setup = { memory: allocateLane(handle.capacity), clientBell: this.bell };
    const remote = this.byHost[number] ?? this.newHost(number);
    const doorbell = new Doorbell(handle.hosts[number].doorbell);
    const layout = timerIdLayout(handle.shards, handle.capacity);
    const lane = new ClientLane(setup.memory, layout, placement, doorbell, this.time);
    remote.shard.open({ placement: handle.isAuto ? placement : 0, setup, stage: lane.stage });
    remote.placements.push(placement);
    return lane;
  }

  private newHost(number: number): Remote {
    const { handle, board } = this;
    const setup = {
      number,
      tick: handle.tick,
      wheel: handle.wheel,
      clock: handle.clock,
      ...handle.hosts[number],
      lanes: [],
    };
    const count = { restarts: 0 };
    const { serial } = this.membership.entry;
    const shard = new RemoteShard(
      setup,
      {
        address: addressOf.host(handle.name, number),
        client: serial,
        reply: addressOf.client(handle.name, serial),
        server: () => (this.ending === undefined ? board.serverOf(number) : { by: 'clients' }),
        want: () => board.want(number),
        stays: () => this.stays(number),
      },
      inlineEvents(this, count),
    );
    const { client } = this;
    const host = handle.isAuto
      ? new AutoShard(
          shard,
          () => loadOf(client),
          this.events.servingChanged,
          () => undefined,
        )
      : shard;
    const remote: Remote = Object.assign(count, { host, shard, placements: [] });
    this.byHost[number] = remote;
    this.hosted.push(remote);
    if (!handle.isAuto) shard.startThread();
    return remote;
  }

  /** No thread will serve the shard again. */
  private stays(number: number): void {
    const host = this.byHost[number]?.host;
    if (host instanceof AutoShard) host.stayInline(this.ending ?? 'the owner no longer starts threads');
    // The end of an owner is reported once, for all shards. An owner that never meant to have threads reports nothing.
    if (this.ending === undefined && this.handle.mayHaveThreads) {
      this.events.wentInline(ShardInlineError.givenUp(number));
    }
  }

  private settings(): string {
    return `shards: ${this.handle.shards}, of another thread's scheduler`;
  }

  private serve(by: Serving['by'], reason: string): void {
    this.serving.by = by;
    this.serving.reason = reason;
    this.serving.since = this.client.clock.exact();
    this.serving.changes += 1;
  }

  private servingNow(): Serving {
    if (this.ending !== undefined) return this.serving;
    const [first] = this.hosted;
    if (first?.host instanceof AutoShard) return first.host.serving;
    const isInline = this.hosted.every(({ shard }) => shard.isInline);
    if (isInline !== (this.serving.by === 'inline')) {
      this.serve(isInline ? 'inline' : 'threads', this.settings());
    }
    return this.serving;
  }

  private afterPublish(): void {
    const { client } = this;
    for (const { host } of this.hosted) host.afterPublish();
    this.membership.entry.setCounts({
      size: client.size,
      scheduled: client.scheduled,
      rescheduled: client.rescheduled,
      delivered: client.delivery.delivered,
      stale: client.delivery.stale,
      highWater: client.lanes.reduce((sum, lane) => sum + lane.table.highWater, 0),
      latest: client.lateness.max,
    });
  }
}
