import { AllocationError } from '../errors.ts';
import { performanceNow } from '../unfaked.ts';

/** Asking in vain may take this share of the time at most, as so many times what it took. */
const PAUSE_FACTOR = 10;
/** ms. Asking that takes no longer may be repeated. */
const SHORT_MS = 5;

/** The least request, in bytes, that was refused last, why, and until when as much is not asked for again, in ms. */
let refused = Number.POSITIVE_INFINITY;
let cause: Error | undefined;
let pausesUntil = Number.NEGATIVE_INFINITY;

/**
 * Asks for memory. Asking in vain takes V8 20 to 300 ms, in which it collects garbage, several times. So what was
 * refused is refused again without being asked for, for ten times as long as that took. Throws AllocationError.
 */
export function grant<T>(bytes: number, ask: () => T): T {
  const begun = performanceNow();
  if (begun < pausesUntil && bytes >= refused) throw new AllocationError(bytes, cause as Error);
  try {
    return ask();
  } catch (error) {
    cause = error as Error;
    const took = performanceNow() - begun;
    if (took > SHORT_MS) {
      refused = bytes;
      pausesUntil = begun + (1 + PAUSE_FACTOR) * took;
    }
    throw new AllocationError(bytes, cause);
  }
}
