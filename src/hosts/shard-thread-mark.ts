import { process } from '../process.ts';
/** The only argument in `process.argv` of every shard's thread, whichever copy of the package started it. */
export const SHARD_THREAD = 'shardwheel:shard';

/** Whether this thread is a shard's: it runs no code of the program, whatever Node makes it load. */
export const isShardThread = (): boolean =>
  process.argv.includes(SHARD_THREAD) && !process.getBuiltinModule('node:worker_threads').isMainThread;
