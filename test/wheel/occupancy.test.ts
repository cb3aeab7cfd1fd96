import { describe, expect, test } from 'vitest';
import { countOnes, levelOccupancy, lowestOne, Occupancy } from '../../src/wheel/occupancy.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const ones = (word: number): number[] =>
  Array.from({ length: 32 }, (_, bit) => bit).filter((bit) => (word >>> bit) & 1);

test(`of a word the ones are counted and the lowest is found, beside a look at each bit (seed ${SEED})`, () => {
  const draws = new Draws(SEED);
  const single = Array.from({ length: 32 }, (_, bit) => 1 << bit);
  const random = Array.from({ length: 2000 }, () => draws.below(2 ** 32) | 0);
  const words = [...single, ...single.map((word) => ~word), ...single.map((word) => -word), -1, ...random];
  const wrong = words.filter(
    (word) => countOnes(word) !== ones(word).length || (word !== 0 && lowestOne(word) !== ones(word)[0]),
  );
  expect([countOnes(0), wrong, words.length]).toEqual([0, [], 2097]);
});

describe('which slots are occupied', () => {
  const SLOTS = 100;

  test(`is as in a set, and the next one is found from any slot (seed ${SEED})`, () => {
    const draws = new Draws(SEED);
    const occupancy = new Occupancy(SLOTS);
    const model = new Set<number>();
    for (let step = 0; step < 400; step++) {
      const slot = draws.below(SLOTS);
      if (draws.below(2) === 0) {
        occupancy.set(slot);
        model.add(slot);
      } else {
        occupancy.unset(slot);
        model.delete(slot);
      }
      if (step % 100 === 50) {
        occupancy.clear();
        model.clear();
      }
      for (let at = 0; at < SLOTS; at++) {
        const next = [...model].filter((each) => each >= at).sort((a, b) => a - b);
        expect([occupancy.has(at), occupancy.next(at, SLOTS)]).toEqual([model.has(at), next[0] ?? -1]);
      }
    }
  });

  test('takes a bit each, in whole words', () => {
    expect([1, 32, 33, 100].map((slots) => new Occupancy(slots).bytes)).toEqual([4, 4, 8, 16]);
  });

  test('ends with its level: what is beyond is not found', () => {
    const occupancy = new Occupancy(128);
    occupancy.set(64);
    expect([occupancy.next(0, 64), occupancy.next(0, 65), occupancy.next(65, 128)]).toEqual([-1, 64, -1]);
  });
});

describe('how full a level is', () => {
  /**
   * Of the slots `occupied`, counted from the level's first one, each with one entry more than its place among them.
   */
  const levelOf = (slots: number, base: number, occupied: readonly number[], now = 0, width = 1) => {
    const occupancy = new Occupancy(base + slots + 32);
    for (const slot of occupied) occupancy.set(base + slot);
    if (base > 0) occupancy.set(base - 1); // of the level before
    occupancy.set(base + slots); // of the next one
    return levelOccupancy(occupancy, { base, slots, width, now }, (slot) => 1 + occupied.indexOf(slot - base));
  };

  test.each([
    ['none of 64', 64, 0, []],
    ['the first and the last of 64', 64, 0, [0, 63]],
    ['the first and the last of 64, behind another level', 64, 64, [0, 63]],
    ['some of 256, behind another level', 256, 32, [0, 1, 31, 32, 100, 254, 255]],
    ['all of 32', 32, 32, Array.from({ length: 32 }, (_, slot) => slot)],
  ])('%s: an arc for each slot', (_, slots, base, occupied) => {
    const level = levelOf(slots, base, occupied);
    const arcs = new Int32Array(slots);
    for (const [at, slot] of occupied.entries()) arcs[slot] = at + 1;
    expect(level).toEqual({ width: 1, slots, hand: 0, occupied: occupied.length, entries: sumOf(arcs), arcs });
  });

  test('of more than 256 slots several share an arc', () => {
    const { arcs, entries, occupied } = levelOf(1024, 64, [0, 3, 4, 1019, 1020, 1023]);
    expect([arcs.length, occupied, entries]).toEqual([256, 6, 21]);
    expect([arcs[0], arcs[1], arcs[254], arcs[255], sumOf(arcs)]).toEqual([1 + 2, 3, 4, 5 + 6, 21]);
  });

  test.each([
    [0, 1, 0],
    [63, 1, 63],
    [64, 1, 0],
    [1000, 256, 3],
    [256 * 65 + 255, 256, 1],
  ])('at tick %i, of slots of %i ticks, the hand is on slot %i', (now, width, hand) => {
    expect(levelOf(64, 0, [], now, width).hand).toBe(hand);
  });
});

const sumOf = (arcs: Int32Array): number => arcs.reduce((sum, entries) => sum + entries, 0);
