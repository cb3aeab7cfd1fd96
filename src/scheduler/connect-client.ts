import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { ShardInlineError } from '../errors.ts';
import { MailLink } from '../hosts/mail-link.ts';
import type { Serving } from '../hosts/thread-policy.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { DEFAULT_RING_SIZES } from '../lane/lane-memory.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { threadNumber } from '../runtime.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { Board, type Membership } from '../sharing/board.ts';
import { addressOf, HandleError, type SchedulerHandle } from '../sharing/handle.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';
import { assembleClient } from './assemble-client.ts';
import { ClientMail } from './client-mail.ts';
import { Coordinator, type CoordinatorEvents, type HostedLanes, type OtherClients } from './coordinator.ts';
import type { ConnectOptions } from './options.ts';
import type { ClientStats } from './sharing.ts';

/** ms between two checks of the owner's pulse, if the owner is not the main thread. */
const OWNER_CHECK_MS = 100;

/** Joins the clients of a shared scheduler and calls `left` after leaving them. Throws HandleError, AllocationError. */
export function connectClient(
  handle: SchedulerHandle,
  options: ConnectOptions,
  events: CoordinatorEvents,
  left: () => void,
): Coordinator {
  const board = new Board(handle.board, handle.hosts.length);
  if (board.isClosed) throw HandleError.stale('the scheduler has been closed');
  if (board.owner.isGone()) throw HandleError.stale("the scheduler's thread has ended");
  const membership = outsideContexts(() => board.join(threadNumber(), () => connection.onBoardChange()));
  if (membership === undefined) throw HandleError.tooManyClients(board.clients().length);
  board.owner.wake(); // it checks on its clients from now on
  let connection: Connection;
  try {
    connection = new Connection(handle, board, membership, options, events, left);
  } catch (error) {
    membership.pulse.release();
    membership.entry.free();
    throw error;
  }
  return connection.coordinator;
}

/** A client of a scheduler that another thread owns, and its watch over the owner. */
class Connection implements OtherClients {
  readonly handle: SchedulerHandle;
  readonly number: number;
  readonly coordinator: Coordinator;
  private readonly board: Board;
  private readonly membership: Membership;
  private readonly events: CoordinatorEvents;
  private readonly left: () => void;
  private readonly client: Client;
  private readonly mail: ClientMail;
  private readonly checking: NodeJS.Timeout | undefined;
  private readonly hosted: readonly HostedLanes[];
  /** By host. */
  private readonly links: (MailLink | undefined)[] = [];
  private readonly serving: Serving;
  /** How the owner ended, once it has. */
  private ending: string | undefined;

  constructor(
    handle: SchedulerHandle,
    board: Board,
    membership: Membership,
    options: ConnectOptions,
    events: CoordinatorEvents,
    left: () => void,
  ) {
    this.left = left;
    this.handle = handle;
    this.board = board;
    this.membership = membership;
    this.number = membership.entry.serial;
    this.events = events;
    this.serving = { by: 'inline', since: 0, reason: this.settings(), changes: 0 };
    const { client, scale, keepAlive, hosted } = assembleClient({
      shared: handle,
      options,
      events,
      ringSizes: DEFAULT_RING_SIZES,
      lateness: new LatenessHistogram(membership.entry.latenesses()),
      linkTo: (setup) => this.linkTo(setup),
      hosting: ({ host, policy }) => {
        if (policy === undefined) host.startThread();
      },
      mayStart: handle.isAuto ? () => true : undefined,
      stays: (number) => this.stays(number),
      turned: () => this.publishCounts(),
    });
    this.client = client;
    this.hosted = hosted;
    const cancel = (id: TimerId) => !client.isClosed && client.cancel(id);
    const { name } = handle;
    const serial = this.number;
    this.mail = new ClientMail({
      name,
      serial,
      board,
      cancel,
      fromThread: (message) => this.links[message.host]?.receive(message),
    });
    if (handle.ownerThread !== 0) {
      this.checking = outsideContexts(() => setInterval(() => this.checkOwner(), OWNER_CHECK_MS).unref());
    }
    this.coordinator = new Coordinator({
      client,
      serial,
      scale,
      keepAlive,
      hosted,
      keepers: [],
      serving: () => this.servingNow(),
      start: () => undefined,
      others: this,
      share: () => this,
    });
  }

  cancelElsewhere(id: TimerId): Promise<boolean> {
    return this.mail.cancelElsewhere(id);
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
    clearInterval(this.checking);
    this.client.lateness.detach();
    this.membership.pulse.release();
    this.mail.close();
    const areDetached = this.links.map((link) => link?.detach() ?? true);
    if (areDetached.every(Boolean)) this.membership.entry.free(); // else the owner finds the pulse without a holder
    this.left();
  }

  /** The board may have changed. */
  onBoardChange(): void {
    if (this.handle.clock.manual) this.client.turnClock.now();
    if (this.board.isClosed) this.endSharing('the scheduler that was shared has been closed');
    for (const { host } of this.hosted) host.checkBoard();
  }

  private checkOwner(): void {
    if (!this.board.owner.isGone()) return;
    this.onBoardChange(); // the scheduler may have been closed before
    this.endSharing('the thread of the scheduler that was shared has ended');
  }

  /** The owner has ended: this thread serves every lane from now on. */
  private endSharing(how: string): void {
    if (this.ending !== undefined) return;
    this.ending = how;
    clearInterval(this.checking);
    for (const { host } of this.hosted) host.checkBoard();
    this.serve('inline', how);
    if (this.handle.mayHaveThreads) this.events.wentInline(ShardInlineError.withoutOwner(how));
  }

  private linkTo({ number }: ShardSetup): MailLink {
    const { board, handle, membership } = this;
    const { serial } = membership.entry;
    const link = new MailLink({
      shard: number,
      address: addressOf.host(handle.name, number),
      doorbell: handle.hosts[number].doorbell,
      client: serial,
      reply: addressOf.client(handle.name, serial),
      server: () => (this.ending === undefined ? board.serverOf(number) : { by: 'clients' }),
      want: () => board.want(number),
    });
    this.links[number] = link;
    return link;
  }

  /** No thread will serve the shard again. */
  private stays(number: number): void {
    const hosted = this.hosted.find(({ host }) => host.setup.number === number);
    hosted?.policy?.stayInline(this.ending ?? 'the owner no longer starts threads');
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
    if (first?.policy !== undefined) return first.policy.serving;
    const isInline = this.hosted.every(({ host }) => host.isInline);
    if (isInline !== (this.serving.by === 'inline')) {
      this.serve(isInline ? 'inline' : 'threads', this.settings());
    }
    return this.serving;
  }

  private publishCounts(): void {
    const { client } = this;
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
