import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import { SlotDeadlines } from '../../src/extras/wheels/slot-deadlines.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test.each(['fire', 'cancel', 'clear'] as const)('after %s the wheel holds the value no longer', async (end) => {
  const wheel = createWheel<object>('default');
  const { collected, id } = scheduleFleeting(wheel);
  if (end === 'fire') wheel.advanceTo(5, () => {});
  else if (end === 'cancel') wheel.cancel(id);
  else wheel.clear();
  // What was reached through a WeakRef is held for the rest of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  expect(collected.deref()).toBe(undefined);
  expect(wheel.size).toBe(0);
});

function scheduleFleeting(wheel: { schedule(deadline: number, value: object): number }) {
  const value = { name: 'fleeting' };
  return { collected: new WeakRef(value), id: wheel.schedule(5, value) };
}

test('0 is a deadline, and none is none', () => {
  const kept = new SlotDeadlines(1000);
  expect(kept.get(999, 42)).toBe(42);
  kept.set(3, 0);
  kept.set(900, 1.5);
  expect([kept.get(3, 42), kept.get(4, 42), kept.get(900, 42), kept.get(999, 42)]).toEqual([0, 42, 1.5, 42]);
  kept.unset(3);
  kept.unset(900);
  expect([kept.get(3, 42), kept.get(900, 42)]).toEqual([42, 42]);
});
