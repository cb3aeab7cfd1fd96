import { beforeAll, vi } from 'vitest';
import type { TableView } from '../../src/lane/table-view.ts';
import { ServedLane } from '../../src/shard/served-lane.ts';
import { type Family, type FamilyWorlds, one, testFamilies, two, twoClients } from './families.ts';
import type { LaneWorld } from './lane-world.ts';
import { steerAllTests } from './one-lane.ts';
import { tapAtomics, visiting, watch } from './shared-access.ts';
import { inBetween } from './world-steps.ts';

vi.mock(import('../../src/memory/shared-words.ts'), async (original) => {
  const { recycledWords } = await import('./recycled-words.ts');
  return { ...(await original()), allocateWords: recycledWords };
});

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

steerAllTests();
beforeAll(() => {
  const release = tapAtomics();
  const { rebuild } = ServedLane.prototype;
  ServedLane.prototype.rebuild = function (this: ServedLane, tick: number): number {
    watchTable(this);
    return rebuild.call(this, tick);
  };
  return () => {
    release();
    ServedLane.prototype.rebuild = rebuild;
  };
});

/** Which steps are stopped, and for what. */
const stopped = [
  ...ofShard.map((step) => [step, [...byClient, 'death' as const]] as const),
  ...ofClient.map((step) => [step, byShard] as const),
];
const dying = [...ofShard, ...ofOther].map((step) => [step, ['death' as const]] as const);

/** Has all plain accesses to the timer tables found. */
function watchAll(world: LaneWorld): void {
  for (const { lane } of world.clients) {
    watch(lane.table, 'words');
    watch(lane.table, 'doubles');
  }
  for (const lane of world.loop?.built.shard.lanes ?? []) watchTable(lane);
}

type Inner = readonly string[] | 'death';

/**
 * What becomes of a step that is stopped at one of its accesses: it has fewer, or makes no sense there, or the world's
 * end was good.
 */
function runStopped(world: LaneWorld, { steps }: Family, step: string, stop: number, inner: Inner) {
  let access = 0;
  let makesSense = true;
  const visit = () => {
    access += 1;
    if (access !== stop) return;
    if (inner === 'death') throw DEATH;
    for (const name of inner) makesSense &&= (steps[name] ?? inBetween[name])(world);
  };
  try {
    visiting(visit, () => {
      makesSense &&= steps[step](world);
    });
  } catch (error) {
    if (error !== DEATH) throw error;
    if (ofOther.includes(step)) world.clients[1].isGone = true;
    else world.crash();
  }
  if (access < stop) return 'over';
  if (!makesSense) return 'senseless';
  world.finish();
  return 'good';
}

/** Stops every step at every access for everything that the other side may do there. Returns the number of runs. */
const stopEverywhere = ({ family, begin, every }: FamilyWorlds): number =>
  every(0, (_, way) => {
    let count = 0;
    for (const [step, inners] of family.clients === 1 ? stopped : dying) {
      for (const inner of inners) {
        for (let stop = 1, outcome = ''; outcome !== 'over'; stop++) {
          try {
            outcome = runStopped(begin(way) as LaneWorld, family, step, stop, inner);
          } catch (error) {
            throw new Error(`${step} stopped at access ${stop} for ${inner}: ${(error as Error).message}`, {
              cause: error,
            });
          }
          if (outcome === 'good') count += 1;
        }
      }
    }
    return count;
  });

const families: Family[] = [
  { ...one, from: 'new', ring: 2, length: 2, least: 16_500 },
  { ...one, from: 'filed', ring: 2, length: 2, least: 12_000 },
  { ...one, from: 'asleep', ring: 2, length: 2, least: 8500 },
  { ...one, from: 'fired', ring: 1, length: 2, least: 14_500 },
  { ...one, from: 'filed', ring: 1, manual: true, length: 1, least: 2450 },
  { ...one, from: 'late', ring: 2, length: 1, least: 2900 },
  { ...one, from: 'lateMove', ring: 2, length: 1, least: 2450 },
  { ...two, from: 'filedAndNew', ring: 1, length: 1, least: 4500 },
  { ...two, from: 'sentAndNew', ring: 1, length: 1, least: 4150 },
  { ...two, from: 'firedAndNew', ring: 2, length: 1, least: 4800 },
  { ...two, from: 'firedAndFiled', ring: 1, length: 1, least: 4000 },
  { ...two, from: 'firedAndFull', ring: 1, length: 1, least: 4050 },
  { ...two, from: 'firedAndFull', ring: 1, manual: true, length: 1, least: 4600 },
  { ...two, from: 'firedAndLate', ring: 1, length: 1, least: 5200 },
  { ...two, from: 'filedAndNew', ring: 1, manual: true, length: 1, least: 5200 },
  { ...twoClients, from: 'new', ring: 1, length: 2, least: 3100 },
  { ...twoClients, from: 'bothFiled', ring: 1, length: 2, least: 6000 },
  { ...twoClients, from: 'bothFired', ring: 1, length: 2, least: 7600 },
  { ...twoClients, from: 'bothFired', ring: 1, manual: true, length: 1, least: 650 },
  { ...twoClients, from: 'otherFull', ring: 1, length: 2, least: 6800 },
];

testFamilies(
  'a side stopped anywhere, for whatever the other does there, or dying there: nothing is lost or doubled',
  families,
  stopEverywhere,
  watchAll,
);
