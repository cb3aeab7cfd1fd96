import { BroadcastChannel } from 'node:worker_threads';
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
    this.channel.onmessage = (event: unknown) => received((event as { data: Message }).data);
    (this.channel as unknown as { unref(): void }).unref();
  }

  /** To all others with this address. */
  post(message: Message): void {
    this.channel.postMessage(message);
  }

  close(): void {
    this.channel.onmessage = () => undefined;
    this.channel.close();
  }
}

/** Sends a message. Whoever reads the address has it, in the order of the sending, when its event loop gets there. */
export function post(address: string, message: unknown): void {
  const channel = new BroadcastChannel(address);
  channel.postMessage(message);
  channel.close();
}
