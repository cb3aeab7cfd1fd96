import type { MessagePort } from 'node:worker_threads';
import type { ShardOrigin, ShardSetup } from './build-shard.ts';

/** What a thread is given to serve a shard. */
export interface ShardTask {
  readonly setup: ShardSetup;
  readonly origin: ShardOrigin;
  /** Where it hears of other clients: see `GuestLanes`. */
  readonly address: string;
  /** Which of the shard's threads this is: they count from 1. */
  readonly epoch: number;
  /** Control calls, through comlink. */
  readonly control: MessagePort;
  /** For the thread to hold, as long as it lives: see `Lifeline`. */
  readonly lifeline: SharedArrayBuffer | undefined;
}
