import { InvalidArgumentError } from '../errors.ts';

const HINT = 'must be a finite number, a string or a group';

/** Of a call that would have looked into a group. */
const KEY = 'must be a finite number or a string: this call takes no groups';

/** Longer strings are hashed by their first and last characters and their length: a hint may come from outside. */
const LONG_HINT = 256;

const float = new Float64Array(1);
const floatBits = new Int32Array(float.buffer);

/** Murmur3's finalizer: every bit of the input changes each bit of the output with probability near 1/2. */
function mix(bits: number): number {
  let h = bits ^ (bits >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Returns 32 bits that depend on all bits of a number beyond 32 bits, or with a fraction. */
function fold(hint: number): number {
  float[0] = hint;
  return floatBits[0] ^ mix(floatBits[1]);
}

/** FNV-1a over UTF-16 units, then mixed: FNV alone leaves the high bits of short strings poor. */
function hashString(hint: string): number {
  let h = 0x811c9dc5 ^ hint.length;
  const end = hint.length <= LONG_HINT ? hint.length : LONG_HINT / 2;
  for (let i = 0; i < end; i++) h = Math.imul(h ^ hint.charCodeAt(i), 0x01000193);
  if (end < hint.length) {
    for (let i = hint.length - LONG_HINT / 2; i < hint.length; i++) h = Math.imul(h ^ hint.charCodeAt(i), 0x01000193);
  }
  return mix(h);
}

/**
 * {@link placementOf} a whole number of 32 bits: Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4), by 2^32 / φ.
 * @internal
 */
export const placementOfInteger = (hint: number, shards: number): number =>
  Math.imul(Math.imul(hint ^ (hint >>> 16), 0x9e3779b1) >>> 16, shards) >>> 16; // as scaleTo: V8, short paths

/**
 * Returns the shard, 0 <= n < shards, on which a hint is placed. Equal hints share a shard; consecutive and strided
 * integers spread evenly. Throws InvalidArgumentError for anything but a finite number or a string.
 * @internal
 */
export function placementOf(hint: number | string, shards: number): number {
  if (typeof hint === 'number') {
    if (hint - hint !== 0) throw new InvalidArgumentError('workerHint', HINT, hint);
    return placementOfInteger((hint | 0) === hint ? hint : fold(hint), shards);
  }
  if (typeof hint === 'string') return scaleTo(hashString(hint), shards);
  throw new InvalidArgumentError('workerHint', typeof hint === 'object' && hint !== null ? KEY : HINT, hint);
}

/** Returns the first hint, from a number on, that is placed on a shard. Takes some tries for each shard. @internal */
export function hintOf(shard: number, shards: number, from: number): number {
  let hint = Math.imul(from, shards);
  while (placementOfInteger(hint, shards) !== shard) hint = (hint + 1) | 0;
  return hint;
}

/** Multiply and shift in place of a remainder: uses the high bits, and costs no division. */
const scaleTo = (hash: number, shards: number): number => Math.imul(hash >>> 16, shards) >>> 16;
