import { describe, expect, test, vi } from 'vitest';
import { leastOf, lengthOf } from './depth.ts';
import { allocateSetup, LaneWorld, zero } from './lane-world.ts';
import { steerAllTests } from './one-lane.ts';
import { everySequence } from './sequences.ts';
import { beginnings, forOneTimer, forTwoClients, forTwoTimers, type Steps } from './world-steps.ts';

vi.setConfig({ testTimeout: 120_000 });

steerAllTests();

interface Family {
  readonly from: keyof typeof beginnings;
  /** Timers that the table holds, and records that each ring does. */
  readonly capacity: number;
  readonly ring: number;
  readonly manual: boolean;
  readonly clients: number;
  /** In the end the clients stand still for a while, and the shard has to come to rest. */
  readonly alone?: boolean;
  readonly steps: Steps;
  /** Most steps after the beginning, in deep runs. */
  readonly length: number;
  /** A suite that skips its work is noticed: at least so many sequences make sense. */
  readonly least: number;
}

/** Runs all sequences of a family; returns how many there were. */
function runAll({ from, capacity, clients, ring, manual, alone, steps, length }: Family): number {
  const options = { capacity, clients, rings: { commands: ring, fired: ring }, budget: 1, maxBatch: 1, manual };
  const setup = allocateSetup(options);
  const names = Object.keys(steps);
  const acts = Object.values(steps);
  const run = (sequence: Uint8Array): number => {
    zero(setup);
    const world = new LaneWorld(options, setup);
    try {
      for (const name of beginnings[from]) if (!steps[name](world)) throw new Error(`cannot begin with ${name}`);
      for (let at = 0; at < sequence.length; at++) if (!acts[sequence[at]](world)) return at;
      if (alone) world.rest();
      world.finish();
    } catch (error) {
      const told = [...beginnings[from], ...Array.from(sequence, (choice) => names[choice])].join(', ');
      throw new Error(`${told}: ${(error as Error).message}`, { cause: error });
    }
    return -1;
  };
  let count = 0;
  for (let tail = 1; tail <= lengthOf(length); tail++) count += everySequence(tail, acts.length, run);
  return count;
}

// With a ring of one record every publication rings the shard, as the ring is more than half full; with two it need not.
const one = { capacity: 1, clients: 1, manual: false, steps: forOneTimer };
const two = { capacity: 2, clients: 1, manual: false, steps: forTwoTimers };
const twoClients = { capacity: 2, clients: 2, manual: false, steps: forTwoClients };
const families: Family[] = [
  { ...one, from: 'new', ring: 1, length: 5, least: 10_000 },
  { ...one, from: 'filed', ring: 2, length: 5, least: 5000 },
  { ...one, from: 'asleep', ring: 2, length: 5, least: 4000 },
  { ...one, from: 'fired', ring: 1, length: 5, least: 8000 },
  { ...one, from: 'new', ring: 2, manual: true, length: 5, least: 7500 },
  { ...one, from: 'filed', ring: 1, manual: true, length: 5, least: 5500 },
  { ...one, from: 'late', ring: 2, length: 4, least: 1000 },
  { ...one, from: 'lateMove', ring: 2, length: 4, least: 1000 },
  { ...two, from: 'twoNew', ring: 1, length: 4, least: 8000 },
  { ...two, from: 'filedAndNew', ring: 1, length: 4, least: 7500 },
  { ...two, from: 'firedAndNew', ring: 1, length: 4, least: 10_000 },
  { ...two, from: 'filedAndNew', ring: 2, length: 4, least: 7500 },
  { ...two, from: 'firedAndFull', ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndLate', ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndFull', manual: true, ring: 1, length: 4, least: 7000 },
  { ...two, from: 'filedAndNew', manual: true, ring: 1, length: 4, least: 6500 },
  { ...two, from: 'twoNew', alone: true, ring: 1, length: 3, least: 900 },
  { ...two, from: 'firedAndFull', alone: true, ring: 1, length: 4, least: 7000 },
  { ...two, from: 'firedAndLate', alone: true, ring: 1, length: 4, least: 7000 },
  { ...twoClients, from: 'new', ring: 1, length: 4, least: 9000 },
  { ...twoClients, from: 'bothFiled', ring: 1, length: 4, least: 15_000 },
  { ...twoClients, from: 'bothFired', ring: 1, length: 4, least: 20_000 },
  { ...twoClients, from: 'bothFired', ring: 1, manual: true, length: 4, least: 15_000 },
  { ...twoClients, from: 'otherFull', ring: 1, length: 4, least: 18_000 },
  { ...twoClients, from: 'otherFull', ring: 1, alone: true, length: 4, least: 18_000 },
];

describe('clients and shard in every order: each timer is delivered or cancelled, once, not early, and none is stuck', () => {
  test.each(families)(
    'capacity $capacity, rings of $ring, $clients clients, from $from, manual clock $manual: up to $length steps when deep',
    (family) => {
      const count = runAll(family);
      process.stdout.write(`  ${count} sequences from ${family.from}\n`);
      expect(count).toBeGreaterThanOrEqual(leastOf(family.least));
    },
  );
});
