import { channel } from 'node:diagnostics_channel';
import type { ShardInlineError } from '../errors.ts';
import type { Serving } from '../hosts/auto-shard.ts';
import type { ShardRestart } from '../hosts/shard-host.ts';

/** What `node:diagnostics_channel` has of this package: `shardwheel:` and the name. Nothing is published unheard. */
interface Messages {
  'shard-restart': ShardRestart;
  /** A shard runs in the calling thread from here on, though it was to have one of its own. */
  inline: { shard: number | undefined; error: ShardInlineError };
  /** With `shards: 'auto'`: what serves the shards has changed. */
  serving: Serving & { shards: number };
}

const channels = {
  'shard-restart': channel('shardwheel:shard-restart'),
  inline: channel('shardwheel:inline'),
  serving: channel('shardwheel:serving'),
};

export function publishDiagnostics<Name extends keyof Messages>(name: Name, message: Messages[Name]): void {
  if (channels[name].hasSubscribers) channels[name].publish(message);
}
