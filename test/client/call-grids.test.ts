import { describe, expect, test } from 'vitest';
import { CallGrid, type MissedCalls } from '../../src/client/call-grids.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const GRIDS = 3000;
const CALLS = 40;

/** 2^-1074 is the smallest double, so every finite double is a whole number of these. */
const BITS = 1074n;

const bits = new DataView(new ArrayBuffer(8));

/** A double as a whole number of 2^-1074. */
function exact(value: number): bigint {
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = (word >> 52n) & 0x7ffn;
  const fraction = word & 0xfffffffffffffn;
  const size = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return word >> 63n === 1n ? -size : size;
}

/** The distance between doubles at a value, as a whole number of 2^-1074. */
const ulp = (value: number): bigint => {
  bits.setFloat64(0, Math.abs(value));
  bits.setBigUint64(0, bits.getBigUint64(0) + 1n);
  return exact(bits.getFloat64(0)) - exact(Math.abs(value));
};

const ceilOf = (dividend: bigint, divisor: bigint): bigint => {
  const quotient = dividend / divisor;
  return quotient * divisor < dividend ? quotient + 1n : quotient;
};

/** The same rules in whole numbers: call n is due at start + n × period. */
class ExactGrid {
  readonly start: bigint;
  readonly period: bigint;
  call = 0n;

  constructor(start: number, period: number) {
    this.start = exact(start);
    this.period = exact(period);
  }

  due(call = this.call): bigint {
    return this.start + call * this.period;
  }

  advance(missed: MissedCalls, lateFrom: number, begun: number, now: number): void {
    this.call += 1n;
    if (missed === 'burst') return;
    if (begun >= lateFrom || this.due() <= exact(begun)) this.skipTo(exact(begun) + this.period / 2n);
    if (this.due() <= exact(now)) this.skipTo(exact(now) + this.period / 2n);
  }

  private skipTo(time: bigint): void {
    const first = ceilOf(time - this.start, this.period);
    if (first > this.call) this.call = first;
  }
}

describe('the grid of a repeating timer, beside exact arithmetic', () => {
  test.each<[MissedCalls, string, (draws: Draws) => number, (draws: Draws) => number]>([
    ['skip', 'whole periods', (draws) => 1 + draws.below(1000), (draws) => draws.below(1e6)],
    ['burst', 'whole periods', (draws) => 1 + draws.below(1000), (draws) => draws.below(1e6)],
    ['skip', 'fractions', (draws) => draws.between(1, 1e6) / 997, (draws) => draws.between(0, 1e9) / 1013],
    ['burst', 'fractions', (draws) => draws.between(1, 1e6) / 997, (draws) => draws.between(0, 1e9) / 1013],
    ['skip', 'starts long ago', (draws) => draws.between(1, 1e6) / 997, (draws) => -(10 ** draws.between(3, 307)) / 3],
    ['skip', 'the longest periods', (draws) => 2 ** draws.between(53, 1000), (draws) => draws.between(0, 1e6) / 7],
  ])(`%s, %s, seed ${SEED}`, (missed, _name, period, start) => {
    const draws = new Draws(SEED);
    let [advanced, ambiguous] = [0, 0];
    for (let number = 0; number < GRIDS; number++) {
      const grid = new CallGrid();
      [grid.start, grid.period, grid.call] = [start(draws), period(draws), 0];
      const model = new ExactGrid(grid.start, grid.period);
      const span = Math.min(grid.period, 2 ** 40);
      let now = Math.max(0, grid.due);
      for (let call = 0; call < CALLS && now < 2 ** 52; call++) {
        const begun = now + draws.pick([0, 0, span * (draws.below(4000) / 1000)]);
        now = begun + draws.pick([0, 0, span * (draws.below(3000) / 1000)]);
        const lateFrom = draws.pick([begun, begun + 1]);
        const before = model.due();
        grid.advance(missed, lateFrom, begun, now);
        model.advance(missed, lateFrom, begun, now);
        advanced += 1;
        // Of a sum and a product, each rounded; a time within that of the limit may count on either side of it.
        const allowed = 4n * ulp(Math.max(grid.due, now, Math.abs(grid.start)));
        const distance = (other: bigint) => {
          const apart = exact(grid.due) - other;
          return apart < 0n ? -apart : apart;
        };
        if (grid.due < Number.MAX_VALUE && distance(model.due()) > allowed) {
          const other = [model.call - 1n, model.call + 1n].find((one) => distance(model.due(one)) <= allowed);
          const limit = exact(now) + model.period / 2n;
          const isNear = other !== undefined && limit - model.due(other) < 8n * allowed + model.period;
          if (!isNear)
            throw new Error(`grid ${number}, call ${call}: due at ${grid.due}, period ${grid.period}, of ${now}`);
          model.call = other;
          ambiguous += 1;
        }
        if (model.due() <= before) throw new Error(`grid ${number}, call ${call} does not come after the one before`);
        now = Math.max(now, grid.due);
      }
    }
    expect(advanced).toBeGreaterThan(GRIDS / 2);
    expect(ambiguous).toBeLessThan(advanced / 100);
  });

  test.each([1, 50, 0.3, 7.25])('a start at the end of doubles: period %d', (period) => {
    const grid = new CallGrid();
    [grid.start, grid.period, grid.call] = [-Number.MAX_VALUE, period, 0];
    const phase = exact(-Number.MAX_VALUE) % exact(period);
    grid.advance('skip', 0, 1000, 1000);
    expect(grid.due).toBeGreaterThanOrEqual(1000 + period / 2 - 1e-9);
    expect(grid.due).toBeLessThan(1000 + 1.5 * period + 1e-9);
    const apart = (exact(grid.due) - phase) % exact(period);
    const off = apart > exact(period) / 2n ? exact(period) - apart : apart;
    expect(off <= 4n * ulp(2000)).toBe(true);
    const due = [grid.due];
    for (let call = 0; call < 5; call++) {
      grid.advance('skip', grid.due + 1, grid.due, grid.due);
      due.push(grid.due);
    }
    for (const [n, time] of due.entries()) expect(time).toBeCloseTo(due[0] + n * period, 9);
  });
});

test('a start as long before the beginning as the clock can go beyond it: each number is whole', () => {
  const last = Number.MAX_SAFE_INTEGER;
  for (const start of [-last + 1000, 1 - 2 ** 52, -1000, -1, 0, 1]) {
    const grid = new CallGrid();
    [grid.start, grid.period, grid.call] = [start, 1, 0];
    for (let now = last - 1000; now < last - 900; now++) {
      grid.advance('skip', now, now, now);
      expect(grid.due - now, `start ${start}`).toBe(1);
    }
  }
});

test(`a unit of 2^-${BITS} is that of every double`, () => {
  expect([exact(Number.MIN_VALUE), exact(1), exact(-0.5)]).toEqual([1n, 1n << BITS, -(1n << (BITS - 1n))]);
});
