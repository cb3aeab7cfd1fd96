import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../src/wheel/check-invariants.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import { presets } from '../../src/wheel/presets.ts';
import { SlotDeadlines } from '../../src/wheel/slot-deadlines.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const fired = (wheel: ReturnType<typeof createWheel<unknown>>, now: number): [unknown, number][] => {
  const seen: [unknown, number][] = [];
  wheel.advanceTo(now, (value, _, deadline) => seen.push([value, deadline]));
  return seen;
};

describe('values', () => {
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
});

function scheduleFleeting(wheel: { schedule(deadline: number, value: object): number }) {
  const value = { name: 'fleeting' };
  return { collected: new WeakRef(value), id: wheel.schedule(5, value) };
}

describe('deadlines', () => {
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

  test('those at their ticks, between them, past and rescheduled from one to the other come back as they were', () => {
    const wheel = createWheel<unknown>('default');
    wheel.advanceTo(100, () => {});
    const ids = [200, 200.5, 50, 0, -3, 2 ** 40, 300.25].map((deadline) => wheel.schedule(deadline, deadline));
    expect(ids.map((id) => wheel.deadlineOf(id))).toEqual([200, 200.5, 50, 0, -3, 2 ** 40, 300.25]);
    expect(wheel.reschedule(ids[1], 250)).toBe(true);
    expect(wheel.reschedule(ids[0], 240.125)).toBe(true);
    expect([...wheel].map(({ deadline }) => deadline)).toEqual([240.125, 250, 50, 0, -3, 2 ** 40, 300.25]);
    expect(fired(wheel, 101)).toEqual([
      [50, 50],
      [0, 0],
      [-3, -3],
    ]);
    expect(fired(wheel, 2 ** 41)).toEqual([
      [200, 240.125],
      [200.5, 250],
      [300.25, 300.25],
      [2 ** 40, 2 ** 40],
    ]);
  });
});

/** Of a wheel that starts there. */
const boundAt = (name: keyof typeof presets, time: number): number => {
  const wheel = createWheel<unknown>(name);
  wheel.schedule(time, 0);
  wheel.advanceTo(time, () => {});
  return wheel.upperBound;
};

describe('advancing while there is nothing to do', () => {
  const nobody = () => expect.fail('nothing is due');

  test.each(Object.keys(presets) as (keyof typeof presets)[])(
    '%s files by the time to which it was advanced',
    (name) => {
      const wheel = createWheel<unknown>(name);
      const { precision } = wheel;
      wheel.schedule(1000 * precision, 'far');
      for (let tick = 1; tick <= 500; tick++) wheel.advanceTo(tick * precision, nobody);
      expect(wheel.now).toBe(500 * precision);
      expect(wheel.upperBound).toBe(boundAt(name, 500 * precision));
      checkInvariants(wheel.snapshot());
      wheel.advanceTo(501 * precision, nobody);
      wheel.schedule(502 * precision, 'near');
      checkInvariants(wheel.snapshot());
      expect(wheel.nextExpiration()).toBeGreaterThan(501 * precision);
      expect(fired(wheel, 504 * precision).map(([value]) => value)).toEqual(['near']);
    },
  );
});
