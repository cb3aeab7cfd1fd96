import { createScheduler, type SchedulerOptions, type WheelLevel } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

/**
 * Where a deadline stands: the level of the highest bit in which its tick differs from now's, and the slot of its bits
 * there.
 */
function cascadingPlace(now: number, deadline: number): [level: number, slot: number] {
  const [from, due] = [BigInt(now), BigInt(deadline)];
  for (let level = 0; level < 4; level++) {
    if (from >> BigInt(8 * (level + 1)) === due >> BigInt(8 * (level + 1))) {
      return [level, Number((due >> BigInt(8 * level)) % 256n)];
    }
  }
  return [4, 0];
}

const LEVELS = [1, 16, 1024].map((precision, at) => ({ precision, spokes: [64, 256, 4096][at] }));

/** The finest level that reaches so far, and the first of its ticks that is not before the deadline. */
function pinnedPlace(now: number, deadline: number): [level: number, slot: number] {
  const ends = LEVELS.map(({ precision, spokes }) => (Math.floor(now / precision) + spokes - 1) * precision);
  const level = ends.findIndex((end) => deadline <= end);
  const { precision, spokes } = LEVELS[level];
  return [level, Math.ceil(deadline / precision) % spokes];
}

const engines: Record<
  string,
  { wheel: SchedulerOptions['wheel']; slotTimes: number[]; placeOf: typeof cascadingPlace }
> = {
  cascading: { wheel: 'default', slotTimes: [1, 256, 256 ** 2, 256 ** 3, 256 ** 4], placeOf: cascadingPlace },
  pinned: {
    wheel: { engine: 'pinned', levels: LEVELS },
    slotTimes: [1, 16, 1024],
    placeOf: pinnedPlace,
  },
};

/** By level: entries by arc, as a map without zeros. */
const filled = ({ arcs }: WheelLevel): [arc: number, entries: number][] =>
  [...arcs.entries()].filter(([, entries]) => entries > 0);

describe.each(Object.entries(engines))('wheels(), %s', (engine, { wheel, slotTimes, placeOf }) => {
  // Where entries of pinned levels stand depends on when they were filed: all at once, at 0.
  const starts = engine === 'pinned' ? [0] : [0, 300, 70_000];

  test.each([0, 1, 2, 'auto'] as const)(
    `shards %s: each stands where a dumb count has it, seed ${SEED}`,
    async (shards) => {
      await using scheduler = await manual({ shards, wheel, capacity: 8192 });
      const draws = new Draws(SEED);
      const deadlines = Array.from({ length: Math.max(1, scheduler.shards) }, (): number[] => []);
      for (const now of starts) {
        await scheduler.advanceTo(now);
        for (let i = 0; i < 2000; i++) {
          const deadline = now + 12 + draws.below(draws.pick([60, 4000, 4_000_000]));
          scheduler.schedule(i, deadline);
          deadlines[scheduler.shardOf(i)].push(deadline);
        }
        // all are filed
        await until(async () => (await scheduler.wheels()).every(({ lanes }) => lanes[0].commands === 0));
        if (engine !== 'pinned') await scheduler.advanceTo(now + 10);
        const sizes = (await scheduler.stats()).shards.map(({ size }) => size);
        const wheels = await scheduler.wheels();
        expect(wheels.map(({ shard }) => shard)).toEqual(deadlines.map((_, shard) => shard));
        for (const { shard, now: reached, levels, lanes } of wheels) {
          const filed = sizes[shard];
          expect([reached, lanes]).toEqual([scheduler.now(), [{ client: 0, filed, commands: 0, late: 0, fired: 0 }]]);
          expect(levels.reduce((total, { entries }) => total + entries, 0)).toBe(filed);
          expect(levels.map(({ slotTime }) => slotTime)).toEqual(slotTimes);
          const arcs = levels.map(() => new Map<number, number>());
          const slots = levels.map(() => new Set<number>());
          for (const deadline of deadlines[shard].filter((deadline) => deadline > reached)) {
            const [level, slot] = placeOf(reached, deadline);
            const arc = Math.floor(slot / (levels[level].slots / levels[level].arcs.length));
            arcs[level].set(arc, (arcs[level].get(arc) ?? 0) + 1);
            slots[level].add(slot);
          }
          expect(levels.map(filled)).toEqual(arcs.map((of) => [...of].sort(([one], [other]) => one - other)));
          expect(levels.map(({ occupied }) => occupied)).toEqual(slots.map(({ size }) => size));
          if (reached === 0) expect(levels.every(({ hand }) => hand === 0)).toBe(true);
        }
      }
    },
  );
});

test('what was cancelled stands there until its tick comes', async () => {
  await using scheduler = createScheduler({ shards: 1, clock: 'manual', capacity: 64 });
  const ids = Array.from({ length: 10 }, () => scheduler.schedule(1, 100));
  await scheduler.advanceTo(1);
  for (const id of ids.slice(6)) scheduler.cancel(id); // not the first, at which the shard looks before it sleeps
  const entries = async () => (await scheduler.wheels())[0].levels.reduce((total, level) => total + level.entries, 0);
  expect([scheduler.size, await entries()]).toEqual([6, 10]);
  await scheduler.advanceTo(100);
  expect([scheduler.size, await entries()]).toEqual([0, 0]);
});

test('clients that a shard serves are summed in its wheel, and each has its queues', async () => {
  await using scheduler = createScheduler({ shards: 1, capacity: 4096 });
  await scheduler.ready;
  await using client = ClientThread.connect(scheduler.share());
  for (let i = 0; i < 100; i++) scheduler.scheduleAfter(1, 3_600_000);
  await client.run(({ scheduler }) => {
    for (let i = 0; i < 30; i++) scheduler.scheduleAfter(1, 3_600_000);
  });
  const filed = async () => (await scheduler.wheels())[0].lanes.map((lane) => [lane.client, lane.filed]);
  await until(async () => JSON.stringify(await filed()) === '[[0,100],[1,30]]');
  const [{ levels, lanes }] = await scheduler.wheels();
  expect(levels.reduce((total, level) => total + level.entries, 0)).toBe(130);
  expect(lanes.map(({ commands, late, fired }) => commands + late + fired)).toEqual([0, 0]);
  const own = await client.run(async ({ scheduler }) => (await scheduler.wheels()).map(({ lanes }) => lanes));
  expect(own).toEqual([[{ client: 1, filed: 30, commands: 0, late: 0, fired: 0 }]]);
});
