import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TickScale } from '../../src/time/tick-scale.ts';

// Powers of two, what lies next to them, and what no double holds exactly.
const ticks = [0.1, 0.25, 0.25 * (1 + 2 ** -52), 1 / 3, 1e-3, 7.3, 1, 1024 * (1 + 2 ** -52), 1000, 1e-6, 0.7, Math.PI];

/** The double next to a positive one, or the one before. */
function neighbour(value: number, step: 1n | -1n): number {
  const float = new Float64Array([value]);
  const bits = new BigInt64Array(float.buffer);
  bits[0] += step;
  return float[0];
}

/**
 * Both inequalities of TickScale at a time whose ticks are integers that doubles can tell apart. Returns whether they
 * are.
 */
function check(scale: TickScale, time: number): boolean {
  const after = scale.tickAtOrAfter(time);
  const before = scale.tickAtOrBefore(time);
  if (!(Math.abs(after) < 2 ** 53 && Math.abs(before) < 2 ** 53 - 1)) return false;
  const isAfter = scale.timeOf(after) >= time && scale.timeOf(after - 1) < time;
  const isBefore = scale.timeOf(before) <= time && scale.timeOf(before + 1) > time;
  if (!(Number.isInteger(after) && Number.isInteger(before) && isAfter && isBefore)) {
    expect.fail(`${time} ms is not between ticks ${before} and ${after} of ${scale.tick} ms`);
  }
  return true;
}

/** Times of every magnitude up to 2^53, as likely small as large. */
const times = fc
  .tuple(fc.integer({ min: -30, max: 52 }), fc.double({ min: 1, max: 2, maxExcluded: true, noNaN: true }))
  .map(([exponent, mantissa]) => 2 ** exponent * mantissa);

describe.each(ticks)('ticks of %d ms', (tick) => {
  const scale = new TickScale(tick);

  test('a time lies between its ticks, at every magnitude', () => {
    fc.assert(
      fc.property(times, (time) => {
        fc.pre(check(scale, time));
        check(scale, -time);
      }),
      { numRuns: 2000, maxSkipsPerRun: 1000 },
    );
  });

  test('so do the times of ticks and the doubles next to them, where a division is rounded to the wrong side', () => {
    const largest = Math.floor(Math.log2(Math.min(2 ** 52, 2 ** 53 / tick)));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: largest }), fc.nat(), (bits, offset) => {
        const number = 2 ** bits + (offset % 2 ** bits);
        const time = scale.timeOf(number);
        for (const near of [neighbour(time, -1n), time, neighbour(time, 1n)]) check(scale, near);
        expect([scale.tickAtOrBefore(time), scale.tickAtOrAfter(time)]).toEqual([number, number]);
      }),
      { numRuns: 2000 },
    );
  });

  test('what is filed at or after its deadline and fired at or before now is never early', () => {
    fc.assert(
      fc.property(times, times, (deadline, now) => {
        if (check(scale, deadline) && check(scale, now) && scale.tickAtOrAfter(deadline) <= scale.tickAtOrBefore(now)) {
          expect(now).toBeGreaterThanOrEqual(deadline);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

test('time 0 is tick 0, whatever the tick', () => {
  for (const tick of ticks) {
    const scale = new TickScale(tick);
    expect([scale.tickAtOrAfter(0), scale.tickAtOrBefore(0), scale.timeOf(0)]).toEqual([0, 0, 0]);
  }
});
