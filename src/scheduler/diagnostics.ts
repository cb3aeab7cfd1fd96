import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LateTurn } from '../client/late-timers.ts';
import type { ShardInlineError } from '../errors.ts';
import type { ShardRestart } from '../hosts/shard-restart.ts';
import type { Serving } from '../hosts/thread-policy.ts';

/** Every message names its scheduler. */
interface Message {
  scheduler: object;
}

/**
 * The messages on channels of `node:diagnostics_channel`: `shardwheel:` and the name. A channel without subscribers gets no
 * messages.
 */
interface Messages {
  'shard-restart': ShardRestart & Message;
  /** A shard that should have a thread runs in the calling thread from now on. */
  inline: { shard: number | undefined; error: ShardInlineError } & Message;
  /** With `shards: 'auto'`: what serves the shards has changed. */
  serving: Serving & { shards: number } & Message;
  /**
   * `refused` timers were refused for lack of capacity since the last message; at most one message a second for each shard.
   * Without a shard, the wheel of drop-in timers was full.
   */
  capacity: { shard: number | undefined; capacity: number; refused: number } & Message;
  /** See `watchLateness`. */
  late: LateTurn & Message;
}

const channels = {
  'shard-restart': channel('shardwheel:shard-restart'),
  inline: channel('shardwheel:inline'),
  serving: channel('shardwheel:serving'),
  capacity: channel('shardwheel:capacity'),
  late: channel('shardwheel:late'),
};

/** Publishes a message. Never throws: Node makes a subscriber's error an uncaught exception. */
export function publishDiagnostics<Name extends keyof Messages>(name: Name, message: Messages[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(message);
}

/** Subscribes a listener; returns a function that unsubscribes it. */
export function hear<Name extends keyof Messages>(name: Name, listener: (message: Messages[Name]) => void): () => void {
  const heard = (message: unknown): void => listener(message as Messages[Name]);
  subscribe(`shardwheel:${name}`, heard);
  return () => unsubscribe(`shardwheel:${name}`, heard);
}
