import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { labelCount, labelCounts } from '../client/labels/label-counts.ts';
import { DEFAULT_RING_SIZES } from '../lane/lane-memory.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { threadNumber } from '../runtime.ts';
import { Board, type Membership } from '../sharing/board.ts';
import type { Entry } from '../sharing/entry.ts';
import { HandleError, type SchedulerHandle } from '../sharing/handle.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';
import { ClientMail } from './client-mail.ts';
import { Coordinator, type CoordinatorEvents, type OtherClients } from './coordinator.ts';
import type { ConnectOptions } from './options.ts';
import { OthersThreads } from './others-threads.ts';
import { ServedClient } from './served-client.ts';
import { detach, type KnownClient, ringDoorbells, scalesOn } from './sharing.ts';

/** ms between two checks of the owner's pulse, if the owner is not the main thread. */
const OWNER_CHECK_MS = 100;

/** Joins the clients of a shared scheduler and calls `gone` after leaving them. Throws HandleError, AllocationError. */
export function connectClient(
  handle: SchedulerHandle,
  options: ConnectOptions,
  events: CoordinatorEvents,
  gone: () => void,
): Coordinator {
  const board = new Board(handle.board, handle.doorbells.length);
  if (board.isClosed) throw HandleError.stale('the scheduler has been closed');
  if (board.owner.isGone()) throw HandleError.stale("the scheduler's thread has ended");
  const membership = outsideContexts(() => board.join(threadNumber()));
  if (membership === undefined) throw HandleError.tooManyClients(board.clients().length);
  board.owner.wake(); // it checks on its clients from now on
  const { entry, pulse } = membership;
  try {
    // The owner closes, and then wakes whoever is on the board: one who has joined meanwhile looks again.
    if (board.isClosed) throw HandleError.stale('the scheduler has been closed');
    const threads = new OthersThreads({ handle, board, client: entry.serial, events });
    const served = new ServedClient({
      shared: handle,
      serial: entry.serial,
      options,
      events,
      ringSizes: DEFAULT_RING_SIZES,
      threads,
      lateness: new LatenessHistogram(entry.latenesses()),
      turned: (client) => setCounts(entry, client),
    });
    const others = new ConnectedClients({ handle, board, membership, threads, served, gone });
    pulse.listen(() => others.onBoardChange());
    return new Coordinator({ served, others, keepers: [], closed: events.closed });
  } catch (error) {
    pulse.release();
    entry.free();
    throw error;
  }
}

function setCounts(entry: Entry, client: Client): void {
  const { size, scheduled, rescheduled, cancelled, delivery, lateness } = client;
  const { delivered, stale } = delivery;
  const highWater = client.lanes.reduce((sum, lane) => sum + lane.table.highWater, 0);
  const counts = { size, scheduled, rescheduled, cancelled, delivered, stale, highWater };
  entry.setCounts({ ...counts, latest: lateness.max, labels: labelCount(client) });
}

interface ConnectedParts {
  readonly handle: SchedulerHandle;
  readonly board: Board;
  readonly membership: Membership;
  readonly threads: OthersThreads;
  readonly served: ServedClient;
  /** Called after leaving the others. */
  readonly gone: () => void;
}

/** The other clients of a scheduler that another thread owns, and a watch over the owner. */
class ConnectedClients implements OtherClients {
  readonly number: number;
  private readonly parts: ConnectedParts;
  private readonly entry: Entry;
  private readonly mail: ClientMail;
  private readonly checking: NodeJS.Timeout | undefined;

  constructor(parts: ConnectedParts) {
    const { handle, board, membership, threads, served } = parts;
    const { entry } = membership;
    this.parts = parts;
    this.entry = entry;
    this.number = entry.serial;
    this.mail = new ClientMail(handle.name, entry.serial, board, served.client, {
      answer: (message) => threads.receive(message),
    });
    served.scales.join(scalesOn(board, entry.serial, (changes) => entry.reportScaled(changes)));
    if (handle.ownerThread !== 0) {
      this.checking = outsideContexts(() => setInterval(() => this.checkOwner(), OWNER_CHECK_MS).unref());
    }
  }

  share(): SchedulerHandle {
    return this.parts.handle;
  }

  cancel(id: TimerId): Promise<boolean> {
    return this.mail.cancelElsewhere(id);
  }

  async askForCounts(): Promise<void> {}

  known(): KnownClient[] {
    return [];
  }

  clockMoved(): void {
    const { board, handle } = this.parts;
    board.wakeClients();
    board.owner.wake();
    ringDoorbells(handle);
  }

  leave(): void {
    const { handle, membership, served, gone } = this.parts;
    clearInterval(this.checking);
    served.client.lateness.detach();
    membership.pulse.release();
    this.mail.close();
    try {
      for (const { setup } of served.hosts) detach(handle, setup.number, this.number);
      this.entry.free();
    } catch {
      // No memory for a message: the owner finds the pulse without a keeper.
    }
    gone();
  }

  onBoardChange(): void {
    const { board, handle, served } = this.parts;
    if (handle.clock.manual) served.client.turnClock.now();
    this.answer(board.asked);
    served.scales.take();
    if (board.isClosed) this.ownerEnded('the scheduler that was shared has been closed');
    served.checkBoard();
  }

  /** Answers the owner's question, unless it has been. */
  private answer(asked: number): void {
    const { entry, mail } = this;
    const { client } = this.parts.served;
    if (asked === entry.reported) return;
    setCounts(entry, client);
    try {
      if (labelCount(client) > 0) mail.reportLabels(asked, labelCounts(client));
      entry.report(asked);
    } catch {
      // No memory for a message: the owner shows this client as one that has not answered.
    }
  }

  private checkOwner(): void {
    if (!this.parts.board.owner.isGone()) return;
    this.onBoardChange(); // the scheduler may have been closed before
    this.ownerEnded('the thread of the scheduler that was shared has ended');
  }

  /** This thread serves every lane from now on. */
  private ownerEnded(how: string): void {
    const { served, threads } = this.parts;
    if (!threads.hasOwner) return;
    threads.end(how);
    clearInterval(this.checking);
    served.checkBoard();
    threads.noteEnd();
  }
}
