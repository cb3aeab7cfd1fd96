import { afterEach, expect, test, vi } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import { EntryList } from '../../src/shard/entry-list.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { refuseArrays } from '../fixtures/refused-arrays.ts';

const STEPS = 20_000;
const SHORT_STEPS = 5_000;
const SLOTS = 300;
const TICKS = 50;

afterEach(() => vi.unstubAllGlobals());

interface Entry {
  readonly slot: number;
  readonly tag: number;
  readonly tick: number;
}

function entriesOf(list: EntryList): Entry[] {
  const entries: Entry[] = [];
  list.forEach((slot, tag, tick) => void entries.push({ slot, tag, tick }));
  return entries;
}

test('late entries of a second round stand in their order with those of the first that had no room', () => {
  const list = new EntryList();
  for (const tick of [7, 5, 9]) list.append(tick, 1, tick);
  list.sort();
  expect(list.ticks[list.next]).toBe(5);
  list.drop();
  list.append(6, 1, 6);
  list.append(3, 1, 3);
  list.sort();
  expect(list.length).toBe(4);
  expect(entriesOf(list).map(({ slot }) => slot)).toEqual([3, 6, 7, 9]);
});

test(`each slot has one entry, in order of tick and, within one, of arrival, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const list = new EntryList();
  let model: Entry[] = [];
  for (let tag = 0; tag < STEPS; tag++) {
    const isFilling = Math.trunc(tag / 1000) % 2 === 0;
    if (model.length > 0 && draws.below(8) < (isFilling ? 3 : 5)) {
      list.drop();
      model.shift();
    } else {
      const entry = { slot: draws.below(SLOTS), tag, tick: draws.below(TICKS) };
      list.put(entry.slot, entry.tag, entry.tick);
      model = model.filter(({ slot }) => slot !== entry.slot);
      const at = model.findIndex(({ tick }) => tick > entry.tick);
      model.splice(at < 0 ? model.length : at, 0, entry);
    }
    if (tag % 100 === 0) expect(entriesOf(list)).toEqual(model);
  }
  list.truncate(0);
  list.put(0, 1, 1);
  expect(entriesOf(list)).toEqual([{ slot: 0, tag: 1, tick: 1 }]);
});

test(`what is refused memory changes nothing, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  const list = new EntryList();
  let refusals = 0;
  refuseArrays(() => {
    if (draws.below(10) === 0) return false;
    refusals += 1;
    return true;
  });
  const attempt = (call: () => void): boolean => {
    try {
      call();
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(AllocationError);
      return false;
    }
  };
  let model: Entry[] = [];
  const isSame = () => expect(entriesOf(list), `seed ${SEED}`).toEqual(model);
  for (let tag = 0; tag < SHORT_STEPS; tag++) {
    const isFilling = Math.trunc(tag / 500) % 2 === 0;
    const entry = { slot: draws.below(32 * SHORT_STEPS), tag, tick: draws.below(TICKS) };
    if (model.length > 0 && draws.below(8) < (isFilling ? 1 : 7)) {
      list.drop();
      model.shift();
    } else if (attempt(() => list.put(entry.slot, entry.tag, entry.tick))) {
      model = model.filter(({ slot }) => slot !== entry.slot);
      const at = model.findIndex(({ tick }) => tick > entry.tick);
      model.splice(at < 0 ? model.length : at, 0, entry);
    }
    if (tag % 50 !== 0) continue;
    isSame();
    const late = { slot: 32 * SHORT_STEPS + tag, tag, tick: draws.below(TICKS) };
    if (!attempt(() => list.append(late.slot, late.tag, late.tick))) continue;
    model.push(late);
    isSame();
    list.sort();
    if (!list.isInOrder) isSame();
    while (!list.isInOrder) list.sort();
    model.sort((one, other) => one.tick - other.tick);
    isSame();
  }
  expect(refusals).toBeGreaterThan(10);
});
