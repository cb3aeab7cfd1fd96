import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LateTurn } from '../client/late-timers.ts';
import type { ShardInlineError } from '../errors.ts';
import type { Serving } from '../hosts/auto-shard.ts';
import type { ShardRestart } from '../hosts/shard-host.ts';

/** What all messages have: the scheduler, which tells several apart. */
interface Message {
  scheduler: object;
}

/** What `node:diagnostics_channel` has of this package: `shardwheel:` and the name. Nothing is published unheard. */
interface Messages {
  'shard-restart': ShardRestart & Message;
  /** A shard runs in the calling thread from here on, though it was to have one of its own. */
  inline: { shard: number | undefined; error: ShardInlineError } & Message;
  /** With `shards: 'auto'`: what serves the shards has changed. */
  serving: Serving & { shards: number } & Message;
  /**
   * `refused` timers have been, for want of capacity, since the message before; at most one message a second and shard. Without
   * a shard where all together were full, see `totalCapacity`.
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

/** Never throws: what a subscriber throws is an uncaught exception, as Node has it. */
export function publishDiagnostics<Name extends keyof Messages>(name: Name, message: Messages[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(message);
}

/** Returns what ends it. */
export function hear<Name extends keyof Messages>(name: Name, listener: (message: Messages[Name]) => void): () => void {
  const heard = (message: unknown): void => listener(message as Messages[Name]);
  subscribe(`shardwheel:${name}`, heard);
  return () => unsubscribe(`shardwheel:${name}`, heard);
}
