const BYTES_PER_WORD = Int32Array.BYTES_PER_ELEMENT;

/** Smaller memory costs nothing that is worth while. */
const LARGE = 1024;

const free = new Map<number, Int32Array<SharedArrayBuffer>[]>();
const used: Int32Array<SharedArrayBuffer>[] = [];

/**
 * In place of `allocateWords`, for suites that build some hundred thousand small worlds, of which one lives at a time:
 * the index of a shard reserves 148 KB, and to map that anew for each world took more than half of their time.
 */
export function recycledWords(count: number): SharedArrayBuffer {
  if (count < LARGE) return new SharedArrayBuffer(count * BYTES_PER_WORD);
  const words = free.get(count)?.pop() ?? new Int32Array(new SharedArrayBuffer(count * BYTES_PER_WORD));
  used.push(words.fill(0));
  return words.buffer;
}

/** Gives all of it back: nobody uses it any more. */
export function recycle(): void {
  for (const words of used) {
    const others = free.get(words.length);
    if (others === undefined) free.set(words.length, [words]);
    else others.push(words);
  }
  used.length = 0;
}
