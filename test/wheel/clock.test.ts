import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../src/wheel/check-invariants.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import type { PinnedWheel } from '../../src/wheel/pinned-wheel.ts';
import { subjects } from './conformance-subjects.ts';

/** The last tick that a clock reaches; where doubles are coarse, there is none that begins so late. */
const LAST = Number.MAX_SAFE_INTEGER - 1;

describe.each(subjects)('the clock: $name', ({ config, slack, bounded }) => {
  const make = () => createWheel<string>(config);

  test.each([LAST - 2, LAST - 1, LAST])('goes wherever nextExpiration says, tick %i', (tick) => {
    const wheel = make();
    wheel.advanceTo(wheel.intervalNumberStart(LAST - 9), () => {});
    const deadline = wheel.intervalNumberStart(tick - slack);
    if (bounded && deadline === wheel.upperBound) {
      expect(tick - slack).toBe(LAST);
      expect(() => wheel.schedule(deadline, 'a')).toThrow(expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR' }));
      return;
    }
    wheel.schedule(deadline, 'a');
    const next = wheel.intervalNumberStart(tick);
    const isReached = next < wheel.intervalNumberStart(LAST + 1);
    expect(wheel.nextExpiration()).toBe(isReached ? next : undefined);
    if (!isReached) return;
    expect(wheel.advanceTo(next, () => {})).toMatchObject({ fired: 1, complete: true, nextExpiration: undefined });
    checkInvariants(wheel.snapshot());
  });

  test('what is due beyond its last tick waits for ever, or is refused', () => {
    const wheel = make();
    const far = [LAST + 1 - slack, LAST + 2, 2 ** 60].map((n) => wheel.intervalNumberStart(n));
    for (const deadline of [...far, 1e300, Number.MAX_VALUE]) {
      if (!bounded) wheel.schedule(deadline, 'far');
      else expect(() => wheel.schedule(deadline, 'far')).toThrow('upper bound');
    }
    expect([wheel.size, wheel.nextExpiration()]).toEqual([bounded ? 0 : 5, undefined]);
    const last = wheel.intervalNumberStart(LAST - 1);
    expect(wheel.advanceTo(last, () => expect.unreachable())).toMatchObject({ complete: true });
    expect(() => wheel.advanceTo(wheel.intervalNumberStart(LAST + 1), () => {})).toThrow('less than 2^53 - 1 ticks');
    expect(wheel.now).toBe(last);
    checkInvariants(wheel.snapshot());
    for (const { id } of [...wheel]) expect(wheel.cancel(id)).toBe(true);
    expect(wheel.size).toBe(0);
  });
});

test('what a coarse level would hand over beyond the last tick waits for ever', () => {
  const levels = [
    { precision: 1, spokes: 4 },
    { precision: 2 ** 40, spokes: 2 ** 13 },
  ];
  const wheel = createWheel<string>({ engine: 'pinned', levels }) as PinnedWheel<string>;
  wheel.advanceTo(2 ** 53 - 2 ** 41, () => {});
  wheel.schedule(2 ** 53 - 100, 'far');
  expect(wheel.nextExpiration()).toBeUndefined();
  expect(wheel.scheduleBestFit(2 ** 60, 'farther').wheelDeadline).toBe(wheel.upperBound - 1);
  wheel.schedule(2 ** 53 - 2 ** 40, 'near');
  expect(wheel.nextExpiration()).toBe(2 ** 53 - 2 ** 40);
  expect(wheel.advanceTo(LAST, () => {})).toMatchObject({ fired: 1, complete: true, nextExpiration: undefined });
  checkInvariants(wheel.snapshot());
});
