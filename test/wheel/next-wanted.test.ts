import { afterEach, describe, expect, test, vi } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import { CascadingIndex } from '../../src/wheel/cascading/cascading-index.ts';
import { PinnedIndex } from '../../src/wheel/pinned/pinned-index.ts';
import type { WheelIndex } from '../../src/wheel/wheel-index.ts';
import { isExhaustive } from '../fixtures/depth.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { refuseArrays } from '../fixtures/refused-arrays.ts';

const WORLDS = isExhaustive ? 4000 : 150;
const STEPS = 300;
const CAPACITY = 96;
/** Chunks of a cascading wheel's list, and entries of a spoke, that are looked through. */
const SHORT = 8;

type Kind = (capacity: number, start: number) => WheelIndex;

const cascading =
  (...levelBits: number[]): Kind =>
  (capacity, start) =>
    new CascadingIndex({ levelBits, capacity, start });

const pinned =
  (...levels: { width: number; spokes: number }[]): Kind =>
  (capacity, start) =>
    new PinnedIndex({ levels, capacity, start });

const kinds: { name: string; make: Kind; start: number; far: number }[] = [
  { name: 'levels of one bit', make: cascading(1, 1, 1), start: 0, far: 40 },
  { name: 'levels of two bits, beyond the first words', make: cascading(2, 2, 2), start: 2 ** 32 - 40, far: 200 },
  { name: 'levels of six bits', make: cascading(6, 6, 6), start: 0, far: 5000 },
  { name: 'ticks far ahead, on levels', make: cascading(...new Array(18).fill(2)), start: 5, far: 2 ** 34 },
  { name: 'ticks far ahead, beyond the levels', make: cascading(3, 3), start: 5, far: 2 ** 34 },
  { name: 'two spokes', make: pinned({ width: 1, spokes: 2 }), start: 0, far: 300 },
  { name: 'spokes of two widths', make: pinned({ width: 1, spokes: 4 }, { width: 4, spokes: 8 }), start: 3, far: 300 },
];

afterEach(() => vi.unstubAllGlobals());

/** Asks again while memory is refused: what took long to refuse is, for some ms more. */
function patiently<T>(call: () => T): T {
  for (;;) {
    try {
      return call();
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
    }
  }
}

/** An index, its owner, and what a sorted list says of both. */
class Owned {
  readonly index: WheelIndex;
  /**
   * By live slot: when it is due, and the number of its filing; NaN if it may stand anywhere: moved, or filed beyond
   * the range.
   */
  readonly live = new Map<number, { due: number; filing: number }>();
  delivered = 0;
  private filings = 0;
  private last = { tick: -1, filing: -1 };

  constructor(make: Kind, start: number) {
    this.index = make(CAPACITY, start);
  }

  /** What a shard's lane says. */
  wantedAt(slot: number, tick: number): number {
    const timer = this.live.get(slot);
    return timer === undefined ? -1 : Math.max(tick, timer.due);
  }

  due(slot: number, tick: number): void {
    const timer = this.live.get(slot);
    if (timer === undefined) return;
    if (timer.due > tick) {
      this.file(slot, timer.due);
      return;
    }
    if (this.isExact && timer.due !== tick) throw new Error(`${slot} is handed over at ${tick}, due at ${timer.due}`);
    const { last } = this;
    if (tick < last.tick) throw new Error(`${slot} of tick ${tick} after one of ${last.tick}`);
    const isLast = tick === last.tick && !Number.isNaN(timer.filing);
    if (isLast && timer.filing < last.filing) throw new Error(`${slot} before one that was filed earlier`);
    this.last = { tick, filing: isLast || tick > last.tick ? timer.filing : last.filing };
    this.live.delete(slot);
    this.delivered += 1;
  }

  start(slot: number, tick: number): void {
    this.index.remove(slot); // the entry of an earlier timer
    const isInRange = tick < this.index.upperBound;
    this.live.set(slot, { due: Math.max(tick, this.index.now + 1), filing: isInRange ? this.filings : Number.NaN });
    this.filings += 1;
    this.file(slot, tick);
  }

  /** To later, the index is told nothing. */
  move(slot: number, tick: number): void {
    const timer = this.live.get(slot);
    if (timer === undefined) throw new Error(`${slot} is not live`);
    const due = Math.max(tick, this.index.now + 1);
    const isEarlier = due < timer.due;
    this.live.set(slot, { due, filing: Number.NaN });
    if (!isEarlier) return;
    this.index.remove(slot);
    this.file(slot, due);
  }

