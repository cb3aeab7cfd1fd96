import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  dueTickFrom,
  highWordOf,
  MAX_SLACK,
  readTick,
  tickFrom,
  tickOfWords,
  ticksBetween,
  tickUpTo,
  WORD_REACH,
  wordOf,
  writeTick,
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

  test('mean the tick they were made of, with its deadline, however long ago the timer fell due', () => {
    const slacks = fc.oneof(fc.nat({ max: MAX_SLACK }), fc.constantFrom(0, 1, MAX_SLACK));
    const ages = fc.oneof(fc.nat({ max: 2 ** 40 }), fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 33));
    fc.assert(
      fc.property(ticks, slacks, ages, (tick, slack, age) => {
        fc.pre(tick > 0 && Number.isSafeInteger(tick + slack + age));
        expect(dueTickFrom(wordOf(tick + slack), tick, tick + slack + age)).toBe(tick + slack);
      }),
      { numRuns: 5000 },
    );
  });

  test('of a deadline that had passed when it was set, mean the next tick, however long ago it had', () => {
    const late = fc.oneof(fc.nat({ max: 2 ** 40 }), fc.constantFrom(2 ** 29 + 1, 2 ** 31, 2 ** 32 - 1));
    fc.assert(
      fc.property(ticks, late, (tick, overdue) => {
        const now = tick + overdue;
        fc.pre(Number.isSafeInteger(now + 1) && (overdue + 1 < 2 ** 32 || (overdue + 1) % 2 ** 32 > MAX_SLACK));
        expect(dueTickFrom(wordOf(now + 1), tick, now)).toBe(now + 1);
        for (const past of [0, -1, -(2 ** 32), -1e300]) expect(dueTickFrom(wordOf(now + 1), past, now)).toBe(now + 1);
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

  test.each([0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 52 + 5, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])(
    'two of them keep the tick %d, beside others',
    (tick) => {
      const words = new Int32Array(4).fill(7);
      writeTick(words, 1, tick);
      expect([readTick(words, 1), words[0], words[3]]).toEqual([tick, 7, 7]);
    },
  );

  const FAR = 2 ** 40;
  const LAST = Number.MAX_SAFE_INTEGER;
  test.each<[what: string, due: number, deadlineTick: number, now: number, told: number]>([
    ['no slack', FAR, FAR, 5, FAR],
    ['some slack', FAR + 9, FAR, 5, FAR + 9],
    ['the most slack', FAR + MAX_SLACK, FAR, 5, FAR + MAX_SLACK],
    ['more than that, which is another tick near now', FAR + MAX_SLACK + 1, FAR + 2, FAR, FAR + MAX_SLACK + 1],
    ['beyond the most slack, far from now: near now', 2 ** 30, FAR, 5, 2 ** 30],
    ['slack that ends at the clock: overdue when it was set', 110, 100, 110, 110],
    ['slack that ends before the clock', 108, 100, 110, 108],
    ['overdue when it was set: the next tick', 111, 100, 110, 111],
    ['overdue, and set long ago', 111, 100, 2 ** 31, 111],
    ['overdue by more than words tell apart', 108, 100, 108 + 2 ** 32, 108],
    ['by as much when it was set, which looks like slack', 108 + 2 ** 32, 100, 108 + 2 ** 32, 108],
    ['due as the clock reads', 100, 100, 100, 100],
    ['moved to before its deadline', 90, 100, 80, 90],
    ['moved to before its deadline, the clock at it', 101, 100, 100, 101],
    ['the last tick', LAST, LAST, 5, LAST],
    ['up to the last tick', LAST, LAST - 9, 5, LAST],
    ['for ever', LAST, Number.POSITIVE_INFINITY, 5, LAST],
  ])('%s: tick %d is told of its word, by the deadline and the clock', (_, due, deadlineTick, now, told) => {
    expect(dueTickFrom(wordOf(due), deadlineTick, now)).toBe(told);
  });
});
