import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { threadNumber } from '../runtime.ts';
import type { ToThread } from '../shard/lane-mail.ts';
import { Board, type Entry, type HostState, OWNER } from '../sharing/board.ts';
import { addressOf, type HandleParts, makeHandle, type SchedulerHandle } from '../sharing/handle.ts';
import { post } from '../sharing/mailbox.ts';
import type { PulseHolder } from '../sharing/pulse.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';
import { ClientMail } from './client-mail.ts';
import { countsOf, type TimerCounts } from './stats-interval.ts';

/** ms between two checks for clients that are gone. */
const SWEEP_MS = 1000;

/** The counts of a client of a shared scheduler: up to now for the calling client, up to its latest turn for any other. */
export interface ClientStats extends TimerCounts {
  /** 0 for the owner. Others count from 1, and a number is never used twice in a scheduler. */
  client: number;
  /** `threadId` of its thread. */
  thread: number;
}

/** A host of the owner, as clients of other threads find it. @internal */
export interface SharedServer {
  /** Calls the function with what serves it, now and at every change. */
  watch(onChange: (server: HostState) => void): void;
  /** A client of another thread needs a thread for it. */
  onWanted(): void;
}

/** What the owner of a scheduler does for the clients of other threads. @internal */
export class Sharing {
  readonly handle: SchedulerHandle;
  readonly number = OWNER;
  private readonly client: Client;
  private readonly board: Board;
  private readonly servers: readonly SharedServer[];
  private readonly doorbells: readonly Doorbell[];
  private readonly pulse: PulseHolder;
  private readonly mail: ClientMail;
  /** Set while there are clients. */
  private sweeping: NodeJS.Timeout | undefined;

  constructor(parts: HandleParts, name: string, servers: readonly SharedServer[], client: Client) {
    this.handle = makeHandle(parts, name);
    this.client = client;
    this.servers = servers;
    this.doorbells = parts.hosts.map(({ doorbell }) => new Doorbell(doorbell));
    this.board = new Board(this.handle.board, parts.hosts.length);
    this.pulse = outsideContexts(() => this.board.holdOwnersPulse(this.onBoardChange));
    for (const [host, server] of servers.entries()) server.watch((state) => this.board.setServer(host, state));
    const cancel = (id: TimerId) => !client.isClosed && client.cancel(id);
    this.mail = new ClientMail({ name, serial: OWNER, board: this.board, cancel, fromThread: () => undefined });
  }

  cancelElsewhere(id: TimerId): Promise<boolean> {
    return this.mail.cancelElsewhere(id);
  }

  /** The manual clock has moved: each client checks for itself which timers are due. */
  clockMoved(): void {
    this.board.wakeClients();
    for (const doorbell of this.doorbells) doorbell.ring();
  }

  /** Approximate number of slots in use by all other clients. */
  slots(): number {
    return this.board.clients().reduce((sum, entry) => sum + entry.counts().highWater, 0);
  }

  /** The owner first. */
  clientStats(): ClientStats[] {
    return [{ client: OWNER, thread: threadNumber(), ...countsOf(this.client) }, ...this.board.clients().map(statsOf)];
  }

  /** Precondition: no thread serves any shard. */
  close(): void {
    clearInterval(this.sweeping);
    this.board.close();
    this.pulse.release();
    this.mail.close();
  }

  private readonly onBoardChange = (): void => {
    if (this.handle.clock.manual) this.client.turnClock.now();
    this.sweeping ??= outsideContexts(() => setInterval(this.sweep, SWEEP_MS).unref()); // a client has come
    for (const [host, server] of this.servers.entries()) if (this.board.isWanted(host)) server.onWanted();
  };

  /** Frees what clients left behind whose threads have ended. */
  private readonly sweep = (): void => {
    const clients = this.board.clients();
    if (clients.length === 0) {
      clearInterval(this.sweeping);
      this.sweeping = undefined;
    }
    for (const entry of clients) {
      if (!entry.pulse.isGone()) continue;
      try {
        dismiss(this.handle, entry.serial);
      } catch {
        return; // no memory for a message: the next sweep tries again
      }
      entry.free(); // last, so that the next sweep repeats an unfinished one
    }
  };
}

/** Makes every shard drop a client's lanes. */
function dismiss(handle: SchedulerHandle, client: number): void {
  for (const [host, { doorbell }] of handle.hosts.entries()) {
    const message: ToThread = { call: 'detach', client };
    post(addressOf.host(handle.name, host), message);
    new Doorbell(doorbell).ring(); // wakes a parked shard
  }
}

function statsOf(entry: Entry): ClientStats {
  const { size, scheduled, rescheduled, delivered, stale } = entry.counts();
  const cancelled = scheduled - delivered - size;
  const lateness = entry.lateness().summary();
  return {
    client: entry.serial,
    thread: entry.thread,
    size,
    scheduled,
    rescheduled,
    cancelled,
    delivered,
    stale,
    lateness,
  };
}
