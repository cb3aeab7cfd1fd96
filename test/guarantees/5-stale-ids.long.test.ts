import { createScheduler, timerIdLayout } from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { TimerTable } from '../../src/lane/timer-table.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

describe.each([0, 1, 2])('guarantee 5, a stale id is harmless: shards %i', (shards) => {
  test('of a delivered timer, though another holds its slot', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 1 });
    const stale: number[] = [];
    const fired = vi.fn();
    for (let now = 1; now <= 200; now++) {
      const id = scheduler.schedule('a', now, fired);
      for (const old of stale) {
        expect(scheduler.cancel(old)).toBe(false);
        expect(scheduler.reschedule(old, 1)).toBe(false);
        expect(scheduler.rescheduleAfter(old, 1)).toBe(false);
        expect(scheduler.has(old)).toBe(false);
        expect(scheduler.deadlineOf(old)).toBeUndefined();
      }
      expect(scheduler.cancelMany(stale)).toBe(0);
      expect(scheduler.deadlineOf(id)).toBe(now);
      stale.push(id);
      await scheduler.advanceTo(now);
    }
    expect([fired.mock.calls.length, new Set(stale).size]).toEqual([200, 200]);
  });

  test('of a cancelled timer: 100,000 timers in 4 slots have 100,000 ids', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4 });
    const ids = new Set<number>();
    let last = -1;
    for (let i = 0; i < 100_000; i++) {
      const id = scheduler.schedule('a', 10 + (i % 7));
      expect(Number.isSafeInteger(id)).toBe(true);
      if (last >= 0 && scheduler.cancel(last)) throw new Error('a stale id ended a timer');
      ids.add(id);
      if (!scheduler.cancel(id)) throw new Error('a live id was refused');
      last = id;
    }
    expect(ids.size).toBe(100_000);
    expect(scheduler.size).toBe(0);
  });

  test('every number that is near a live id, and every id of another scheduler with the same slots in use', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 16 });
    const live = new Set(Array.from({ length: 8 }, (_, i) => scheduler.schedule(i, 1e6)));
    await using other = createScheduler({ shards, clock: 'manual', capacity: 16 });
    for (let i = 0; i < 8; i++) {
      const id = other.schedule(i, 1e6);
      expect([scheduler.has(id), scheduler.cancel(id), scheduler.reschedule(id, 5)]).toEqual([false, false, false]);
    }
    let asked = 0;
    for (const id of live) {
      for (let power = -2; power <= 53; power++) {
        for (const near of [id + 2 ** power, id - 2 ** power, -id, id * 2 ** power, id / 2 ** power]) {
          if (live.has(near)) continue;
          expect(scheduler.has(near)).toBe(false);
          expect(scheduler.cancel(near)).toBe(false);
          asked += 1;
        }
      }
    }
    expect(asked).toBeGreaterThan(2000);
    expect(scheduler.size).toBe(8);
  });
});

test.each([1, 2, 3, 7, 8])('guarantee 5, a slot is retired before an id repeats: %i slots', (capacity) => {
  const slotBits = timerIdLayout(1, capacity).slotBits;
  for (let first = 0; first < 4; first++) {
    const layout = { shardBits: 53 - 2 - slotBits, generationBits: 2, slotBits };
    const table = new TimerTable(allocateLane(capacity, { commands: 2, fired: 2 }), layout, 5, first);
    const draws = new Draws(SEED);
    const given = new Set<number>();
    const live: number[] = [];
    for (;;) {
      const slot = table.allocate(1, 1);
      if (slot >= 0) {
        const id = table.idOf(slot);
        expect(given.has(id)).toBe(false);
        given.add(id);
        live.push(slot);
      }
      if (slot < 0 && live.length === 0) break;
      if (slot < 0 || draws.below(2) === 0) table.free(live.splice(draws.below(live.length), 1)[0]);
    }
    expect([given.size, table.retired, table.size]).toEqual([4 * capacity, capacity, 0]);
    for (const id of given) expect(table.slotOf(id)).toBe(-1);
  }
});
