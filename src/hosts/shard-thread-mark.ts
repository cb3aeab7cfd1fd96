import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** The only argument in `process.argv` of every shard's thread, whichever copy of the package started it. */
export const SHARD_THREAD = 'shardwheel:shard';

/** Whether this thread is a shard's: it runs no code of the program, whatever Node makes it load. */
export const isShardThread = (): boolean => !isMainThread && process.argv.includes(SHARD_THREAD);
