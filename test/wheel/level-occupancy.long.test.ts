import { describe, expect, test } from 'vitest';
import { CascadingIndex } from '../../src/wheel/cascading/cascading-index.ts';
import { PinnedIndex } from '../../src/wheel/pinned/pinned-index.ts';
import type { LevelOccupancy } from '../../src/wheel/tick-index.ts';
import type { WheelIndex } from '../../src/wheel/wheel-index.ts';
import type { IndexSnapshot } from '../../src/wheel/wheel-snapshot.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const CAPACITY = 20_000;
const ENTRIES_PER_CHUNK = 63;

const indexes: Record<string, (() => WheelIndex) | undefined> = {
  'cascading, 4 x 256': () => new CascadingIndex({ levelBits: [8, 8, 8, 8], capacity: CAPACITY }),
  'cascading, 2 x 8 and 4096': () => new CascadingIndex({ levelBits: [3, 3, 12], capacity: CAPACITY }),
  'cascading, one level of a slot': () => new CascadingIndex({ levelBits: [1], capacity: CAPACITY }),
  pinned: () =>
    new PinnedIndex({
      levels: [
        { width: 1, spokes: 1024 },
        { width: 100, spokes: 32 },
        { width: 1600, spokes: 512 },
      ],
      capacity: CAPACITY,
    }),
};

interface Plan {
  /** Of 10 moves, how many take an entry out. Those that are left move entries then, too. */
  readonly removes: number;
}

/**
 * Plays moves at random, some of them on few slots of the wheel, and looks after each of some, with the move by which
 * each slot was filed. Returns how often.
 */
function play(index: WheelIndex, { removes }: Plan, look: (index: WheelIndex, filedBy: Int32Array) => void): number {
  const draws = new Draws(SEED);
  const { upperBound } = index;
  const filedBy = new Int32Array(CAPACITY);
  let looks = 0;
  for (let move = 1; move <= 30_000; move++) {
    const phase = Math.floor(move / 5000) % 3; // few entries that move on and on, crowded slots, all slots
    const slot = draws.below(phase === 0 ? 100 : CAPACITY);
    const isRemove = draws.below(10) < removes;
    if (removes > 0) index.remove(slot);
    const spread = phase !== 2 ? 5 : draws.pick([50, 5000, 500_000]);
    if (!isRemove && !index.has(slot)) {
      index.insert(slot, index.now + 1 + draws.below(Math.min(spread, upperBound - 2)));
      filedBy[slot] = move;
    }
    if (move % 500 === 0) {
      const by = phase === 0 ? 0 : draws.below(20);
      index.advanceTo(index.now + by, { due: () => undefined }, draws.pick([100, 150, 1e9]));
      looks += 1;
      look(index, filedBy);
    }
  }
  return looks;
}

/** Which slots hold what, by the lists themselves. */
const dumb = ({ levels }: IndexSnapshot) =>
  levels.map(({ width, slots, occupied, lists }) => ({
    width,
    slots,
    occupied: occupied.length,
    live: lists.map(({ index, entries }) => [index, entries.length] as const),
    room: lists.map(({ index, capacity }) => [index, capacity] as const),
  }));

const handOf = (now: number, { width, slots }: LevelOccupancy): number =>
  Number((BigInt(now) / BigInt(width)) % BigInt(slots));

const arcOf = ({ slots, arcs }: LevelOccupancy, slot: number): number => Math.floor(slot / (slots / arcs.length));

function arcsBy(level: LevelOccupancy, slots: readonly (readonly [slot: number, entries: number])[]): number[] {
  const arcs = new Array<number>(level.arcs.length).fill(0);
  for (const [slot, entries] of slots) arcs[arcOf(level, slot)] += entries;
  return arcs;
}

describe.each(Object.entries(indexes))('what an index tells of itself, %s', (name, make) => {
  test(`levels() counts each slot's entries where none is taken out, seed ${SEED}`, () => {
    const looks = play(make!(), { removes: 0 }, (index) => {
      const found = dumb(index.inspect());
      for (const [number, level] of index.levels().entries()) {
        const { live, room, ...shape } = found[number];
        expect(level).toMatchObject({ ...shape, hand: handOf(index.now, level) });
        expect(level.arcs.length).toBeLessThanOrEqual(256);
        const whole = arcsBy(level, live);
        // What is handed over while a slot is being read is counted until its chunk has been read to the end.
        const half = arcsBy(level, room);
        for (const [arc, entries] of level.arcs.entries()) {
          if (entries === whole[arc]) continue;
          expect([name, number, arc, index.nextEvent() <= index.now]).toEqual([name, 0, arc, true]);
          expect(entries).toBeGreaterThan(whole[arc]);
          expect(entries).toBeLessThanOrEqual(half[arc]);
        }
        expect(level.entries).toBe(level.arcs.reduce((sum, entries) => sum + entries, 0));
      }
    });
    expect(looks).toBe(60);
  });

  test(`levels() counts no fewer than there are, and no more than there is room for, where entries are taken out, seed ${SEED}`, () => {
    play(make!(), { removes: 4 }, (index) => {
      const found = dumb(index.inspect());
      for (const [number, level] of index.levels().entries()) {
        const { live, room } = found[number];
        expect(level.occupied).toBe(found[number].occupied);
        const [least, most] = [arcsBy(level, live), arcsBy(level, room)];
        const lists = arcsBy(
          level,
          room.map(([slot]) => [slot, 1]),
        );
        for (const [arc, entries] of level.arcs.entries()) {
          if (name === 'pinned') expect(entries).toBe(least[arc]);
          expect(entries).toBeGreaterThanOrEqual(least[arc]);
          expect(entries).toBeLessThanOrEqual(most[arc]);
          if (name !== 'pinned' && lists[arc] > 0)
            expect(entries).toBeGreaterThan(most[arc] - lists[arc] * ENTRIES_PER_CHUNK);
        }
      }
    });
  });

  test('levels() is empty after clear()', () => {
    const index = make!();
    play(index, { removes: 1 }, () => undefined);
    index.clear();
    const sums = index.levels().map(({ occupied, entries, arcs }) => [occupied, entries, Math.max(...arcs)]);
    expect(sums).toEqual(sums.map(() => [0, 0, 0]));
  });

  test(`forEach() visits those of one tick in the order filed, seed ${SEED}`, () => {
    let pairs = 0;
    play(make!(), { removes: 1 }, (index, filedBy) => {
      const latest = new Map<number, number>();
      index.forEach((slot) => {
        const tick = index.tickOf(slot);
        const before = latest.get(tick) ?? 0;
        if (filedBy[slot] < before) throw new Error(`of tick ${tick}, move ${filedBy[slot]} comes after ${before}`);
        if (before > 0) pairs += 1;
        latest.set(tick, filedBy[slot]);
      });
    });
    expect(pairs).toBeGreaterThan(10_000);
  });
});
