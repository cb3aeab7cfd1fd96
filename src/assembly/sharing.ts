import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import { type LabelStats, labelCounts, type ReportedLabel } from '../client/labels/label-counts.ts';
import type { LabelScales, SharedScales } from '../client/labels/label-scales.ts';
import { sleep } from '../hosts/restart-policy.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { threadNumber } from '../runtime.ts';
import type { ToThread } from '../shard/lane-mail.ts';
import { Board, OWNER, type ServerState } from '../sharing/board.ts';
import type { Entry } from '../sharing/entry.ts';
import { addressOf, type HandleParts, makeHandle, type SchedulerHandle } from '../sharing/handle.ts';
import { post } from '../sharing/mailbox.ts';
import type { PulseKeeper } from '../sharing/pulse.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import { ClientMail, type ReportedLabels } from './client-mail.ts';
import { countsOf, type TimerCounts } from './stats-interval.ts';

/** ms between two checks for clients that are gone. */
const SWEEP_MS = 1000;

/** ms that a question for counts waits for clients that do not answer: their event loops are blocked. */
const PATIENCE_MS = 20;

/** ms that `setScale` everywhere waits for clients that do not answer. */
const SCALE_PATIENCE_MS = 1000;

/**
 * The counts of a client of a shared scheduler: up to now; of one whose event loop is blocked, up to its latest turn.
 */
export interface ClientStats extends TimerCounts {
  /** 0 for the owner. Others count from 1, and a number is never used twice in a scheduler. */
  client: number;
  /** `threadId` of its thread. */
  thread: number;
  /** Whether its event loop has answered in time. One that does not, time after time, has stopped. */
  answered: boolean;
  /** Fired timers that it has not taken: a thread serves its shards, and its event loop does not come to them. */
  untaken: number;
  /** Its timers by label; of a client that has not answered, as it last reported. */
  labels: LabelStats[];
}

/** What the owner's memory says of a client. @internal */
export interface KnownClient extends Omit<ClientStats, 'untaken' | 'labels'> {
  reported: readonly ReportedLabel[];
}

/** What it is made of. @internal */
export interface SharingParts {
  readonly parts: HandleParts;
  /** See `newName`. */
  readonly name: string;
  readonly client: Client;
  readonly scales: LabelScales;
  /** Called when another client needs a thread. */
  readonly wanted: () => void;
}

/** What the owner of a scheduler does for the clients of other threads. @internal */
export class Sharing {
  readonly handle: SchedulerHandle;
  readonly mail: ClientMail;
  private readonly client: Client;
  private readonly board: Board;
  private readonly wanted: () => void;
  private readonly pulse: PulseKeeper;
  private readonly scales: LabelScales;
  /** What other clients have told of their labels, by serial. */
  private readonly reported = new Map<number, ReportedLabels>();
  /** Set while there are clients. */
  private sweeping: NodeJS.Timeout | undefined;

  constructor({ parts, name, client, scales, wanted }: SharingParts) {
    this.handle = makeHandle(parts, name);
    this.client = client;
    this.wanted = wanted;
    this.board = new Board(this.handle.board, parts.doorbells.length);
    this.pulse = outsideContexts(() => this.board.keepOwnersPulse());
    const heard = { labels: (message: ReportedLabels) => void this.reported.set(message.client, message) };
    try {
      this.mail = new ClientMail(name, OWNER, this.board, client, heard);
    } catch (error) {
      this.pulse.release();
      throw error;
    }
    this.scales = scales;
    scales.join(scalesOn(this.board, OWNER, (changes) => this.board.reportOwnerScaled(changes)));
    this.pulse.listen(() => this.onBoardChange());
  }

  /** Says on the board what serves a host from now on. */
  setServer(host: number, state: ServerState): void {
    this.board.setServer(host, state);
  }

  /** The manual clock has moved: each client checks for itself which timers are due. */
  clockMoved(): void {
    this.board.wakeClients();
    ringDoorbells(this.handle);
  }

