import { AllocationError } from '../errors.ts';
import { mayLayOut } from './address-space.ts';
import { grant } from './grant.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/**
 * 32-bit words in shared memory, grouped by their writer. Two threads that write to one cache line slow each other
 * down although they share no data, so every group begins on a line of its own. The unit is two lines, because
 * current processors fetch lines in pairs.
 */
export const WORDS_PER_GROUP = 32;

const BYTES_PER_WORD = Int32Array.BYTES_PER_ELEMENT;

/**
 * Whether this thread can share memory with others. V8 withholds `SharedArrayBuffer` with
 * --enable-sharedarraybuffer-per-context, and a sandbox may. Then all memory is the thread's own: no other thread
 * serves or reads it, and atomics work on it as well.
 */
export const hasSharedMemory = typeof SharedArrayBuffer === 'function';

const Memory = hasSharedMemory ? SharedArrayBuffer : (ArrayBuffer as unknown as typeof SharedArrayBuffer);

/** Zeroed shared memory for `groups` groups of words. Throws AllocationError. */
export const allocateGroups = (groups: number): SharedArrayBuffer =>
  allocate(groups * WORDS_PER_GROUP * BYTES_PER_WORD, {});

/**
 * Zeroed shared memory for `count` words without padding. It is reserved, and resident only where it is touched: V8
 * maps growable memory itself, so `process.memoryUsage().arrayBuffers` does not count it. It never does grow. Views
 * need an explicit length, as in `wordsIn` and `doublesIn`: a view that follows its memory's length is 20 to 50 times
 * slower. Throws AllocationError.
 */
export function allocateWords(count: number): SharedArrayBuffer {
  const bytes = count * BYTES_PER_WORD;
  return allocate(bytes, { maxByteLength: bytes });
}

/** Slots for which memory is asked at first when that for the whole capacity is refused. */
const FEW_SLOTS = 1024;

/**
 * Zeroed shared memory for words by slot: for the whole capacity, so that it never has to be copied; if that is
 * refused, or too much of a limited address space, for twice the slots that are needed, or an eighth more. Throws
 * AllocationError if even that is refused.
 */
export function allocateSlots(wordsPerSlot: number, capacity: number, needed = 0): SharedArrayBuffer {
  const few = min(capacity, max(FEW_SLOTS, 2 * needed));
  const fewest = min(capacity, needed + (needed >>> 3) + 1);
  const all = mayLayOut(capacity * wordsPerSlot * BYTES_PER_WORD) ? capacity : few;
  const wanted = needed === 0 ? [all, few] : [few, fewest]; // what has been refused once is not asked for at each step
  let refusal: unknown;
  for (const slots of wanted) {
    try {
      return allocateWords(ceil(slots * wordsPerSlot));
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

/** The same for what is in use already and has too few slots: a copy with room for those that are needed. */
export function growSlots(
  memory: SharedArrayBuffer,
  wordsPerSlot: number,
  capacity: number,
  needed: number,
): SharedArrayBuffer {
  const larger = allocateSlots(wordsPerSlot, capacity, needed);
  wordsIn(larger).set(wordsIn(memory));
  return larger;
}

const allocate = (bytes: number, options: { maxByteLength?: number }): SharedArrayBuffer =>
  grant(bytes, () => new Memory(bytes, options));

/**
 * The same for memory that is laid out ahead of need, in words of this thread. It is refused if too much of a limited
 * address space.
 */
export function layOutWords(count: number): Int32Array<SharedArrayBuffer> {
  const bytes = count * BYTES_PER_WORD;
  if (!mayLayOut(bytes)) throw new AllocationError(bytes, new Error('the address space of the process is limited'));
  return wordsIn(allocateWords(count));
}

/** All of a memory's words. */
export const wordsIn = (memory: SharedArrayBuffer): Int32Array<SharedArrayBuffer> =>
  new Int32Array(memory, 0, memory.byteLength / BYTES_PER_WORD);

/** All of a memory's doubles. */
export const doublesIn = (memory: SharedArrayBuffer): Float64Array<SharedArrayBuffer> =>
  new Float64Array(memory, 0, memory.byteLength / Float64Array.BYTES_PER_ELEMENT);
