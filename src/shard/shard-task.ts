import type { MessagePort } from 'node:worker_threads';
import type { ShardOrigin, ShardSetup } from './build-shard.ts';

/** The task of a shard's thread. */
export interface ShardTask {
  readonly setup: ShardSetup;
  readonly origin: ShardOrigin;
  /** The address for other clients' messages: see `GuestLanes`. */
  readonly address: string;
  /** The number of this thread among the shard's, from 1. */
  readonly epoch: number;
  /** Control calls, through comlink. */
  readonly control: MessagePort;
  /** For the thread to hold, as long as it lives: see `Lifeline`. */
  readonly lifeline: SharedArrayBuffer | undefined;
}
