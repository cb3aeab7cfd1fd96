// Taken once: a program may replace them.
const { clz32, imul } = Math;

/** The position of a word's lowest 1. V8: words */
export function lowestOne(word: number): number {
  const bits = word | 0;
  return 31 - clz32(bits ^ (bits & (bits - 1)));
}

/** The number of ones in a word. */
export function countOnes(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
