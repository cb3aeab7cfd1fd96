import { CapacityExceededError, decodeTimerId, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { RECORD_SHIFT, TAG } from '../../src/lane/lane-memory.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

/** What a table keeps of its slots' generations: the low 31 bits in the tags, the rest apart. */
interface TableInternals {
  readonly words: Int32Array;
  readonly high: Uint32Array | undefined;
  readonly tagMask: number;
  readonly highMask: number;
}

const tableOf = (scheduler: Scheduler): TableInternals =>
  internalsOf(scheduler).client.lanes[0].table as unknown as TableInternals;

/** Has the next timer of a slot that is free count as the slot's `reuses`-th after its present generation. */
function passReuses(scheduler: Scheduler, slot: number, reuses: number): void {
  const table = tableOf(scheduler);
  const at = (slot << RECORD_SHIFT) + TAG;
  const low = table.words[at] >>> 1;
  const lows = (table.tagMask >>> 1) + 1;
  const sum = low + (reuses % lows); // low words apart, since all bits together may be more than a double holds
  table.words[at] = (sum % lows) << 1;
  if (table.high === undefined) return;
  const carry = Math.floor(sum / lows);
  table.high[slot] = (table.high[slot] + Math.floor(reuses / lows) + carry) & table.highMask;
}

const layouts = [
  { shards: 0, capacity: 1 },
  { shards: 1, capacity: 2 },
  { shards: 2, capacity: 2 ** 16 },
  { shards: 8, capacity: 2 ** 16 },
];

describe.each(layouts)('one slot used 2^32 times: shards $shards, capacity $capacity', ({ shards, capacity }) => {
  /** A scheduler, a hint that is placed on the first shard, and the slot of a timer there that has ended. */
  async function slotOfFirst() {
    const scheduler = await readyScheduler({ shards, capacity, clock: 'manual' });
    let hint = 0;
    while (scheduler.shardOf(hint) !== 0) hint += 1;
    const slotOf = (id: number) => decodeTimerId(id, scheduler.idLayout).slot;
    const first = scheduler.schedule(hint, 1000);
    expect(scheduler.cancel(first)).toBe(true);
    const generations = 2 ** scheduler.idLayout.generationBits;
    return { scheduler, hint, generations, first, slot: slotOf(first), slotOf };
  }

  test('an id kept from long ago is stale, whatever number of reuses lies between', async () => {
    const { scheduler, hint, generations, first, slot, slotOf } = await slotOfFirst();
    await using _ = scheduler;
    const old = [first];
    let passed = 1;
    // Around the points where the tag's bits repeat, and where the low word and the whole generation wrap.
    for (const at of [2 ** 30, 2 ** 31, 2 ** 32, 2 ** 33]) {
      for (let reuses = at - 2; reuses <= at + 2 && reuses < generations; reuses++) {
        passReuses(scheduler, slot, reuses - passed);
        passed = reuses;
        const id = scheduler.schedule(hint, 1000);
        expect(slotOf(id)).toBe(slot);
        expect(old).not.toContain(id);
        for (const stale of old) {
          const answers = [scheduler.has(stale), scheduler.cancel(stale), scheduler.reschedule(stale, 1)];
          expect(answers).toEqual([false, false, false]);
        }
        expect(scheduler.deadlineOf(id)).toBe(1000);
        expect(scheduler.cancel(id)).toBe(true);
        passed += 1;
        old.push(id);
      }
    }
    expect(old.length).toBeGreaterThan(5);
  });

  test("an entry in the wheel, and a fired record, that wait until their tag comes again fire nobody's timer early", async () => {
    const { scheduler, hint, generations, slot, slotOf } = await slotOfFirst();
    await using _ = scheduler;
    const tags = Math.min(2 ** 31, generations);
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    const old = scheduler.schedule(hint, 50, note, 'old');
    expect(slotOf(old)).toBe(slot);
    expect(await scheduler.advanceTo(10)).toBe(0); // it is filed now
    scheduler.cancel(old);
    passReuses(scheduler, slot, tags - 1);
    const heir = scheduler.schedule(hint, 80, note, 'heir');
    // With wide generations the tag is the old one's, and the id is not; with narrow ones the slot has begun anew.
    expect(tableOf(scheduler).high === undefined || heir !== old).toBe(true);
    for (let now = 11; now <= 90; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['heir at 80']);
  });

  test('with the last of its ids a slot is retired; others go on, and a shard without slots refuses', async () => {
    const { scheduler, hint, generations, first, slot, slotOf } = await slotOfFirst();
    await using _ = scheduler;
    passReuses(scheduler, slot, generations - 3); // two are left: first + generations - 2, and - 1
    const ids = new Set([first]);
    for (let left = 2; left > 0; left--) {
      const id = scheduler.schedule(hint, 1000);
      expect(slotOf(id)).toBe(slot);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      scheduler.cancel(id);
    }
    expect((await scheduler.stats()).shards[0].retired).toBe(1);
    if (capacity === 1) {
      expect(() => scheduler.schedule(hint, 1000)).toThrow(CapacityExceededError);
    } else {
      const next = scheduler.schedule(hint, 1000);
      expect(slotOf(next)).not.toBe(slot);
      expect(await scheduler.advanceTo(1000)).toBe(1);
    }
    for (const id of ids) expect(scheduler.has(id)).toBe(false);
  });
});
