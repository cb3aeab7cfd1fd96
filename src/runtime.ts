import { UnsupportedRuntimeError } from './errors.ts';
import { process } from './process.ts';

/**
 * What runs this program, where that makes a difference: Bun and Deno have most of Node's modules, and not all of what
 * they do.
 */
export const runtime: 'node' | 'bun' | 'deno' =
  process.versions.bun !== undefined ? 'bun' : process.versions.deno !== undefined ? 'deno' : 'node';

/** Throws UnsupportedRuntimeError on another runtime. `what` needs Node; `remedy` says what to use there. */
export function requireNode(what: string, remedy: string): void {
  if (runtime !== 'node') throw UnsupportedRuntimeError.otherThanNode(what, runtime === 'bun' ? 'Bun' : 'Deno', remedy);
}

/** `threadId` of this thread; 0 in the main one. */
export const threadNumber = (): number => process.getBuiltinModule('node:worker_threads').threadId;

/** The only argument in `process.argv` of every shard's thread, whichever copy of the package started it. */
export const SHARD_THREAD = 'shardwheel:shard';

/** Whether this thread is a shard's: it runs no code of the program, whatever Node makes it load. */
export const isShardThread = (): boolean =>
  process.argv.includes(SHARD_THREAD) && !process.getBuiltinModule('node:worker_threads').isMainThread;
