import { expect, test } from 'vitest';
import { CascadingIndex } from '../../src/wheel/cascading/cascading-index.ts';

test('a sink may file, take out, throw and clear', () => {
  const index = new CascadingIndex({ levelBits: [8, 8, 8, 8], capacity: 256 });
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
  expect(() => index.advanceTo(10, sink, Number.POSITIVE_INFINITY)).toThrow('from the sink');
  expect(index.nextTick()).toBe(5);
  expect(() => index.advanceTo(10, sink, Number.POSITIVE_INFINITY)).toThrow('from the sink');
  expect(seen).toEqual([0, 5, 1, 5, 199, 5, 0, 6, 1, 7]);
  expect(index.size).toBe(0);
  index.insert(1, 9);
  index.insert(2, 9);
  expect(index.advanceTo(10, { due: () => index.clear() }, Number.POSITIVE_INFINITY)).toBe(true);
  expect(index.size).toBe(0);
});

test('a sink may not advance, and what it was called for goes on afterwards', () => {
  const index = new CascadingIndex({ levelBits: [8, 8, 8, 8], capacity: 256 });
  for (const slot of [1, 2]) index.insert(slot, 5);
  const seen: number[] = [];
  const advance = (due: (slot: number) => void) => index.advanceTo(9, { due }, Number.POSITIVE_INFINITY);
  expect(() => advance(() => void advance((slot) => seen.push(slot)))).toThrow('from within a handler');
  expect(advance((slot) => seen.push(slot))).toBe(true);
  expect([seen, index.now, index.size]).toEqual([[2], 9, 0]);
});
