import { expect, test } from 'vitest';
import { CascadingWheel } from '../../src/extras/wheels/cascading-wheel.ts';
import { checkInvariants } from '../../src/extras/wheels/check-invariants.ts';
import { MonotoneQueue } from '../../src/extras/wheels/monotone-queue.ts';
import { Draws } from '../fixtures/draws.ts';

const BITS = 6;
const KEYS = 2 ** BITS;

/** Every way to cut `bits` into levels. */
function compositions(bits: number): number[][] {
  if (bits === 0) return [[]];
  return Array.from({ length: bits }, (_, i) => i + 1).flatMap((first) =>
    compositions(bits - first).map((rest) => [first, ...rest]),
  );
}

test('every small world: all ways to cut 6 bits into levels x all steps x starts at zero and just below the largest key', () => {
  let worlds = 0;
  for (const levelBits of compositions(BITS)) {
    for (let step = 1; step <= KEYS; step++) {
      for (const from of [0, new MonotoneQueue(levelBits).maxRepresentableKey - 2 * KEYS]) {
        worlds++;
        const queue = new MonotoneQueue<number>(levelBits);
        queue.increaseMinAllowedKey(from, () => expect.unreachable());
        expect(queue.maxAllowedKey).toBe(from + KEYS - 1);
        // Two elements of each key; one of each third is taken out again.
        const elements = Array.from({ length: 2 * KEYS }, (_, i) => queue.add(from + (i % KEYS), i));
        const gone = elements.filter((element, i) => i % 3 === 0 && queue.remove(element));
        const expected = elements
          .filter((element) => !gone.includes(element))
          .sort((a, b) => a.key - b.key || a.value - b.value);
        const removed: number[] = [];
        for (let key = from; queue.size > 0; key += step) {
          const least = queue.minKey() as number;
          expect(least).toBe(expected[removed.length].key);
          queue.increaseMinAllowedKey(key + step, (element) => {
            expect(element.key).toBeLessThan(key + step);
            expect(element.key).toBeGreaterThanOrEqual(key);
            removed.push(element.value);
          });
          expect(queue.minAllowedKey).toBe(key + step);
        }
        expect(removed).toEqual(expected.map((element) => element.value));
      }
    }
  }
  expect(worlds).toBe(32 * 64 * 2);
});

test.each([2 ** 31, 2 ** 32, 2 ** 36, 2 ** 52, Number.MAX_SAFE_INTEGER - 5000])(
  'crossing %d with a far timer waiting all the while',
  (boundary) => {
    for (const levelBits of [[8, 8, 8, 8], [11, 10, 10, 10, 10, 2], [6, 6, 6, 6, 6], [3]]) {
      const start = boundary - 600;
      const wheel = new CascadingWheel<number>({ engine: 'cascading', precision: 1, levelBits });
      wheel.advanceTo(start, () => {});
      const far = Math.min(boundary + 2 ** 33 + 77, Number.MAX_SAFE_INTEGER - 3);
      const id = wheel.schedule(far, -1);
      for (let i = 1; i <= 1200; i += 3) wheel.schedule(start + i, start + i);
      let fired = 0;
      for (let now = start; now < start + 1200; now += 1 + (now % 50)) {
        wheel.advanceTo(now, (deadline) => {
          fired++;
          expect(deadline).toBe(wheel.now);
        });
        expect(wheel.deadlineOf(id)).toBe(far);
      }
      wheel.advanceTo(start + 1300, () => fired++);
      expect(fired).toBe(400);
      checkInvariants(wheel.snapshot());
      expect(wheel.nextExpiration()).toBe(far);
      expect(wheel.advanceTo(far - 1, () => {}).fired).toBe(0);
      expect(wheel.advanceTo(far, () => {}).fired).toBe(1);
    }
  },
);

test('1,000,000 timers over 60 s fire exactly once, and memory stays bounded while most are cancelled', () => {
  const wheel = new CascadingWheel<number>({ engine: 'cascading', precision: 1, levelBits: [8, 8, 8, 8] });
  const count = 1_000_000;
  const fired = new Uint8Array(count);
  const draws = new Draws(42);
  const ids = Array.from({ length: count }, (_, i) => wheel.schedule(1 + draws.below(60_000), i));
  expect(wheel.memoryStats().bytes / count).toBeLessThan(64);
  for (let round = 0; round < 2_000_000; round++) {
    const victim = draws.below(count);
    if (!wheel.cancel(ids[victim])) expect.unreachable();
    ids[victim] = wheel.schedule(1 + draws.below(60_000), victim);
  }
  expect(wheel.memoryStats().bytes / count).toBeLessThan(100);
  for (let now = 0; now <= 60_000; now += 250) wheel.advanceTo(now, (value) => fired[value]++);
  expect(wheel.size).toBe(0);
  expect(fired.every((times) => times === 1)).toBe(true);
});
