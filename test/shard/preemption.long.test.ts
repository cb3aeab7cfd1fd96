import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TableView } from '../../src/lane/table-view.ts';
import { ServedLane } from '../../src/shard/served-lane.ts';
import { leastOf, lengthOf } from './depth.ts';
import { allocateSetup, LaneWorld, zero } from './lane-world.ts';
import { everySequence } from './sequences.ts';
import { tapAtomics, visiting, watch } from './shared-access.ts';
import { steerImmediates } from './stepped-loop.ts';
import { beginnings, forOneTimer, forTwoClients, forTwoTimers, inBetween, type Steps } from './world-steps.ts';

/**
 * One side is stopped before each of its accesses to shared memory in turn, plain ones to the timer table included, and
 * the other side takes some whole steps there; or the thread dies there, be it the shard's or a client's.
 */
const DEATH = new Error('the thread dies here');

const ofShard = ['turn', 'rebuild'];
/** What the client does while the shard stands still. */
const byClient: readonly (readonly string[])[] = [
  ['publish'],
  ['deliver'],
  ['look'],
  ['look', 'look'],
  ['advance'],
  ['advance', 'look'],
  ['cancel'],
  ['cancel', 'schedule'],
  ['cancel', 'schedule', 'publish'],
  ['schedule', 'publish'],
  ['earlier'],
  ['earlier', 'publish'],
  ['later'],
  ['later', 'earlier', 'publish'],
  ['deliver', 'schedule', 'publish', 'advance'],
];

const ofClient = ['publish', 'deliver', 'cancel', 'earlier', 'later', 'schedule', 'advance'];
/** What happens to the shard while the client stands still. */
const byShard: readonly (readonly string[])[] = [
  ['turn'],
  ['turn', 'turn'],
  ['turn', 'turn', 'turn'],
  ['crash'],
  ['crash', 'rebuild'],
  ['crash', 'rebuild', 'turn', 'turn'],
  ['rebuild'],
  ['rebuild', 'turn'],
];

/** Steps of a second client, whose thread ends in their midst. */
const ofOther = [
  'otherSchedules',
  'otherPublishes',
  'otherDelivers',
  'otherCancels',
  'otherMovesEarlier',
  'otherMovesLater',
];

/** Has a shard's plain reads of the timer table found. */
function watchTable(lane: ServedLane): void {
  const view = Reflect.get(lane, 'table') as TableView;
  watch(view, 'words');
  watch(view, 'doubles');
}

vi.setConfig({ testTimeout: 120_000 });

const releases: (() => void)[] = [];
beforeAll(() => {
  const { rebuild } = ServedLane.prototype;
  ServedLane.prototype.rebuild = function (this: ServedLane, tick: number): number {
    watchTable(this);
    return rebuild.call(this, tick);
  };
  releases.push(steerImmediates(), tapAtomics(), () => {
    ServedLane.prototype.rebuild = rebuild;
  });
});
afterAll(() => {
  for (const release of releases) release();
});

interface Family {
  /** Where runs begin. */
  readonly from: keyof typeof beginnings;
  readonly capacity: number;
  readonly ring: number;
  readonly manual: boolean;
  readonly clients: number;
  readonly steps: Steps;
  /** Most steps between the beginning and the one that is stopped, in deep runs. */
  readonly length: number;
  /** A suite that skips its work is noticed: at least so many runs make sense. */
  readonly least: number;
}

/** Which steps are stopped, and for what. */
const stopped = [
  ...ofShard.map((step) => [step, [...byClient, 'death' as const]] as const),
  ...ofClient.map((step) => [step, byShard] as const),
];
const dying = [...ofShard, ...ofOther].map((step) => [step, ['death' as const]] as const);

