import { Doorbell } from '../lane/doorbell.ts';
import type { FromThread, ToThread } from '../shard/lane-mail.ts';
import type { ServerState } from '../sharing/board.ts';
import { addressOf, type SchedulerHandle } from '../sharing/handle.ts';
import { post } from '../sharing/mailbox.ts';
import { type Given, GONE, type LaneAnswer, type LaneCall, type LaneLink } from './lane-link.ts';

/** The link of a client to the threads of a shard that another thread owns. Calls and answers are messages. */
export class MailLink implements LaneLink {
  deaths = 0;
  readonly server: () => ServerState;
  readonly want: () => void;
  private readonly shard: number;
  private readonly doorbell: Doorbell;
  /** The address of the shard's threads, the client's serial, and its address. */
  private readonly address: string;
  private readonly client: number;
  private readonly reply: string;
  private requests = 0;
  private readonly waiting = new Map<number, (message: FromThread | typeof GONE) => void>();

  constructor(handle: SchedulerHandle, shard: number, client: number, server: () => ServerState, want: () => void) {
    this.server = server;
    this.want = want;
    this.shard = shard;
    this.doorbell = new Doorbell(handle.doorbells[shard]);
    this.address = addressOf.host(handle.name, shard);
    this.client = client;
    this.reply = addressOf.client(handle.name, client);
  }

  get cause(): Error {
    return new Error(`The thread of shard ${this.shard} has ended`);
  }

  call<C extends LaneCall>(epoch: number, name: C, ...given: Given<C>): Promise<LaneAnswer<C>> {
    const { client, reply } = this;
    this.requests += 1;
    const request = this.requests;
    return new Promise((resolve, reject) => {
      post(this.address, { call: name, client, given, epoch, reply, request } satisfies ToThread);
      this.doorbell.ring(); // wakes a parked shard
      this.waiting.set(request, (message) => {
        this.waiting.delete(request);
        if (message === GONE) resolve(GONE);
        else if (message.error === undefined) resolve(message.answer as LaneAnswer<C>);
        else reject(message.error);
      });
    });
  }

  receive(message: FromThread): void {
    this.waiting.get(message.request)?.(message);
  }

  lost(): void {
    this.deaths += 1;
    this.giveUpCalls();
  }

  handedBack(): void {}

  refused(): boolean {
    return false;
  }

  async release(): Promise<void> {
    this.giveUpCalls();
  }

  private giveUpCalls(): void {
    for (const giveUp of this.waiting.values()) giveUp(GONE);
  }
}
