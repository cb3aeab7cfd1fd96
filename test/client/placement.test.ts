import fc from 'fast-check';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { placementOf } from '../../src/client/placement.ts';
import { InvalidArgumentError } from '../../src/errors.ts';
import { Draws } from '../fixtures/draws.ts';

const HINTS = 100_000;

/** Chi-squared of where hints are placed against an even spread. */
function chiSquared(shards: number, hintAt: (i: number) => number | string): number {
  const counts = new Array<number>(shards).fill(0);
  for (let i = 0; i < HINTS; i++) counts[placementOf(hintAt(i), shards)] += 1;
  const expected = HINTS / shards;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

/** What an even spread exceeds once in 10,000 times: Wilson and Hilferty's approximation of the 99.99 % quantile. */
function limit(shards: number): number {
  const freedom = shards - 1;
  return freedom * (1 - 2 / (9 * freedom) + 3.719 * Math.sqrt(2 / (9 * freedom))) ** 3;
}

const draws = new Draws(2024);
const word = () => draws.below(2 ** 32).toString(36);
const shapes: { name: string; hintAt: (i: number) => number | string }[] = [
  { name: 'sequential integers', hintAt: (i) => i },
  { name: 'sequential integers from 2^31', hintAt: (i) => 2 ** 31 + i },
  { name: 'sequential integers from 2^50', hintAt: (i) => 2 ** 50 + i },
  { name: 'negative integers', hintAt: (i) => -i - 1 },
  { name: 'multiples of 64', hintAt: (i) => i * 64 },
  { name: 'multiples of 4096', hintAt: (i) => i * 4096 },
  { name: 'multiples of 2^20', hintAt: (i) => i * 2 ** 20 },
  { name: 'fractions', hintAt: (i) => i + 0.5 },
  { name: 'eighths', hintAt: (i) => i / 8 },
  { name: 'random numbers', hintAt: () => draws.between(0, 2 ** 50) },
  { name: 'random strings', hintAt: word },
  { name: 'numbered strings', hintAt: (i) => `connection-${i}` },
  { name: 'addresses', hintAt: (i) => `10.0.${i >> 8}.${i & 255}:443` },
  { name: 'strings that differ in the middle of their tail', hintAt: (i) => `${'x'.repeat(300)}${i}${'y'.repeat(40)}` },
];

describe('placement', () => {
  for (const shards of [2, 3, 7, 8, 13, 61, 64, 1000]) {
    test.each(shapes)(`spreads $name evenly over ${shards} shards`, ({ hintAt }) => {
      expect(chiSquared(shards, hintAt)).toBeLessThan(limit(shards));
    });
  }

  test('is a shard, and the same for equal hints', () => {
    const hints = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer(), fc.string());
    fc.assert(
      fc.property(hints, fc.integer({ min: 1, max: 1024 }), (hint, shards) => {
        const shard = placementOf(hint, shards);
        expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true);
        expect(placementOf(hint, shards)).toBe(shard);
      }),
      { numRuns: 1000 },
    );
    expect(placementOf(-0, 64)).toBe(placementOf(0, 64));
  });

  test('is what shardOf() tells; one shard, or none, holds everything', async () => {
    for (const shards of [0, 1, 2]) {
      await using scheduler = createScheduler({ shards, capacity: 64 });
      for (const hint of [0, -0, 1, 1.5, -1, 2 ** 53, 1e300, '', 'a', '1']) {
        expect(scheduler.shardOf(hint)).toBe(shards === 2 ? placementOf(hint, 2) : 0);
      }
    }
  });

  test('a string of a megabyte is placed by its ends', () => {
    const long = 'x'.repeat(2 ** 20);
    const shards = new Set(Array.from({ length: 50 }, (_, i) => placementOf(`${i}${long}`, 1024)));
    for (let i = 0; i < 50; i++) shards.add(placementOf(`${long}${i}`, 1024));
    expect(shards.size).toBeGreaterThan(80);
    const flat = Buffer.alloc(2 ** 20, 'x').toString('latin1');
    const started = performance.now();
    for (let i = 0; i < 10_000; i++) placementOf(flat, 8);
    expect(performance.now() - started).toBeLessThan(2000); // all of its characters would take 10 s or more
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, undefined, null, {}, [1], true, 1n])(
    'refuses %s, on one shard too',
    (hint) => {
      for (const shards of [1, 4])
        expect(() => placementOf(hint as number | string, shards)).toThrow(InvalidArgumentError);
    },
  );
});
