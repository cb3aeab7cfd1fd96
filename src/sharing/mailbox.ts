import type { BroadcastChannel, MessagePort } from 'node:worker_threads';
import { outsideContexts } from '../async-context/async-context.ts';
import { process } from '../process.ts';

/**
 * Messages between threads that have no port in common. An address is the name of a BroadcastChannel: any thread of the
 * process that knows it can write to it. Shared memory travels along. For events that happen once per lane, or once per
 * call across threads: some 150 µs each for the sender.
 */
export class Mailbox<Message> {
  private readonly channel: BroadcastChannel;

  /** Does not hold the process. An error of `received` is uncaught. */
  constructor(address: string, received: (message: Message) => void) {
    this.channel = outsideContexts(() => channelTo(address));
    const port = portBeneath(this.channel);
    if (port === undefined) {
      this.channel.onmessage = (event: unknown) => received((event as { data: Message }).data);
    } else {
      port.removeAllListeners('message');
      port.on('message', received);
    }
    (this.channel as unknown as MessagePort).unref();
  }

  /** Sends to all others with this address. */
  post(message: Message): void {
    this.channel.postMessage(message);
  }

  close(): void {
    this.channel.close();
  }
}

const threads = () => process.getBuiltinModule('node:worker_threads');

const channelTo = (address: string): BroadcastChannel => new (threads().BroadcastChannel)(address);

/** Sends a message. Readers of the address get messages in the order of sending, when their event loop takes them. */
export function post(address: string, message: unknown): void {
  const channel = channelTo(address);
  channel.postMessage(message);
  channel.close();
}

/**
 * Sends an answer, which is made once there is a way for it. Without memory for that nothing is done: who has asked
 * asks again.
 */
export function answerBy(address: string, answer: () => unknown): void {
  let channel: BroadcastChannel;
  try {
    channel = channelTo(address);
  } catch {
    return; // no memory for a channel
  }
  channel.postMessage(answer());
  channel.close();
}

/**
 * The port beneath Node's BroadcastChannel; undefined if there is none. Its messages come without the channel's own
 * events. For the first such event Node 22 and later load all of undici, for the class MessageEvent. That blocks a
 * thread for 30 to 60 ms, and keeps some MB.
 */
function portBeneath(channel: BroadcastChannel): MessagePort | undefined {
  const symbol = Object.getOwnPropertySymbols(channel).find(({ description }) => description === 'kHandle');
  const port: unknown = symbol && Reflect.get(channel, symbol);
  return port instanceof threads().MessagePort ? port : undefined;
}
