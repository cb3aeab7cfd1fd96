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
const plain = (extra: { levelBits?: number[]; start?: number; overflow?: 'list' | 'throw'; reserve?: number } = {}) =>
  new CascadingIndex({ levelBits: [8, 8, 8, 8], capacity: 1 << 20, ...extra });

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

  test('a slot taken out is not handed over, and can be filed anew', () => {
    const index = plain();
    const draws = new Draws(7);
    const ticks = new Map<number, number>();
    for (let round = 0; round < 60_000; round++) {
      const slot = draws.below(2000);
      expect(index.remove(slot)).toBe(ticks.delete(slot));
      expect(index.has(slot)).toBe(false);
      if (draws.below(8) > 0) {
        const tick = index.now + 1 + draws.below(100_000);
        index.insert(slot, tick);
        ticks.set(slot, tick);
        expect(index.tickOf(slot)).toBe(tick);
      }
      if (round % 50 === 0) {
        const now = index.now + draws.below(40);
        const seen = new Recorder();
        expect(index.advanceTo(now, seen, unlimited)).toBe(true);
        seen.slots.forEach((due, at) => {
          expect(ticks.get(due)).toBe(seen.ticks[at]);
          ticks.delete(due);
        });
        expect(Math.min(...ticks.values())).toBeGreaterThan(now);
        expect(index.nextTick()).toBe(Math.min(...ticks.values()));
      }
      expect(index.size).toBe(ticks.size);
    }
  });

  test('a budget of one stops after each slot and goes on exactly there', () => {
    const index = plain();
    for (let slot = 0; slot < 500; slot++) index.insert(slot, 1000 + (slot % 3) * 70_000);
    const seen = new Recorder();
    let calls = 1;
    while (!index.advanceTo(200_000, seen, 1)) calls++;
    expect(calls).toBe(500);
    expect(index.now).toBe(200_000);
    expect(seen.ticks).toEqual([...seen.ticks].sort((a, b) => a - b));
    expect(new Set(seen.slots).size).toBe(500);
  });

  test('a budget that just suffices leaves nothing due', () => {
    const index = plain();
    index.insert(1, 300);
    index.insert(2, 300);
    expect(index.advanceTo(400, new Recorder(), 2)).toBe(true);
    expect(index.now).toBe(400);
  });

  test('far ticks wait over several blocks of 2^32', () => {
    const index = plain({ levelBits: [8, 8] });
    const far = 5 * 2 ** 32 + 77;
    index.insert(1, far);
    index.insert(2, 3);
    index.insert(3, far);
    expect(index.tickOf(1)).toBe(far);
    const seen = new Recorder();
    index.advanceTo(far - 1, seen, unlimited);
    expect(seen.slots).toEqual([2]);
    expect(index.nextTick()).toBe(far);
    index.advanceTo(far, seen, unlimited);
    expect(seen.slots).toEqual([2, 1, 3]);
  });

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

  test('a sink may not advance, and what it was called for goes on afterwards', () => {
    const index = plain();
    index.insert(1, 5);
    index.insert(2, 5);
    const nested = { due: () => void index.advanceTo(9, new Recorder(), unlimited) };
    expect(() => index.advanceTo(9, nested, unlimited)).toThrow('from within a handler');
    const seen = new Recorder();
    expect(index.advanceTo(9, seen, unlimited)).toBe(true);
    expect([seen.slots, index.now, index.size]).toEqual([[2], 9, 0]);
  });

  test('what a sink files after clearing the index is not taken for the rest of the slot', () => {
    const index = plain();
    for (let slot = 0; slot < 10; slot++) index.insert(slot, 5);
    const seen: number[] = [];
    const sink = {
      due(slot: number): void {
        seen.push(slot);
        index.clear();
        for (let later = 20; later < 30; later++) index.insert(later, 100);
      },
    };
    expect(index.advanceTo(10, sink, unlimited)).toBe(true);
    expect([seen, index.size, index.nextTick()]).toEqual([[0], 10, 100]);
  });
});
