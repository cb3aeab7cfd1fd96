import { isSharedArrayBuffer } from 'node:util/types';
import { allocateGroups, WORDS_PER_GROUP, wordsIn } from './memory/shared-words.ts';
import { process } from './process.ts';
import { emitWarning } from './unfaked.ts';

/**
 * Warnings that come once in a process. Which have come stands in memory that its threads share, as hashes of their
 * codes, and of what they are about:
 *
 *     a thread's first scheduler ──▶ Node's environment data ──▶ threads that it starts from then on, and theirs
 *     share() ──▶ the handle ──▶ threads that connect, whenever they were started
 *
 * Threads that know of each other in neither way warn once each: nothing else reaches a thread without a handle that
 * would stay open, and what only imports the package leaves no trace.
 */
const ENVIRONMENT_KEY = 'shardwheel.told';

/** 64 warnings have room. Further ones come once in a thread. */
const GROUPS = 2;
const ROOM = GROUPS * WORDS_PER_GROUP;
const BYTES = ROOM * Int32Array.BYTES_PER_ELEMENT;

/** Of this thread, which spares it the memory. */
const warned = new Set<string>();
let shared: SharedArrayBuffer | undefined;

/**
 * Emits a process warning with this code, unless the process has had one; `about` the same, if it comes once for each.
 * Only then is the message made. docs/operate.md lists the codes.
 */
export function warnOnce(code: string, message: () => string, about = ''): void {
  const id = code + about;
  if (warned.has(id)) return;
  warned.add(id);
  if (mark(sharedWarnings(), hashOf(id))) emitWarning(message(), { type: 'ShardwheelWarning', code });
}

/**
 * What this thread shares with others, which it hands on to those that it starts from now on. Undefined if memory is
 * refused.
 */
export function sharedWarnings(): SharedArrayBuffer | undefined {
  if (shared === undefined) {
    const inherited = process.getBuiltinModule('node:worker_threads').getEnvironmentData(ENVIRONMENT_KEY);
    share(isMemory(inherited) ? inherited : newMemory());
  }
  return shared;
}

/** Goes on with what another thread shares: what has been told in either is told in both. */
export function joinWarnings(others: unknown): void {
  if (!isMemory(others)) return;
  sharedWarnings();
  const own = shared;
  share(others);
  for (const hash of own === undefined ? [] : wordsIn(own)) if (hash !== 0) mark(others, hash);
}

function share(memory: SharedArrayBuffer | undefined): void {
  if (!isMemory(memory)) return;
  shared = memory;
  process.getBuiltinModule('node:worker_threads').setEnvironmentData(ENVIRONMENT_KEY, memory);
}

function newMemory(): SharedArrayBuffer | undefined {
  try {
    return allocateGroups(GROUPS);
  } catch {
    return undefined; // this thread warns for itself
  }
}

const isMemory = (value: unknown): value is SharedArrayBuffer =>
  isSharedArrayBuffer(value) && value.byteLength === BYTES;

/** Returns whether it was not marked before, by any thread. */
function mark(memory: SharedArrayBuffer | undefined, hash: number): boolean {
  if (memory === undefined) return true;
  const words = wordsIn(memory);
  for (let at = 0; at < ROOM; at++) {
    // a word is written once: who finds 0 is the one that warns
    const found = Atomics.compareExchange(words, at, 0, hash);
    if (found === 0) return true;
    if (found === hash) return false;
  }
  return true;
}

/** FNV-1a (Fowler, Noll, Vo), never 0. */
function hashOf(code: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < code.length; i++) hash = Math.imul(hash ^ code.charCodeAt(i), 0x01000193);
  return hash | 1;
}
