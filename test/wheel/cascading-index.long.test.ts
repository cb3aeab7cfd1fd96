import { describe, expect, test } from 'vitest';
import { CascadingIndex } from '../../src/wheel/cascading/cascading-index.ts';
import { Draws } from '../fixtures/draws.ts';

/** A sink that keeps what it is handed. */
class Recorder {
  readonly slots: number[] = [];
  readonly ticks: number[] = [];
  due(slot: number, tick: number): void {
    this.slots.push(slot);
    this.ticks.push(tick);
  }
}

const unlimited = Number.POSITIVE_INFINITY;
const plain = ({ levelBits = [8, 8, 8, 8], start = 0 } = {}) =>
  new CascadingIndex({ levelBits, start, capacity: 4096 });

describe('CascadingIndex', () => {
  test.each([[[8, 8, 8, 8]], [[6, 6, 6, 6, 6]], [[10, 10]], [[11, 10, 10, 10, 10, 2]], [[1, 1, 1]]])(
    'hands every slot over once, at its tick and in the order filed: levels %j',
    (levelBits) => {
      for (const start of [0, 2 ** 31 - 5000, 2 ** 32 - 5000, 2 ** 36 - 5000, 2 ** 52]) {
        const index = plain({ levelBits, start });
        const draws = new Draws(42);
        const expected: { slot: number; tick: number }[] = [];
        for (let slot = 0; slot < 3000; slot++) {
          const tick = start + 1 + draws.below(slot % 3 === 0 ? 50 : 30_000);
          index.insert(slot, tick);
          expected.push({ slot, tick });
        }
        expected.sort((a, b) => a.tick - b.tick || a.slot - b.slot);
        const seen = new Recorder();
        for (let now = start; index.size > 0; now += 1 + draws.below(700)) {
          const least = index.nextTick();
          expect(least).toBe(expected[seen.slots.length].tick);
          expect(index.nextEvent()).toBeLessThanOrEqual(least);
          index.advanceTo(now, seen, unlimited);
        }
        expect(seen.slots).toEqual(expected.map((entry) => entry.slot));
        expect(seen.ticks).toEqual(expected.map((entry) => entry.tick));
      }
    },
  );

  test('a sink may file, take out, throw and clear', () => {
    const index = plain();
    for (let slot = 0; slot < 200; slot++) index.insert(slot, 5);
    const seen: number[] = [];
    const sink = {
      due(slot: number, tick: number): void {
        seen.push(slot, tick);
        if (slot === 0 && tick === 5) {
          index.insert(0, 5);
          expect(index.tickOf(0)).toBe(6);
          for (let other = 2; other < 199; other++) expect(index.remove(other)).toBe(true);
        }
        if (slot === 1) throw new Error('from the sink');
        if (slot === 199) index.insert(1, 7);
      },
    };
    expect(() => index.advanceTo(10, sink, unlimited)).toThrow('from the sink');
    expect(index.nextTick()).toBe(5);
    expect(() => index.advanceTo(10, sink, unlimited)).toThrow('from the sink');
    expect(seen).toEqual([0, 5, 1, 5, 199, 5, 0, 6, 1, 7]);
    expect(index.size).toBe(0);
    index.insert(1, 9);
    index.insert(2, 9);
    expect(index.advanceTo(10, { due: () => index.clear() }, unlimited)).toBe(true);
    expect(index.size).toBe(0);
  });
});
