import { expect, test } from 'vitest';
import { CHUNK_ENTRIES, CommandStage } from '../../src/lane/command-stage.ts';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { StagedSlots } from '../../src/lane/staged-slots.ts';
import { TimerTable } from '../../src/lane/timer-table.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

const CAPACITY = 512;

/** The slots of a stage's entries, those of ended timers as well. */
function slotsIn(stage: CommandStage): Set<number> {
  const slots = new Set<number>();
  for (const { end, start, words } of stage.chunks()) for (let at = start; at < end; at += 2) slots.add(words[at]);
  return slots;
}

function world() {
  const memory = allocateLane(CAPACITY, { commands: 1, fired: 1 });
  const table = new TimerTable(memory, timerIdLayout(1, CAPACITY), 0);
  const stage = new CommandStage(table);
  const add = (slot: number) => {
    if (!stage.hasRoom(1)) stage.grow(1);
    stage.add(slot, table.tagOf(slot));
    return slot;
  };
  return { table, stage, staged: new StagedSlots(stage), add };
}

test(`knows the slots of what is staged, whatever is added, taken, dropped and cleared out, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const { table, stage, staged, add } = world();
  const live: number[] = [];
  let taken = 0;
  let clearings = 0;
  const act = {
    schedule: () => {
      if (live.length === CAPACITY) return;
      const slot = table.allocate(5, 5);
      live.push(slot);
      add(slot);
    },
    moveEarlier: () => live.length > 0 && add(draws.pick(live)),
    end: () => {
      if (live.length > 0) table.free(live.splice(draws.below(live.length), 1)[0]);
    },
    take: () => {
      const chunk = stage.firstLive(stage.length);
      if (chunk !== undefined) stage.take(chunk, draws.below((chunk.end - chunk.start) / 2) + 1);
      taken += 1;
    },
  };
  const check = (slot: number) => {
    if (!table.tagOf(slot)) return;
    const isStaged = slotsIn(stage).has(slot);
    // Once it has been cleared out, it may also name some that were removed: their timers had ended, or are named.
    const mayBeMore = stage.clearings !== clearings;
    if (isStaged || !mayBeMore) expect([slot, staged.has(slot)]).toEqual([slot, isStaged]);
  };
  for (let step = 0; step < 120_000; step++) {
    const drawn = draws.below(1000);
    if (drawn < 500) act.schedule();
    else if (drawn < 700) act.moveEarlier();
    else act.end();
    if (draws.below(4 * CHUNK_ENTRIES) === 0) act.take();
    if (draws.below(20) === 0) {
      if (taken > 0) clearings = stage.clearings;
      taken = 0;
      for (let looks = 0; looks < 3; looks++) check(draws.below(table.highWater + 1));
    }
  }
  expect(stage.clearings).toBeGreaterThan(0);
  expect(stage.taken).toBeGreaterThan(0);
});

test('what is staged once it was cleared out is not taken for what was there before', () => {
  const { table, stage, staged, add } = world();
  while (stage.clearings === 0) {
    expect(staged.has(add(table.allocate(5, 5)))).toBe(true);
    table.free(0);
  }
  expect(stage.length).toBe(1);
  const slots = [table.allocate(5, 5), table.allocate(5, 5)].map(add);
  expect(slots.map((slot) => staged.has(slot))).toEqual([true, true]);
});