  /** Approximate number of slots in use by all other clients. */
  slots(): number {
    return this.board.clients().reduce((sum, entry) => sum + entry.counts().highWater, 0);
  }

  /** The owner first. */
  clients(): KnownClient[] {
    const { board, client } = this;
    const others = board.clients();
    const serials = others.map(({ serial }) => serial);
    for (const serial of this.reported.keys()) if (!serials.includes(serial)) this.reported.delete(serial);
    const own = {
      client: OWNER,
      thread: threadNumber(),
      answered: true,
      ...countsOf(client),
      reported: labelCounts(client),
    };
    return [own, ...others.map((entry) => this.known(entry))];
  }

  private known(entry: Entry): KnownClient {
    const { highWater: _, latest: __, labels: ___, ...counts } = entry.counts();
    const { serial: client, thread } = entry;
    const answered = this.hasAnswered(entry);
    const reported = this.reported.get(client)?.labels ?? [];
    return { client, thread, answered, ...counts, lateness: entry.lateness().summary(), reported };
  }

  /** Whether a client has answered the last question: with its counts, and with its labels if it has any. */
  private hasAnswered(entry: Entry): boolean {
    const { asked } = this.board;
    if (entry.reported !== asked) return false;
    return asked === 0 || entry.counts().labels === 0 || this.reported.get(entry.serial)?.asked === asked;
  }

  /**
   * Asks the other clients for their counts. Resolves when they have answered; waits 20 ms at most for blocked ones.
   */
  async askForCounts(): Promise<void> {
    if (this.board.clients().length === 0) return;
    this.board.askForCounts();
    const isAnswered = () => this.board.clients().every((entry) => this.hasAnswered(entry) || entry.pulse.isGone());
    for (let waited = 0; waited < PATIENCE_MS && !isAnswered(); waited++) await outsideContexts(() => sleep(1));
  }

  /** Precondition: no thread serves any shard. */
  close(): void {
    clearInterval(this.sweeping);
    this.board.close();
    this.pulse.release();
    this.mail.close();
  }

  private onBoardChange(): void {
    if (this.handle.clock.manual) this.client.turnClock.now();
    this.scales.take();
    this.sweeping ??= outsideContexts(() => setInterval(this.sweep, SWEEP_MS).unref()); // a client has come
    if (this.handle.doorbells.some((_, host) => this.board.isWanted(host))) this.wanted();
  }

  /** Frees what clients had whose threads have ended. */
  private readonly sweep = (): void => {
    const clients = this.board.clients();
    if (clients.length === 0) {
      clearInterval(this.sweeping);
      this.sweeping = undefined;
    }
    for (const entry of clients) {
      if (!entry.pulse.isGone()) continue;
      try {
        for (const host of this.handle.doorbells.keys()) detach(this.handle, host, entry.serial);
      } catch {
        return; // no memory for a message: the next sweep tries again
      }
      entry.free(); // last, so that the next sweep repeats an unfinished one
    }
  };
}

/** Makes a shard drop a client's lanes. Throws if there is no memory for the message. @internal */
export function detach({ name, doorbells }: SchedulerHandle, host: number, client: number): void {
  post(addressOf.host(name, host), { call: 'detach', client } satisfies ToThread);
  new Doorbell(doorbells[host]).ring(); // wakes a parked shard
}

/** Wakes all parked shards. @internal */
export function ringDoorbells({ doorbells }: SchedulerHandle): void {
  for (const doorbell of doorbells) new Doorbell(doorbell).ring();
}

/** What a client has in common with the others of the board. `report`: see `SharedScales`. @internal */
export const scalesOn = (board: Board, serial: number, report: SharedScales['report']): SharedScales => ({
  factors: board.factors,
  wakeOthers: () => {
    board.wakeClients();
    if (serial !== OWNER) board.owner.wake();
  },
  report,
  taken: async (changes) => {
    for (let waited = 0; waited < SCALE_PATIENCE_MS && !board.isScaled(changes, serial); waited++)
      await outsideContexts(() => sleep(1));
  },
});
