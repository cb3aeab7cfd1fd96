import { outsideContexts } from '../async-context/async-context.ts';
import { labelCount, labelCounts } from '../client/labels/label-counts.ts';
import { ShardInlineError } from '../errors.ts';
import { MailLink } from '../hosts/mail-link.ts';
import type { Serving } from '../hosts/thread-policy.ts';
import { DEFAULT_RING_SIZES } from '../lane/lane-memory.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { threadNumber } from '../runtime.ts';
import type { ShardSetup } from '../shard/build-shard.ts';
import { Board, type Membership } from '../sharing/board.ts';
import { HandleError, type SchedulerHandle } from '../sharing/handle.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';
import { ClientMail } from './client-mail.ts';
import { Coordinator, type CoordinatorEvents } from './coordinator.ts';
import type { ConnectOptions } from './options.ts';
import { detach, ringHosts, scalesOn } from './sharing.ts';

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
  const membership = outsideContexts(() => board.join(threadNumber(), () => connected.onBoardChange()));
  if (membership === undefined) throw HandleError.tooManyClients(board.clients().length);
  board.owner.wake(); // it checks on its clients from now on
  let connected: ConnectedCoordinator;
  try {
    connected = new ConnectedCoordinator(handle, board, membership, options, events, left);
  } catch (error) {
    membership.pulse.release();
    membership.entry.free();
    throw error;
  }
  return connected;
}

/** The client of a scheduler that another thread owns, and its watch over the owner. */
class ConnectedCoordinator extends Coordinator {
  private readonly handle: SchedulerHandle;
  private readonly board: Board;
  private readonly membership: Membership;
  private readonly left: () => void;
  private readonly mail: ClientMail;
  private readonly checking: NodeJS.Timeout | undefined;
  /** By host. */
  private readonly links: (MailLink | undefined)[] = [];
  /** Unless a policy decides it. */
  private readonly ownServing: Serving;
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
    const lateness = new LatenessHistogram(membership.entry.latenesses());
    super({ shared: handle, options, events, ringSizes: DEFAULT_RING_SIZES, lateness, isJudged: handle.isAuto });
    this.left = left;
    this.handle = handle;
    this.board = board;
    this.membership = membership;
    this.ownServing = { by: 'inline', since: 0, reason: this.settings(), changes: 0 };
    this.mail = new ClientMail(handle.name, this.number, board, this.client, {
      answer: (message) => this.links[message.host]?.receive(message),
    });
    this.scales.join(scalesOn(board, this.number, (changes) => membership.entry.tellScaled(changes)));
    if (handle.ownerThread !== 0) {
      this.checking = outsideContexts(() => setInterval(() => this.checkOwner(), OWNER_CHECK_MS).unref());
    }
  }

  override get number(): number {
    return this.membership.entry.serial;
  }

  share(): SchedulerHandle {
    return this.handle;
  }

  protected cancelElsewhere(id: TimerId): Promise<boolean> {
    return this.mail.cancelElsewhere(id);
  }

  clockMoved(): void {
    this.board.wakeClients();
    this.board.owner.wake();
    ringHosts(this.handle);
  }

  protected leave(): void {
    clearInterval(this.checking);
    this.client.lateness.detach();
    this.membership.pulse.release();
    this.mail.close();
    try {
      for (const { setup } of this.hosts) detach(this.handle, setup.number, this.number);
      this.membership.entry.free();
    } catch {
      // No memory for a message: the owner finds the pulse without a holder.
    }
    this.left();
  }

  onBoardChange(): void {
    if (this.handle.clock.manual) this.client.turnClock.now();
    this.answer(this.board.asked);
    this.scales.take();
    if (this.board.isClosed) this.endSharing('the scheduler that was shared has been closed');
    for (const host of this.hosts) host.checkBoard();
  }

  /** Answers the owner's question, unless it has been. */
  private answer(asked: number): void {
    const { client, mail, membership } = this;
    if (asked === membership.entry.told) return;
    this.setCounts();
    try {
      if (labelCount(client) > 0) mail.tellLabels(asked, labelCounts(client));
      membership.entry.tell(asked);
    } catch {
      // No memory for a message: the owner shows this client as one that has not answered.
    }
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
    for (const host of this.hosts) host.checkBoard();
    this.serve('inline', how);
    if (this.handle.mayHaveThreads) this.parts.events.wentInline(ShardInlineError.withoutOwner(how));
  }

  protected linkTo({ number }: ShardSetup): MailLink {
    const { board, handle } = this;
    const server = () => (this.ending === undefined ? board.serverOf(number) : { by: 'clients' as const });
    const link = new MailLink(handle, number, this.number, server, () => board.want(number));
    this.links[number] = link;
    return link;
  }

  protected stays(number: number): void {
    this.policy?.stayInline(this.ending ?? 'the owner no longer starts threads');
    // The end of an owner is reported once, for all shards. An owner that never meant to have threads reports nothing.
    if (this.ending === undefined && this.handle.mayHaveThreads) {
      this.parts.events.wentInline(ShardInlineError.givenUp(number));
    }
  }

  private settings(): string {
    return `shards: ${this.handle.shards}, of another thread's scheduler`;
  }

  private serve(by: Serving['by'], reason: string): void {
    const { ownServing, client } = this;
    Object.assign(ownServing, { by, reason, since: client.clock.read(), changes: ownServing.changes + 1 });
  }

  get serving(): Serving {
    const { policy, ownServing, ending } = this;
    if (ending === undefined && policy !== undefined) return { ...policy.serving };
    const by = this.hosts.every(({ isInline }) => isInline) ? 'inline' : 'threads';
    if (ending === undefined && by !== ownServing.by) this.serve(by, this.settings());
    return { ...ownServing };
  }

  protected override get isWatched(): boolean {
    return true;
  }

  protected override turned(): void {
    super.turned();
    this.setCounts();
  }

  private setCounts(): void {
    const { client } = this;
    const { size, scheduled, rescheduled, cancelled, delivery, lateness } = client;
    const { delivered, stale } = delivery;
    const highWater = client.lanes.reduce((sum, lane) => sum + lane.table.highWater, 0);
    const counts = { size, scheduled, rescheduled, cancelled, delivered, stale, highWater };
    this.membership.entry.setCounts({ ...counts, latest: lateness.max, labels: labelCount(client) });
  }
}
