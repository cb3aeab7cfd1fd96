/**
 * 32-bit words in shared memory, grouped by who writes them. Two threads that write to one cache line slow each other
 * down although they share no data, so every group begins on a line of its own. The unit is two lines, because
 * current processors fetch lines in pairs.
 */
export const WORDS_PER_GROUP = 32;

const BYTES_PER_WORD = Int32Array.BYTES_PER_ELEMENT;

/** Zeroed shared memory for `groups` groups of words. */
export const allocateGroups = (groups: number): SharedArrayBuffer =>
  new SharedArrayBuffer(groups * WORDS_PER_GROUP * BYTES_PER_WORD);

/** Zeroed shared memory for `count` words without padding. The system hands out its pages as they are first touched. */
export const allocateWords = (count: number): SharedArrayBuffer => new SharedArrayBuffer(count * BYTES_PER_WORD);
