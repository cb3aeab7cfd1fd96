import { outsideContexts } from '../async-context/async-context.ts';
import type { Client } from '../client/client.ts';
import type { ReportedLabel } from '../client/labels/label-counts.ts';
import { SchedulerClosedError } from '../errors.ts';
import type { FromThread } from '../shard/lane-mail.ts';
import { type Board, OWNER } from '../sharing/board.ts';
import { addressOf } from '../sharing/handle.ts';
import { answerBy, Mailbox, post } from '../sharing/mailbox.ts';
import { clearInterval, setImmediate, setInterval } from '../time/native-timers.ts';
import type { TimerId } from '../timer-id.ts';

/** ms between two checks whether the clients that have not answered still exist. */
const ANSWER_CHECK_MS = 100;

interface ToEveryone {
  readonly kind: 'cancel';
  readonly id: TimerId;
  readonly request: number;
  readonly from: number;
}

/** What a client tells the owner of its labels, when it is asked for its counts. */
export interface ReportedLabels {
  readonly kind: 'labels';
  readonly client: number;
  /** Which question it answers: see `Board.asked`. */
  readonly asked: number;
  readonly labels: readonly ReportedLabel[];
}

/** What else a client hears. */
interface Heard {
  /** The answer of a shard. */
  answer?(message: FromThread): void;
  labels?(message: ReportedLabels): void;
}

export type ToClient =
  | FromThread
  | ReportedLabels
  | { readonly kind: 'cancelled'; readonly request: number; readonly client: number; readonly was: boolean };

interface Question {
  /** Serials of the clients that have not answered. */
  readonly open: Set<number>;
  readonly checking: NodeJS.Timeout;
  resolve(was: boolean): void;
  reject(error: Error): void;
}

/** One client among those that share a scheduler: it asks the others, and answers them. */
export class ClientMail {
  private readonly name: string;
  private readonly serial: number;
  private readonly board: Board;
  private readonly client: Client;
  private readonly everyone: Mailbox<ToEveryone>;
  private readonly own: Mailbox<ToClient>;
  private readonly questions = new Map<number, Question>();
  private requests = 0;

  /** `name`: see `newName`. Throws if there is no memory for the channels. */
  constructor(name: string, serial: number, board: Board, client: Client, heard: Heard) {
    this.name = name;
    this.serial = serial;
    this.board = board;
    this.client = client;
    this.everyone = new Mailbox(addressOf.everyone(name), (message) => this.answer(message));
    const hear = (message: ToClient): void => {
      if (message.kind === 'cancelled') this.note(message.request, message.client, message.was);
      else if (message.kind === 'labels') heard.labels?.(message);
      else heard.answer?.(message);
    };
    try {
      this.own = new Mailbox(addressOf.client(name, serial), hear);
    } catch (error) {
      this.everyone.close(); // it would answer for a client that never came to be
      throw error;
    }
  }

  /** Cancels the timer at another client. Resolves with whether another client had a live timer with this id. */
  cancelElsewhere(id: TimerId): Promise<boolean> {
    const { board, serial } = this;
    const others = board.clients().map((entry) => entry.serial);
    const open = new Set([OWNER, ...others].filter((other) => other !== serial && this.isThere(other)));
    if (open.size === 0) return Promise.resolve(false);
    this.requests += 1;
    const request = this.requests;
    return new Promise((resolve, reject) => {
      const question: ToEveryone = { kind: 'cancel', id, request, from: serial };
      const check = () => {
        for (const other of open) {
          if (this.isThere(other)) continue;
          // It has no timer any more. What it had answered before it went is taken in the poll before an immediate.
          setImmediate(() => this.note(request, other, false));
        }
        try {
          this.everyone.post(question); // to who was about to join, and had no channel yet
        } catch {
          // No memory for a message: the next check asks.
        }
      };
      this.everyone.post(question); // answers come in a later turn
      const checking = outsideContexts(() => setInterval(check, ANSWER_CHECK_MS).unref());
      this.questions.set(request, { open, checking, resolve, reject });
    });
  }

  /** Tells the owner of the labels of this client. Throws if there is no memory for the message. */
  reportLabels(asked: number, labels: readonly ReportedLabel[]): void {
    const message: ReportedLabels = { kind: 'labels', client: this.serial, asked, labels };
    post(addressOf.client(this.name, OWNER), message);
  }

  close(): void {
    this.everyone.close();
    this.own.close();
    for (const { checking, reject } of this.questions.values()) {
      clearInterval(checking);
      reject(new SchedulerClosedError('cancelAnywhere', 'was pending when'));
    }
    this.questions.clear();
  }

  private answer({ id, request, from }: ToEveryone): void {
    answerBy(addressOf.client(this.name, from), () => {
      const was = !this.client.isClosed && this.client.cancel(id);
      return { kind: 'cancelled', request, client: this.serial, was } satisfies ToClient;
    });
  }

  private note(request: number, client: number, was: boolean): void {
    const question = this.questions.get(request);
    if (question === undefined) return;
    question.open.delete(client);
    if (!was && question.open.size > 0) return;
    this.questions.delete(request);
    clearInterval(question.checking);
    question.resolve(was);
  }

  private isThere(serial: number): boolean {
    const { board } = this;
    if (serial === OWNER) return !board.isClosed && !board.owner.isGone();
    const entry = board.clients().find((client) => client.serial === serial);
    return entry !== undefined && !entry.pulse.isGone();
  }
}
