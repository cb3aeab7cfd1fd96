import type { MessagePort } from 'node:worker_threads';
import type { ShardSetup } from './build-shard.ts';

/** The task of a shard's thread. */
export interface ShardTask {
  readonly setup: ShardSetup;
  /** The address for other clients' calls: see `receiveCall`. */
  readonly address: string;
  /** The number of this thread among the shard's, from 1. */
  readonly epoch: number;
  /** The owner's calls, through comlink. */
  readonly control: MessagePort;
}
