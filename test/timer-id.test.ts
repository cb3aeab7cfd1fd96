import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeTimerId,
  encodeTimerId,
  firstGeneration,
  MAX_SLOT_BITS,
  TIMER_ID_BITS,
  type TimerIdLayout,
  timerIdLayout,
} from '../src/timer-id.ts';

const shardCounts = fc.integer({ min: 0, max: 1024 });
const capacities = fc.integer({ min: 1, max: 2 ** MAX_SLOT_BITS });

/** Parts that fit a layout, its corners included. */
const partsOf = (layout: TimerIdLayout) =>
  fc.record({
    shard: fc.integer({ min: 0, max: 2 ** layout.shardBits - 1 }),
    generation: fc.integer({ min: 0, max: 2 ** layout.generationBits - 1 }),
    slot: fc.integer({ min: 0, max: 2 ** layout.slotBits - 1 }),
  });

const layoutsAndParts = fc
  .tuple(shardCounts, capacities)
  .map(([shards, capacity]) => timerIdLayout(shards, capacity))
  .chain((layout) => fc.tuple(fc.constant(layout), partsOf(layout), partsOf(layout)));

describe('timer ids', () => {
  test('widths sum to 53 bits and hold every shard and slot, with none to spare', () => {
    fc.assert(
      fc.property(shardCounts, capacities, (shards, capacity) => {
        const { shardBits, generationBits, slotBits } = timerIdLayout(shards, capacity);
        expect(shardBits + generationBits + slotBits).toBe(TIMER_ID_BITS);
        expect(2 ** shardBits).toBeGreaterThanOrEqual(shards);
        expect(2 ** slotBits).toBeGreaterThanOrEqual(capacity);
        if (shardBits > 0) expect(2 ** (shardBits - 1)).toBeLessThan(shards);
        if (slotBits > 0) expect(2 ** (slotBits - 1)).toBeLessThan(capacity);
      }),
    );
  });

  test('every id is a safe integer that decodes to its parts; ids are ordered by shard, generation, slot', () => {
    fc.assert(
      fc.property(layoutsAndParts, ([layout, one, other]) => {
        const [id, second] = [encodeTimerId(one, layout), encodeTimerId(other, layout)];
        expect([Number.isSafeInteger(id), decodeTimerId(id, layout)]).toEqual([true, one]);
        const order =
          Math.sign(one.shard - other.shard) ||
          Math.sign(one.generation - other.generation) ||
          Math.sign(one.slot - other.slot);
        expect(Math.sign(id - second)).toBe(order);
      }),
      { numRuns: 2000 },
    );
  });

  test("the ids of a scheduler's clients begin as far apart as there is room, whichever have come before", () => {
    fc.assert(
      fc.property(
        shardCounts,
        capacities,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (shards, capacity, start) => {
          const layout = timerIdLayout(shards, capacity);
          const all = 2 ** Math.min(47, layout.generationBits);
          const firsts = Array.from({ length: 1024 }, (_, serial) => firstGeneration(start, serial, layout));
          firsts.sort((one, other) => one - other);
          const gaps = firsts.map((first, i) => (i === 0 ? first + all - firsts[1023] : first - firsts[i - 1]));
          expect(Math.min(...gaps)).toBeGreaterThanOrEqual(all / 1024 - 1);
          expect(firsts.every((first) => Number.isInteger(first) && first >= 0 && first < all)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('every safe integer >= 0 is an id of every layout, 2^53 - 1 its last', () => {
    fc.assert(
      fc.property(shardCounts, capacities, fc.maxSafeNat(), (shards, capacity, id) => {
        const layout = timerIdLayout(shards, capacity);
        expect(encodeTimerId(decodeTimerId(id, layout), layout)).toBe(id);
        const { shardBits, generationBits, slotBits } = layout;
        const last = { shard: 2 ** shardBits - 1, generation: 2 ** generationBits - 1, slot: 2 ** slotBits - 1 };
        expect(encodeTimerId(last, layout)).toBe(Number.MAX_SAFE_INTEGER);
      }),
      { numRuns: 2000 },
    );
  });
});
