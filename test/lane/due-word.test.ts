import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  highWordOf,
  tickFrom,
  tickOfWords,
  ticksBetween,
  tickUpTo,
  WORD_REACH,
  wordOf,
} from '../../src/lane/due-word.ts';

const ticks = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(),
  fc.constantFrom(0, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 33, 2 ** 52),
);
/** Less than 2^31 away, corners included. */
const distances = fc.oneof(
  fc.integer({ min: -(2 ** 31) + 1, max: 2 ** 31 - 1 }),
  fc.constantFrom(0, 1, -1, WORD_REACH, -WORD_REACH, 2 ** 31 - 1, -(2 ** 31) + 1),
);

describe('due words', () => {
  test('mean the tick they were made of, seen from any tick less than 2^31 away', () => {
    fc.assert(
      fc.property(ticks, distances, (base, distance) => {
        const tick = base + distance;
        fc.pre(tick >= 0 && Number.isSafeInteger(tick));
        expect(tickFrom(wordOf(tick), base)).toBe(tick);
        expect(ticksBetween(wordOf(base), wordOf(tick))).toBe(distance);
      }),
      { numRuns: 5000 },
    );
  });

  test('mean the tick they were made of, seen from any later one less than 2^32 away', () => {
    const ages = fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1));
    fc.assert(
      fc.property(ticks, ages, (tick, age) => {
        fc.pre(Number.isSafeInteger(tick + age));
        expect(tickUpTo(wordOf(tick), tick + age)).toBe(tick);
      }),
      { numRuns: 5000 },
    );
  });

  test('are words of 32 bits, of which two hold a whole tick', () => {
    fc.assert(
      fc.property(ticks, (tick) => {
        const words = [wordOf(tick), highWordOf(tick)];
        expect([...new Int32Array(words)]).toEqual(words);
        expect(tickOfWords(words[0], words[1])).toBe(tick);
      }),
      { numRuns: 5000 },
    );
  });

  test('from 2^31 ticks away on they mean another tick: what counts as near is less', () => {
    expect(tickFrom(wordOf(2 ** 31), 0)).toBe(-(2 ** 31));
    expect(tickFrom(wordOf(2 ** 32), 0)).toBe(0);
    expect(WORD_REACH).toBeLessThan(2 ** 31);
  });
});