  /** Throws unless the answer is right. Returns whether it had to be exact. */
  look(): boolean {
    const { index, live } = this;
    const before = { size: index.size, dropped: index.dropped, refiled: index.refiled, ticks: this.ticks() };
    const next = index.nextWanted(this);
    if (index.dropped - before.dropped !== before.size - index.size) throw new Error('dropped, and not counted');
    const ticks = this.ticks();
    const moved = before.ticks.filter((tick, slot) => index.has(slot) && ticks[slot] !== tick).length;
    if (index.refiled - before.refiled !== moved) throw new Error(`${moved} are refiled, and others are counted`);
    let least = Number.POSITIVE_INFINITY;
    for (const [slot, { due }] of live) {
      if (!index.has(slot)) throw new Error(`${slot} is filed no more`);
      if (this.isExact) least = Math.min(least, due);
    }
    if (!this.isExact) least = this.leastSpoke();
    if (next > least) throw new Error(`next is ${next}, after ${least}`);
    let filed = 0;
    for (let slot = 0; slot < CAPACITY; slot++) if (index.has(slot)) filed += 1;
    if (filed !== index.size) throw new Error(`size is ${index.size}, of ${filed}`);
    const isShort = !(index instanceof CascadingIndex) || index.chunkCounts.every((chunks) => chunks <= SHORT);
    if (isShort && next !== least) throw new Error(`next is ${next}, before ${least}`);
    return isShort && live.size > 0;
  }

  /** By slot, of those that are filed. */
  private ticks(): (number | undefined)[] {
    return Array.from({ length: CAPACITY }, (_, slot) => (this.index.has(slot) ? this.index.tickOf(slot) : undefined));
  }

  get isExact(): boolean {
    return this.index.keepsDueTicks;
  }

  /** When a pinned wheel hands over the next that cannot wait longer. */
  private leastSpoke(): number {
    const { index } = this;
    let least = Number.POSITIVE_INFINITY;
    for (const { width, lists } of index.inspect().levels) {
      for (const { slot, tick } of lists.flatMap(({ entries }) => entries)) {
        const wanted = Math.min(this.wantedAt(slot, tick), index.upperBound - 1);
        if (this.live.has(slot) && wanted <= tick) least = Math.min(least, Math.ceil(tick / width) * width);
      }
    }
    return least;
  }

  private file(slot: number, tick: number): void {
    this.index.insert(slot, Math.min(tick, this.index.upperBound - 1));
  }
}

