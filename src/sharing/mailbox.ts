import { BroadcastChannel, MessagePort } from 'node:worker_threads';
import { outsideContexts } from '../async-context/async-context.ts';

/**
 * Messages between threads that have no port in common. An address is the name of a BroadcastChannel: whoever knows it can
 * write to it, from any thread of the process; memory that is shared travels along. For what happens once per lane, or
 * once per call that crosses threads: some 150 µs each on the sender's side.
 */
export class Mailbox<Message> {
  private readonly channel: BroadcastChannel;

  /** Does not hold the process. What `received` throws is uncaught. */
  constructor(address: string, received: (message: Message) => void) {
    this.channel = outsideContexts(() => new BroadcastChannel(address));
    const port = portBeneath(this.channel);
    if (port === undefined) {
      this.channel.onmessage = (event: unknown) => received((event as { data: Message }).data);
    } else {
      port.removeAllListeners('message');
      port.on('message', received);
    }
    (this.channel as unknown as MessagePort).unref();
  }

  /** To all others with this address. */
  post(message: Message): void {
    this.channel.postMessage(message);
  }

  close(): void {
    this.channel.close();
  }
}

/** Sends a message. Whoever reads the address has it, in the order of the sending, when its event loop gets there. */
export function post(address: string, message: unknown): void {
  const channel = new BroadcastChannel(address);
  channel.postMessage(message);
  channel.close();
}

/**
 * The port that a BroadcastChannel of Node stands on; undefined where it does not. Its messages come without the channel's
 * own events: of those the first has Node 22 and later load all of undici, for the class MessageEvent, which blocks a thread
 * for 30 to 60 ms, and stays there with some MB.
 */
function portBeneath(channel: BroadcastChannel): MessagePort | undefined {
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const port: unknown = symbol && Reflect.get(channel, symbol);
  return port instanceof MessagePort ? port : undefined;
}
