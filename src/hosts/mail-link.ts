import { Doorbell } from '../lane/doorbell.ts';
import type { FromThread, ToThread } from '../shard/lane-mail.ts';
import type { HostState } from '../sharing/board.ts';
import { post } from '../sharing/mailbox.ts';
import { GONE, type LaneCall, type LaneCalls, type LaneLink } from './lane-link.ts';

/** The parts of a link. */
export interface MailParts {
  readonly shard: number;
  /** The address of the shard's threads. */
  readonly address: string;
  readonly doorbell: SharedArrayBuffer;
  /** The client's serial, and its address. */
  readonly client: number;
  readonly reply: string;
  readonly server: () => HostState;
  readonly want: () => void;
}

/** The link of a client to the threads of a shard that another thread owns. Calls and answers are messages. */
export class MailLink implements LaneLink {
  deaths = 0;
  private readonly parts: MailParts;
  private readonly doorbell: Doorbell;
  private requests = 0;
  private readonly waiting = new Map<number, (message: FromThread | typeof GONE) => void>();

  constructor(parts: MailParts) {
    this.parts = parts;
    this.doorbell = new Doorbell(parts.doorbell);
  }

  get cause(): Error {
    return new Error(`The thread of shard ${this.parts.shard} has ended`);
  }

  server(): HostState {
    return this.parts.server();
  }

  want(): void {
    this.parts.want();
  }

  call<C extends LaneCall>(
    epoch: number,
    name: C,
    ...given: Parameters<LaneCalls[C]>
  ): Promise<ReturnType<LaneCalls[C]> | typeof GONE> {
    const { client, reply } = this.parts;
    this.requests += 1;
    const request = this.requests;
    return new Promise((resolve, reject) => {
      this.send({ call: name, client, given, epoch, reply, request });
      this.waiting.set(request, (message) => {
        this.waiting.delete(request);
        if (message === GONE) resolve(GONE);
        else if (message.error === undefined) resolve(message.answer as ReturnType<LaneCalls[C]>);
        else reject(message.error);
      });
    });
  }

  /** Handles a message from a thread. */
  receive(message: FromThread): void {
    this.waiting.get(message.request)?.(message);
  }

  lost(): void {
    this.deaths += 1;
    this.giveUpCalls();
  }

  left(): void {}

  refused(): boolean {
    return false;
  }

  /** Makes the thread that has the client's lanes drop them; returns whether the message was sent. */
  detach(): boolean {
    try {
      this.send({ call: 'detach', client: this.parts.client });
      return true;
    } catch {
      return false; // no memory for the message
    }
  }

  async release(): Promise<void> {
    this.giveUpCalls();
  }

  private send(message: ToThread): void {
    post(this.parts.address, message);
    this.doorbell.ring(); // wakes a parked shard
  }

  private giveUpCalls(): void {
    for (const giveUp of this.waiting.values()) giveUp(GONE);
  }
}
