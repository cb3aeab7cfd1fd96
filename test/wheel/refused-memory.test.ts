import { afterEach, expect, test, vi } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import { checkInvariants } from '../../src/extras/wheels/check-invariants.ts';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { refuseArrays } from '../fixtures/refused-arrays.ts';
import { subjects } from './conformance-subjects.ts';

const STEPS = 250;

afterEach(() => vi.unstubAllGlobals());

test.each(subjects)(
  '$name: what throws for lack of memory changes nothing, and everything else fires',
  ({ config }) => {
    const draws = new Draws(SEED);
    let refusals = 0;
    let share = 0;
    refuseArrays(() => {
      if (draws.below(100) >= share) return false;
      refusals += 1;
      return true;
    });
    const wheel = createWheel<number>(config);
    const live = new Map<number, number>(); // by id: the deadline
    let fired = 0;
    const attempt = <T>(call: () => T): T | undefined => {
      try {
        return call();
      } catch (error) {
        if (!(error instanceof AllocationError)) throw error;
        return undefined;
      }
    };
    const fire = (_value: number, id: number, deadline: number): void => {
      expect(live.get(id), `seed ${SEED}`).toBe(deadline);
      live.delete(id);
      fired += 1;
    };
    let now = 0;
    let wanted = 0;
    const { precision } = wheel;
    const reach = Math.min(wheel.upperBound / precision / 2, 100_000);
    for (let step = 0; step < STEPS; step++) {
      share = step < 5 || draws.below(3) === 0 ? 100 : 90;
      const isFlood = step % 100 === 20; // more than any wheel has room for
      for (let i = isFlood ? 2000 : draws.below(60); i > 0; i--) {
        const deadline = now + Math.ceil(draws.below(Math.ceil(reach)) + 1) * precision;
        if (deadline >= wheel.upperBound) continue;
        wanted += 1;
        const id = attempt(() => wheel.schedule(deadline, step));
        if (id !== undefined) live.set(id, deadline);
      }
      expect(wheel.size).toBe(live.size);
      for (const id of [...live.keys()].slice(-40)) {
        const moved = now + Math.ceil(draws.below(Math.ceil(reach)) + 1) * precision;
        if (moved < wheel.upperBound && attempt(() => wheel.reschedule(id, moved)) === true) live.set(id, moved);
      }
      const [id] = live.keys();
      if (draws.below(4) === 0 && wheel.cancel(id)) live.delete(id);
      if (step % 50 === 0) checkInvariants(wheel.snapshot());
      now += draws.below(Math.ceil(reach / 20)) * precision;
      // It goes on where it stopped, once memory is asked for again.
      while (attempt(() => wheel.advanceTo(now, fire)) === undefined) share = 0;
    }
    share = 0;
    wheel.advanceTo(now + 2 * reach * precision + 3 * precision, fire);
    wheel.advanceTo(now + 4 * reach * precision, fire);
    expect({ left: live.size, size: wheel.size }, `seed ${SEED}`).toEqual({ left: 0, size: 0 });
    expect(fired).toBeGreaterThan(100);
    expect(refusals, `seed ${SEED}`).toBeGreaterThan(1);
    expect(wanted).toBeGreaterThan(fired);
  },
);