describe('nextWanted', () => {
  test.each(kinds)(`does what a sorted list does, $name, seed ${SEED}`, ({ make, start, far }) => {
    const draws = new Draws(SEED);
    let [delivered, exact, suspended] = [0, 0, 0];
    for (let number = 0; number < WORLDS; number++) {
      const world = new Owned(make, start);
      const { index, live } = world;
      const reach = draws.pick([4, 30, far]);
      const tick = () => index.now + draws.below(reach);
      const isAsked = draws.below(4) > 0;
      try {
        for (let step = 0; step < STEPS; step++) {
          const drawn = draws.below(100);
          const slot = draws.below(CAPACITY);
          if (drawn < 40) {
            if (!live.has(slot)) world.start(slot, tick());
          } else if (drawn < 60) live.delete(slot);
          else if (drawn < 80) {
            if (live.has(slot)) world.move(slot, tick());
          } else if (drawn < 92) {
            const to = index.now + draws.below(draws.pick([3, reach]));
            if (!index.advanceTo(to, world, draws.pick([1, 2, 5, Number.POSITIVE_INFINITY]))) suspended += 1;
            else
              for (const { due } of live.values())
                if (world.isExact && due <= to) throw new Error(`${due} is left at ${to}`);
          } else if (isAsked && world.look()) exact += 1;
        }
        for (let left = 3000; live.size > 0; left--) {
          if (left === 0) throw new Error(`${live.size} are left`);
          world.look();
          index.advanceTo(Math.max(index.nextWanted(world), index.now), world, 3);
        }
        expect([world.look(), index.nextWanted(world), index.size]).toEqual([false, Number.POSITIVE_INFINITY, 0]);
      } catch (error) {
        throw new Error(`world ${number}: ${(error as Error).message}`, { cause: error });
      }
      delivered += world.delivered;
    }
    expect(delivered).toBeGreaterThan(WORLDS * 20);
    expect(exact).toBeGreaterThan(WORLDS);
    expect(suspended).toBeGreaterThan(WORLDS);
  });

  test.each(kinds)(
    'with too many entries to look through, is no later than the first of them: $name',
    ({ make, start }) => {
      const index = make(5000, start);
      const tick = Math.min(start + 3, index.upperBound - 1);
      for (let slot = 0; slot < 5000; slot++) index.insert(slot, tick);
      let asked = 0;
      const owner = {
        wantedAt: () => {
          asked += 1;
          return -1;
        },
      };
      expect(index.nextWanted(owner)).toBeLessThanOrEqual(index.nextTick());
      expect([index.size, asked]).toEqual([5000, 0]);
    },
  );

  test('of a pinned wheel, what is due beyond the range waits at its end', () => {
    const index = new PinnedIndex({ levels: [{ width: 1, spokes: 2 }], capacity: 4 });
    index.insert(1, 1);
    const owner = { wantedAt: () => 1000 };
    expect([index.nextWanted(owner), index.size, index.tickOf(1)]).toEqual([1, 1, 1]);
  });

  test.each(kinds)(
    `where memory to file anew is refused, loses nothing: $name, seed ${SEED}`,
    ({ make, start, far }) => {
      const draws = new Draws(SEED);
      let [refusals, delivered, share] = [0, 0, 0];
      refuseArrays(() => {
        const isRefused = draws.below(100) < share;
        if (isRefused) refusals += 1;
        return isRefused;
      });
      for (let number = 0; number < 40; number++) {
        const index = make(5000, start);
        const slots = 1 + draws.below(1500);
        const reach = Math.min(far, index.upperBound - 1 - start);
        const later = Math.min(4, reach);
        const due = new Map<number, number>();
        for (let slot = 0; slot < slots; slot++) {
          patiently(() => index.insert(slot, start + 1 + draws.below(Math.min(3, reach))));
          due.set(slot, start + later + draws.below(reach - later + 1));
        }
        const owner = { wantedAt: (slot: number, tick: number) => Math.max(tick, due.get(slot) ?? -1) };
        share = draws.pick([50, 100]);
        for (let look = 0; look < 3; look++) {
          const next = draws.below(2) === 0 ? index.nextWanted(owner) : index.nextDue(owner);
          expect(next).toBeLessThan(Number.POSITIVE_INFINITY);
          expect(
            Array.from({ length: slots }, (_, slot) => index.has(slot)),
            `seed ${SEED}`,
          ).not.toContain(false);
          expect(index.size).toBe(slots);
        }
        share = 0;
        const sink = {
          due(slot: number, tick: number): void {
            const wanted = owner.wantedAt(slot, tick);
            if (wanted > tick) patiently(() => index.insert(slot, wanted));
            else if (due.delete(slot)) delivered += 1;
          },
        };
        while (due.size > 0) patiently(() => index.advanceTo(index.nextDue(owner), sink, Number.POSITIVE_INFINITY));
        expect(index.size).toBe(0);
      }
      expect(delivered).toBeGreaterThan(1000);
      if (far > 300 || start === 3) expect(refusals).toBeGreaterThan(0); // else a handful of lists
    },
  );
});

test('what is beyond the reach of a pinned wheel, and wanted no more, leaves it when its spoke is read', () => {
  const index = new PinnedIndex({ levels: [{ width: 1, spokes: 2 }], capacity: 100, overflow: 'list' });
  const wanted = new Map<number, number>();
  const handedOver: [slot: number, tick: number][] = [];
  const sink = {
    wantedAt: (slot: number) => wanted.get(slot) ?? -1,
    due: (slot: number, tick: number) => void handedOver.push([slot, tick]),
  };
  for (let slot = 0; slot < 100; slot++) index.insert(slot, 60_000);
  wanted.set(7, 60_000).set(8, 70_000);
  index.advanceTo(2, sink, Number.POSITIVE_INFINITY);
  expect(index.size).toBe(2);
  index.advanceTo(65_000, sink, Number.POSITIVE_INFINITY);
  expect(handedOver).toEqual([[7, 60_000]]);
  index.advanceTo(70_000, sink, Number.POSITIVE_INFINITY);
  expect([index.size, handedOver[1]]).toEqual([0, [8, 70_000]]);
});
