import { describe, expect, test } from 'vitest';
import { isExhaustive, TIME_LIMIT } from '../fixtures/depth.ts';
import { allocateSetup, LaneWorld, zero } from './lane-world.ts';
import { recycle } from './recycled-words.ts';
import { beginnings, forOneTimer, forTwoClients, forTwoTimers, type Steps } from './world-steps.ts';

/** Ways for a small world to go on. */
export interface Family {
  /** Where the ways begin. */
  readonly from: keyof typeof beginnings;
  /** Timers that the table holds, and records that each ring does. */
  readonly capacity: number;
  readonly ring: number;
  readonly manual: boolean;
  readonly clients: number;
  /** 0 where the wheel has all entries, however few. */
  readonly mostListed?: number;
  /** In the end the clients stand still for a while, and the shard has to come to rest. */
  readonly alone?: boolean;
  readonly steps: Steps;
  /**
   * Most steps after the beginning, where suites are exhaustive; else one step less, which makes some tenth of the
   * cases.
   */
  readonly length: number;
  /** A suite that skips its work is noticed: at least so many cases make sense. */
  readonly least: number;
}

// With a ring of one record every publication rings the shard, as the ring is more than half full; with two it need
// not.
export const one = { capacity: 1, clients: 1, manual: false, steps: forOneTimer };
export const two = { capacity: 2, clients: 1, manual: false, steps: forTwoTimers };
export const twoClients = { capacity: 2, clients: 2, manual: false, steps: forTwoClients };

/** The worlds of a family, one after the other in the same memory. */
export class FamilyWorlds {
  readonly family: Family;
  private readonly options;
  private readonly setup;
  private readonly prepare: (world: LaneWorld) => void;

  constructor(family: Family, prepare: (world: LaneWorld) => void) {
    const { capacity, clients, ring, manual, mostListed } = family;
    this.family = family;
    const rings = { commands: ring, fired: ring };
    this.options = { capacity, clients, rings, budget: 1, maxBatch: 1, manual, mostListed };
    this.setup = allocateSetup(this.options);
    this.prepare = prepare;
  }

  /** A world that has gone this way, or the position of the first step that would change nothing. */
  readonly begin = (way: readonly string[]): LaneWorld | number => {
    zero(this.setup);
    recycle();
    const world = new LaneWorld(this.options, this.setup);
    this.prepare(world);
    const senseless = way.findIndex((name) => !this.family.steps[name](world));
    return senseless < 0 ? world : senseless;
  };

  /**
   * Runs every way that makes sense and has at least `shortest` steps after the beginning. Returns the sum of what
   * `run` returns.
   */
  readonly every = (shortest: number, run: (world: LaneWorld, way: readonly string[]) => number): number => {
    const { from, length, steps } = this.family;
    const longest = isExhaustive ? length : Math.max(1, length - 1);
    const goOn = (way: readonly string[]): number => {
      const tail = way.length - beginnings[from].length;
      const world = this.begin(way);
      if (typeof world === 'number' && tail === 0) throw new Error(`cannot begin with ${way[world]}`);
      if (typeof world === 'number') return 0;
      let sum = 0;
      try {
        if (tail >= shortest) sum += run(world, way);
      } catch (error) {
        throw new Error(`${way.join(', ')}: ${(error as Error).message}`, { cause: error });
      }
      if (tail < longest) for (const name of Object.keys(steps)) sum += goOn([...way, name]);
      return sum;
    };
    return goOn(beginnings[from]);
  };
}

/** A test for each family: `count` tries its cases and returns how many there were. */
export function testFamilies(
  title: string,
  families: readonly Family[],
  count: (worlds: FamilyWorlds) => number,
  prepare: (world: LaneWorld) => void = () => undefined,
): void {
  describe(title, () => {
    test.each(families)(
      'capacity $capacity, rings of $ring, $clients clients, from $from, manual clock $manual: up to $length steps when deep',
      { timeout: TIME_LIMIT },
      (family) => {
        const found = count(new FamilyWorlds(family, prepare));
        process.stdout.write(`  ${found} cases from ${family.from}\n`);
        expect(found).toBeGreaterThanOrEqual(isExhaustive ? family.least : Math.ceil(family.least / 15));
      },
    );
  });
}