/** Stops every step at every access for everything that the other side may do there. Returns the number of runs. */
function runAll({ from, capacity, clients, ring, manual, steps, length }: Family): number {
  const options = { capacity, clients, rings: { commands: ring, fired: ring }, budget: 1, maxBatch: 1, manual };
  const setup = allocateSetup(options);
  const names = Object.keys(steps);
  let count = 0;

  const begin = (way: readonly string[]): LaneWorld | number => {
    zero(setup);
    const world = new LaneWorld(options, setup);
    for (const { lane } of world.clients) {
      watch(lane.table, 'words');
      watch(lane.table, 'doubles');
    }
    for (const lane of world.loop?.built.shard.lanes ?? []) watchTable(lane);
    const senseless = way.findIndex((name) => !steps[name](world));
    return senseless < 0 ? world : senseless;
  };

  /** Returns false once the step has fewer accesses than `stop`, or made no sense. */
  const runStopped = (way: readonly string[], step: string, stop: number, inner: readonly string[] | 'death') => {
    const world = begin(way) as LaneWorld;
    let access = 0;
    let makesSense = true;
    try {
      visiting(
        () => {
          access += 1;
          if (access !== stop) return;
          if (inner === 'death') throw DEATH;
          for (const name of inner) makesSense &&= (steps[name] ?? inBetween[name])(world);
        },
        () => {
          makesSense &&= steps[step](world);
        },
      );
    } catch (error) {
      if (error !== DEATH) throw error;
      if (ofOther.includes(step)) world.clients[1].isGone = true;
      else world.crash();
    }
    if (access < stop || !makesSense) return access >= stop;
    world.finish();
    count += 1;
    return true;
  };

  const runEvery = (way: readonly string[]): void => {
    for (const [step, inners] of clients === 1 ? stopped : dying) {
      for (const inner of inners) {
        for (let stop = 1; ; stop++) {
          try {
            if (!runStopped(way, step, stop, inner)) break;
          } catch (error) {
            const told = `${way.join(', ')}, then ${step} stopped at access ${stop} for ${inner}`;
            throw new Error(`${told}: ${(error as Error).message}`, { cause: error });
          }
        }
      }
    }
  };

  for (let tail = 0; tail <= lengthOf(length); tail++) {
    everySequence(tail, names.length, (sequence) => {
      const way = [...beginnings[from], ...Array.from(sequence, (choice) => names[choice])];
      const world = begin(way);
      if (typeof world === 'number') return world - beginnings[from].length;
      runEvery(way);
      return -1;
    });
  }
  return count;
}

// With a ring of one record every publication rings the shard, as the ring is more than half full; with two it need not.
const one = { capacity: 1, clients: 1, manual: false, steps: forOneTimer };
const two = { capacity: 2, clients: 1, manual: false, steps: forTwoTimers };
const twoClients = { capacity: 2, clients: 2, manual: false, steps: forTwoClients };
const families: Family[] = [
  { ...one, from: 'new', ring: 2, length: 2, least: 16_000 },
  { ...one, from: 'filed', ring: 2, length: 2, least: 12_000 },
  { ...one, from: 'asleep', ring: 2, length: 2, least: 8500 },
  { ...one, from: 'fired', ring: 1, length: 2, least: 15_000 },
  { ...one, from: 'filed', ring: 1, manual: true, length: 1, least: 2000 },
  { ...one, from: 'late', ring: 2, length: 1, least: 3000 },
  { ...one, from: 'lateMove', ring: 2, length: 1, least: 2500 },
  { ...two, from: 'filedAndNew', ring: 1, length: 1, least: 4000 },
  { ...two, from: 'sentAndNew', ring: 1, length: 1, least: 4000 },
  { ...two, from: 'firedAndNew', ring: 2, length: 1, least: 5000 },
  { ...two, from: 'firedAndFiled', ring: 1, length: 1, least: 4000 },
  { ...two, from: 'firedAndFull', ring: 1, length: 1, least: 4000 },
  { ...two, from: 'firedAndFull', ring: 1, manual: true, length: 1, least: 4500 },
  { ...two, from: 'firedAndLate', ring: 1, length: 1, least: 6000 },
  { ...two, from: 'filedAndNew', ring: 1, manual: true, length: 1, least: 4500 },
  { ...twoClients, from: 'new', ring: 1, length: 2, least: 3000 },
  { ...twoClients, from: 'bothFiled', ring: 1, length: 2, least: 5000 },
  { ...twoClients, from: 'bothFired', ring: 1, length: 2, least: 8000 },
  { ...twoClients, from: 'bothFired', ring: 1, manual: true, length: 1, least: 600 },
  { ...twoClients, from: 'otherFull', ring: 1, length: 2, least: 7000 },
];

describe('a side stopped anywhere, for whatever the other does there, or dying there: nothing is lost or doubled', () => {
  test.each(families)(
    'capacity $capacity, rings of $ring, $clients clients, from $from, manual clock $manual',
    (family) => {
      const count = runAll(family);
      process.stdout.write(`  ${count} runs from ${family.from}\n`);
      expect(count).toBeGreaterThanOrEqual(leastOf(family.least));
    },
  );
});
