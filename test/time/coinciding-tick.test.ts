import { describe, expect, test } from 'vitest';
import { coincidingTick } from '../../src/time/tick-scale.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

/** Zero bits at the end of a whole number, of 53. */
function zeroBits(tick: bigint): number {
  let zeros = 0;
  while (zeros < 53 && (tick >> BigInt(zeros)) % 2n === 0n) zeros += 1;
  return zeros;
}

/** By looking at every tick. */
function rounded(tick: number, slack: number): number {
  let best = tick;
  for (let next = tick; next <= tick + slack; next++) if (zeroBits(BigInt(next)) > zeroBits(BigInt(best))) best = next;
  return best;
}

const expectRounded = (tick: number, slack: number): void => {
  const due = coincidingTick(tick, slack);
  if (due !== rounded(tick, slack)) expect.fail(`${tick} with slack ${slack}: ${due}, not ${rounded(tick, slack)}`);
};

describe('the tick of a timer with slack', () => {
  test('is the one of those in reach that ends in the most zero bits: small ticks and slacks, all of them', () => {
    for (let slack = 0; slack <= 40; slack++) for (let tick = -50; tick <= 140; tick++) expectRounded(tick, slack);
  });

  test(`so it is where words and doubles end, and far away, seed ${SEED}`, () => {
    const draws = new Draws(SEED);
    for (const edge of [2 ** 31, 2 ** 32, 2 ** 33, 3 * 2 ** 31, 2 ** 40 + 2 ** 31, 2 ** 52]) {
      for (let i = 0; i < 50; i++) expectRounded(edge + draws.below(400) - 200, draws.below(200));
    }
  });

  test('is its own without slack, and what is beyond the whole numbers stays', () => {
    for (const tick of [0, 1, 7, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1, -3]) {
      expect(coincidingTick(tick, 0)).toBe(tick);
    }
    for (const tick of [1e300, -1e300, Number.POSITIVE_INFINITY]) expect(coincidingTick(tick, 100)).toBe(tick);
  });

  test('rises with the tick, is a multiple of the granule, and reaches as far as the slack does', () => {
    for (const slack of [1, 2, 3, 10, 100, 127, 1000, 2 ** 29]) {
      const granule = 2 ** Math.floor(Math.log2(slack + 1));
      let last = 0;
      for (let tick = 1; tick < 3000; tick += 7) {
        const due = coincidingTick(tick, slack);
        expect(due % granule).toBe(0);
        expect(due).toBeGreaterThanOrEqual(Math.max(last, tick));
        expect(due).toBeLessThanOrEqual(tick + slack);
        last = due;
      }
    }
  });
});
