import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { placementOf } from '../../src/client/placement.ts';
import { Draws } from '../fixtures/draws.ts';

const COUNT = 50_000;

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789-_';
const word = (draws: Draws, length: number) =>
  Array.from({ length }, () => letters[draws.below(letters.length)]).join('');

/** Populations of hints as a proxy has them; fixed seeds, as a fair hash exceeds any threshold now and then. */
const populations: Record<string, () => (number | string)[]> = {
  'sequential ids': () => Array.from({ length: COUNT }, (_, i) => i),
  'sequential ids from 2^32 on': () => Array.from({ length: COUNT }, (_, i) => 2 ** 32 + i),
  'multiples of 64': () => Array.from({ length: COUNT }, (_, i) => i * 64),
  'multiples of 2^20': () => Array.from({ length: COUNT }, (_, i) => i * 2 ** 20),
  'negative ids': () => Array.from({ length: COUNT }, (_, i) => -i - 1),
  fractions: () => Array.from({ length: COUNT }, (_, i) => i / 8),
  'random numbers': () => {
    const draws = new Draws(11);
    return Array.from({ length: COUNT }, () => draws.between(0, 2 ** 50));
  },
  'random strings': () => {
    const draws = new Draws(12);
    return Array.from({ length: COUNT }, () => word(draws, 4 + draws.below(20)));
  },
  'numbered names': () => Array.from({ length: COUNT }, (_, i) => `tenant-${i}`),
  'addresses and ports': () =>
    Array.from({ length: COUNT }, (_, i) => `10.0.${(i >> 8) & 255}.${i & 255}:${1024 + (i >> 4)}`),
  'long strings that differ in the middle of their tail': () => {
    return Array.from({ length: COUNT }, (_, i) => `${'x'.repeat(300)}${i}${'y'.repeat(40)}`);
  },
};

/** Pearson's statistic of counts against an even spread, in standard deviations of its own distribution. */
function unevenness(counts: number[]): number {
  const mean = COUNT / counts.length;
  const chi2 = counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0);
  const freedom = counts.length - 1;
  return (chi2 - freedom) / Math.sqrt(2 * freedom);
}

describe('placement', () => {
  test.each(Object.keys(populations))('%s spread evenly over 2 to 64 shards', (name) => {
    const hints = populations[name]();
    let cases = 0;
    for (const shards of [2, 3, 4, 7, 8, 16, 61, 64]) {
      const counts = new Array<number>(shards).fill(0);
      for (const hint of hints) counts[placementOf(hint, shards)] += 1;
      // Above what chance gives one time in a million or so; consecutive integers may be more even than chance.
      expect(unevenness(counts), `${shards} shards`).toBeLessThan(8);
      expect(counts.length).toBe(shards);
      cases += 1;
    }
    expect(cases).toBe(8);
  });

  test('equal hints share a shard; a number and its text need not', async () => {
    await using scheduler = createScheduler({ shards: 2, capacity: 64 });
    for (const hint of [0, -0, 1, 1.5, -1, 2 ** 53, 1e300, '', 'a', '1']) {
      expect(scheduler.shardOf(hint)).toBe(scheduler.shardOf(hint));
      expect(scheduler.shardOf(hint)).toBe(placementOf(hint, 2));
    }
    expect(scheduler.shardOf(0)).toBe(scheduler.shardOf(-0));
  });

  test('one shard, or none, holds everything', async () => {
    for (const shards of [0, 1]) {
      await using scheduler = createScheduler({ shards, capacity: 64 });
      for (const hint of [0, 7, 'a', 1e300]) expect(scheduler.shardOf(hint)).toBe(0);
    }
  });
});
