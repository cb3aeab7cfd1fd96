import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Calendar } from '../../tools/replay/calendar.ts';
import { ConnectionTable, PENDING } from '../../tools/replay/connection-table.ts';

test('every record comes out once, in its own millisecond, however far beyond the ring it lies', () => {
  const delay = fc.oneof(
    fc.integer({ min: -2, max: 40 }),
    fc.constantFrom(65_534, 65_535, 65_536, 65_537, 131_072, 200_001),
  );
  fc.assert(
    fc.property(fc.array(delay, { maxLength: 30 }), fc.integer({ min: 0, max: 70_000 }), (delays, start) => {
      const table = new ConnectionTable(30);
      const calendar = new Calendar(table.words);
      calendar.cursor = start;
      const expected: string[] = [];
      for (const ms of delays) {
        const base = table.open();
        calendar.put(base, start + ms);
        expect(table.words[base + PENDING]).toBe(1);
        expected.push(`${base} at ${start + Math.max(1, ms)}`);
      }
      const taken: string[] = [];
      for (const end = start + Math.max(1, ...delays); calendar.cursor <= end; calendar.cursor++) {
        for (let base = calendar.take(); base >= 0; base = calendar.take()) taken.push(`${base} at ${calendar.cursor}`);
      }
      expect(taken.sort()).toEqual(expected.sort());
    }),
    { numRuns: 40 },
  );
});

test('a table hands out a released record before a fresh one, and says when it is full', () => {
  const table = new ConnectionTable(2);
  const [first, second] = [table.open(), table.open()];
  expect(new Set([first, second]).size).toBe(2);
  expect(table.open()).toBe(-1);
  table.release(first);
  expect(table.open()).toBe(first);
});
