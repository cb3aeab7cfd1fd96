import { describe, expect, test } from 'vitest';
import { TimerRecords } from '../../src/extras/wheels/timer-records.ts';
import { decodeTimerId, timerIdLayout } from '../../src/timer-id.ts';
import type { PlaceWords } from '../../src/wheel/wheel-index.ts';

function recordsOf<T = unknown>(capacity: number, shard = 0) {
  const seen: PlaceWords[] = [];
  const records = new TimerRecords<T>(capacity, shard, (places) => seen.push(places));
  const add = (value: T): [slot: number, id: number] => {
    const slot = records.take();
    return [slot, records.open(slot, value)];
  };
  return { records, add, places: () => seen[seen.length - 1] };
}

describe('ids', () => {
  test('an id decodes to its wheel, its generation and its slot', () => {
    const { records, add } = recordsOf(1000, 5);
    const layout = timerIdLayout(6, 1000);
    expect(decodeTimerId(add(0)[1], layout)).toEqual({ shard: 5, generation: 1, slot: 0 });
    const [slot, id] = add(0);
    records.close(slot, id);
    expect(decodeTimerId(add(0)[1], layout)).toEqual({ shard: 5, generation: 2, slot: 1 });
  });

  test('the generation changes with every reuse; the slot freed last is used first', () => {
    const { records, add } = recordsOf(4);
    const seen = new Set<number>();
    for (let round = 0; round < 1000; round++) {
      const [slot, id] = add(0);
      expect(seen.has(id)).toBe(false);
      expect([slot, records.slotOf(id), records.isLive(id)]).toEqual([0, 0, true]);
      seen.add(id);
      records.close(slot, id);
      expect(records.isLive(id)).toBe(false);
    }
  });

  test.each([1, 2, 3, 255, 1000])(
    'with room for %d, no number passes for the id of a free slot or of none',
    (capacity) => {
      const { records, add } = recordsOf(capacity);
      const [slot, id] = add(0);
      records.close(slot, id);
      const next = id + 2 ** Math.ceil(Math.log2(capacity));
      const strangers = [id, next, -id, -next, 0, -0, 1, -1, 0.5, id + 0.5, 2 ** 53, Number.NaN, Infinity, -Infinity];
      expect(strangers.filter((stranger) => records.isLive(stranger))).toEqual([]);
      const others = [undefined, null, `${next}`, {}, [], true];
      expect(others.filter((other) => records.isLive(other as never))).toEqual([]);
      expect(add(0)).toEqual([0, next]);
    },
  );

  test('a slot whose generations are used up is retired', () => {
    // The greatest shard and capacity leave 53 - 16 - 24 bits: 8191 generations.
    const { records, add } = recordsOf(2 ** 24, 2 ** 16 - 1);
    const ids = new Set<number>();
    const used = new Set<number>();
    for (let round = 0; round < 10_000; round++) {
      const [slot, id] = add(0);
      expect(Number.isSafeInteger(id)).toBe(true);
      ids.add(id);
      used.add(slot);
      records.close(slot, id);
    }
    expect([ids.size, used.size, records.reach]).toEqual([10_000, 2, 2]);
    expect(records.isLive(Number.NaN)).toBe(false);
  });

  test('a full one takes no more, and one more when a slot is free again', () => {
    const { records, add } = recordsOf(300);
    const ids = Array.from({ length: 300 }, () => add(0)[1]);
    expect(() => records.take()).toThrow(expect.objectContaining({ code: 'ERR_CAPACITY_EXCEEDED' }));
    records.close(17, ids[17]);
    expect(add(0)[0]).toBe(17);
    expect(() => records.take()).toThrow();
  });

  test('places stay where they are while records grow, and the words they are in are told', () => {
    const { records, add, places } = recordsOf(5000);
    for (let slot = 0; slot < 5000; slot++) {
      add(slot);
      places().words[slot << places().shift] = 7 * slot + 1;
    }
    const kept = Array.from({ length: 5000 }, (_, slot) => places().words[slot << places().shift]);
    expect(kept).toEqual(Array.from({ length: 5000 }, (_, slot) => 7 * slot + 1));
    expect(Array.from({ length: 5000 }, (_, slot) => records.valueAt(slot))).toEqual(kept.map((_, slot) => slot));
    expect(records.bytes).toBe(16 * 5000);
  });
});

describe('values', () => {
  const numbers = [0, -0, 1, -1, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 1.5, Number.NaN, Infinity];
  const values = [...numbers, 7n, '7', true, null, undefined, {}, () => 7];

  test.each(values.map((value) => [value]))('%s comes back as it was', (value) => {
    const { records, add } = recordsOf(8);
    for (const kept of [value, 12, value]) {
      const [slot, id] = add(kept);
      expect(records.valueAt(slot)).toBe(kept);
      records.close(slot, id);
    }
  });

  test('whole numbers and objects take turns in the same slots', () => {
    const { records, add } = recordsOf(4096);
    const objects = Array.from({ length: 4096 }, (_, slot) => ({ slot }));
    const ids = objects.map((object, slot) => add(slot % 3 === 0 ? slot : object)[1]);
    for (let slot = 4094; slot >= 0; slot -= 2) records.close(slot, ids[slot]);
    for (let slot = 0; slot < 4096; slot += 2) expect(add(slot % 5 === 0 ? objects[slot] : slot)[0]).toBe(slot);
    for (let slot = 0; slot < 4096; slot++) {
      const isWhole = slot % 2 === 0 ? slot % 5 !== 0 : slot % 3 === 0;
      expect(records.valueAt(slot)).toBe(isWhole ? slot : objects[slot]);
    }
  });
});
