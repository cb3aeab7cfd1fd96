import { grant } from './grant.ts';

// Memory of this thread alone, which nobody else reads.

/** Zeroed words. Throws AllocationError. */
export const ownWords = (count: number): Int32Array<ArrayBuffer> =>
  grant(count * Int32Array.BYTES_PER_ELEMENT, () => new Int32Array(count));

/**
 * As many zeroed words as wanted; if they are refused, some more than are needed, by whole lines. Throws
 * AllocationError.
 */
export function ownWordsAtLeast(needed: number, wanted: number): Int32Array<ArrayBuffer> {
  const fewer = needed + ((needed >>> 10) << 7);
  if (wanted <= fewer) return ownWords(fewer);
  try {
    return ownWords(wanted);
  } catch {
    return ownWords(fewer); // refused: that is what `fewer` is for
  }
}

/** Zeroed bytes. Throws AllocationError. */
export const ownBytes = (count: number): Uint8Array<ArrayBuffer> => grant(count, () => new Uint8Array(count));

/** Zeroed doubles. Throws AllocationError. */
export const ownDoubles = (count: number): Float64Array<ArrayBuffer> =>
  grant(count * Float64Array.BYTES_PER_ELEMENT, () => new Float64Array(count));
