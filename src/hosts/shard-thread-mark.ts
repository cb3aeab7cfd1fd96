import process from 'node:process';
import { isMainThread } from 'node:worker_threads';

/** The one argument in `process.argv` of every shard's thread, whichever copy of the package has started it. */
export const SHARD_THREAD = 'shardwheel:shard';

/** Whether this thread is a shard's: it has no program's code to run, whatever Node makes it load. */
export const isShardThread = (): boolean => !isMainThread && process.argv.includes(SHARD_THREAD);
