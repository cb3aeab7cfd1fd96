import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { TimerTable } from '../../src/lane/timer-table.ts';
import { decodeTimerId, type TimerId, timerIdLayout } from '../../src/timer-id.ts';

function tableOf(capacity: number, options: { shards?: number; shard?: number; firstGeneration?: number } = {}) {
  const { shards = 1, shard = 0, firstGeneration } = options;
  const layout = timerIdLayout(shards, capacity);
  const memory = allocateLane(capacity, { commands: 1, fired: 1 });
  return { layout, memory, table: new TimerTable(memory, layout, shard, firstGeneration) };
}

/** Starts a timer that there must be room for; its slot. */
function start(table: TimerTable, deadline = 5, due = 5): number {
  const slot = table.allocate(deadline, due);
  expect(slot).toBeGreaterThanOrEqual(0);
  return slot;
}

describe('TimerTable', () => {
  test('reuses the slot that was freed last, and fresh ones only when none is free', () => {
    const { table } = tableOf(8);
    for (const slot of [0, 1, 2, 3, 4]) expect(start(table)).toBe(slot);
    for (const slot of [1, 4, 2]) table.free(slot);
    expect([start(table), start(table), start(table), start(table)]).toEqual([2, 4, 1, 5]);
    expect(table.highWater).toBe(6);
  });

  test.each([
    { capacity: 1, generationBits: 53 },
    { capacity: 2, generationBits: 52 },
    { capacity: 1000, generationBits: 43 },
    { capacity: 2 ** 22, generationBits: 31 },
    { capacity: 2 ** 23, generationBits: 30 },
  ])('counts generations over all $generationBits bits that $capacity slots leave', ({ capacity, generationBits }) => {
    const last = 2 ** generationBits - 1;
    for (const first of [2 ** 30 - 2, 2 ** 31 - 2, 2 ** 32 - 2, 2 ** 40 - 2, last - 2].filter((g) => g + 2 <= last)) {
      const { table, layout } = tableOf(capacity, { firstGeneration: first });
      for (const generation of [first, first + 1, first + 2, first + 3 > last ? 0 : first + 3]) {
        const slot = start(table);
        const id = table.idOf(slot);
        expect(table.tagOf(slot) & 1).toBe(1); // odd exactly while a timer is live
        expect(Number.isSafeInteger(id)).toBe(true);
        expect(decodeTimerId(id, layout)).toEqual({ shard: 0, generation, slot });
        expect(table.slotOf(id)).toBe(slot);
        table.free(slot);
        expect([table.slotOf(id), table.tagOf(slot) & 1]).toEqual([-1, 0]);
      }
    }
  });

  test('generations pass their end and are retired where they began', () => {
    // As if a slot had lived through 2^31 timers and more: the wide part comes round, too.
    const { table, layout } = tableOf(1, { firstGeneration: 2 ** 53 - 1 });
    const generations: number[] = [];
    for (let i = 0; i < 3; i++) {
      generations.push(decodeTimerId(table.idOf(start(table)), layout).generation);
      table.free(0);
    }
    expect(generations).toEqual([2 ** 53 - 1, 0, 1]);
    expect(table.retired).toBe(0);
  });

  test('refuses the ids of other shards and of other tables', () => {
    const mine = tableOf(16, { shards: 4, shard: 1, firstGeneration: 5 }).table;
    const sibling = tableOf(16, { shards: 4, shard: 2, firstGeneration: 5 }).table;
    const stranger = tableOf(16, { shards: 4, shard: 1, firstGeneration: 1000 }).table;
    for (const table of [mine, sibling, stranger]) for (let i = 0; i < 16; i++) start(table);
    for (let slot = 0; slot < 16; slot++) {
      expect(mine.slotOf(mine.idOf(slot))).toBe(slot);
      expect(mine.slotOf(sibling.idOf(slot))).toBe(-1);
      expect(mine.slotOf(stranger.idOf(slot))).toBe(-1);
    }
  });

  test('a table does not know the ids of another, whose generations begin elsewhere', () => {
    const tables = [0, 1, 2 ** 29, 2 ** 30 - 1].map((firstGeneration) => tableOf(64, { firstGeneration }).table);
    const ids = tables.map((table) => table.idOf(start(table)));
    for (const [at, table] of tables.entries()) {
      expect(ids.map((id) => table.slotOf(id) >= 0)).toEqual(tables.map((_, other) => other === at));
    }
  });

  test('refuses whatever is no live id', () => {
    const { table } = tableOf(4, { firstGeneration: 0 });
    const live = table.idOf(start(table));
    expect(live).toBe(0);
    const values = [0.5, -1, -0.5, 4, 1, 2 ** 53, 2 ** 32, 1e300, Number.NaN, Number.POSITIVE_INFINITY];
    const others = ['0', '', null, undefined, true, {}, [], [0], 0n, Symbol.iterator];
    for (const value of [...values, ...others]) expect(table.slotOf(value as TimerId)).toBe(-1);
  });

  test('keeps what its timers were given and moved to, up to its capacity, whatever is done', () => {
    const step = fc.tuple(fc.constantFrom('allocate', 'free', 'move'), fc.nat());
    const steps = fc.array(step, { maxLength: 300, size: 'max' });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), steps, (capacity, sequence) => {
        const { table } = tableOf(capacity);
        const live = new Map<TimerId, { slot: number; deadline: number; due: number }>();
        const dead: TimerId[] = [];
        for (const [step, number] of sequence) {
          const [id, timer] = [...live][number % Math.max(1, live.size)] ?? [];
          if (step === 'allocate') {
            const slot = table.allocate(number / 4, -number);
            expect(slot < 0).toBe(live.size === capacity);
            if (slot >= 0) live.set(table.idOf(slot), { slot, deadline: number / 4, due: -number });
          } else if (step === 'free' && id !== undefined && timer !== undefined) {
            table.free(timer.slot);
            live.delete(id);
            dead.push(id);
          } else if (timer !== undefined) {
            table.move(timer.slot, number + 0.5, number);
            Object.assign(timer, { deadline: number + 0.5, due: number });
          }
          expect([table.size, table.isFull]).toEqual([live.size, live.size === capacity]);
          for (const [known, { slot, deadline, due }] of live) {
            expect([table.slotOf(known), table.isLive(slot)]).toEqual([slot, true]);
            expect([table.deadlineOf(slot), table.dueOf(slot)]).toEqual([deadline, due | 0]);
          }
          for (const known of dead) if (table.slotOf(known) !== -1) expect.fail(`${known} is live again`);
        }
        const slots = [...live.values()].map(({ slot }) => slot);
        expect(new Set(slots).size).toBe(slots.length);
      }),
      { numRuns: 60 },
    );
  });
});
