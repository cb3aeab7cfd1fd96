import type { MessagePort } from 'node:worker_threads';
import type { ShardOrigin, ShardSetup } from './build-shard.ts';

/** What a thread is given to serve a shard. */
export interface ShardTask {
  readonly setup: ShardSetup;
  readonly origin: ShardOrigin;
  /** Control calls, through comlink. */
  readonly control: MessagePort;
}
