import { MAX_NATIVE_DELAY_MS, native } from '../time/native-timers.ts';
import type { LongDelays } from './timeout-source.ts';

// Taken once: a program may replace them.
const { min, trunc } = Math;

const nothing = (): void => undefined;
const warnedOf = { negative: false, notANumber: false };

/**
 * Reads a delay as Node does, in ms: anything but a number, or less than 1, is 1. There is no longest
 * delay unless that is an option; an infinite one lasts as long as the clock. Warns in the same cases as Node.
 */
export function millisecondsOf(delay: unknown, longDelays: LongDelays): number {
  const number = (delay as number) * 1; // throws for a BigInt and a symbol, as in Node
  if (number >= 1 && number <= MAX_NATIVE_DELAY_MS) return number;
  return unusual(delay, number, longDelays);
}

function unusual(delay: unknown, number: number, longDelays: LongDelays): number {
  if (number > MAX_NATIVE_DELAY_MS) {
    if (longDelays === 'keep') return min(trunc(number), Number.MAX_SAFE_INTEGER);
    haveNodeWarn(delay);
  } else if (number < 0 && !warnedOf.negative) {
    warnedOf.negative = true;
    haveNodeWarn(delay);
  } else if (Number.isNaN(number) && delay !== undefined && !warnedOf.notANumber) {
    warnedOf.notANumber = true;
    haveNodeWarn(delay);
  }
  return 1;
}

/** Uses Node's own warnings, which differ from release to release. */
function haveNodeWarn(delay: unknown): void {
  native.timers.clearTimeout(native.timers.setTimeout(nothing, delay as number));
}
