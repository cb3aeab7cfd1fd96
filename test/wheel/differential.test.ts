import { afterEach, describe, expect, test, vi } from 'vitest';
import { CascadingWheel, type TimingWheel } from '../../src/entries/wheel.ts';
import { type Finding, playWorlds } from '../../tools/soak/wheel/differential.ts';
import { shrink } from '../../tools/soak/wheel/shrink.ts';
import { worldKinds } from '../../tools/soak/wheel/world.ts';
import { SEED } from '../fixtures/draws.ts';

const OPERATIONS = process.env.SHARDWHEEL_SLOW === '1' ? 1e8 : 1e6;

const play = (operations: number, onKind: (kind: string) => void = () => {}): Finding | undefined =>
  playWorlds(
    { seed: SEED, operations, first: 0, stride: 1 },
    () => {},
    ({ kind }) => onKind(kind),
  );

test(`wheels do what a sorted list does: ${OPERATIONS} moves, seed ${SEED}`, () => {
  const kinds = new Set<string>();
  expect(play(OPERATIONS, (kind) => kinds.add(kind))).toBeUndefined();
  expect([...kinds].sort()).toEqual([...worldKinds].sort());
});

/** Moves that are left of a difference at most, of some thousand: 2 to 8 of most, more where none can go without another. */
const MOST = 40;

describe('a wheel that lies is found, and few moves are left', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  const wheel = CascadingWheel.prototype as TimingWheel<unknown>;
  const { advanceTo, cancel, nextExpiration, reschedule, schedule } = wheel;

  test.each<[string, () => void]>([
    ['cancel leaves the timer', () => vi.spyOn(wheel, 'cancel').mockReturnValue(true)],
    [
      'cancel takes stale ids',
      () =>
        vi.spyOn(wheel, 'cancel').mockImplementation(function (this: typeof wheel, id) {
          cancel.call(this, id);
          return true;
        }),
    ],
    [
      'reschedule keeps the place in the order',
      () =>
        vi.spyOn(wheel, 'reschedule').mockImplementation(function (this: typeof wheel, id, deadline) {
          return this.deadlineOf(id) === deadline || reschedule.call(this, id, deadline);
        }),
    ],
    [
      'nextExpiration is a tick late where three wait',
      () =>
        vi.spyOn(wheel, 'nextExpiration').mockImplementation(function (this: typeof wheel) {
          const time = nextExpiration.call(this);
          return time === undefined || this.size !== 3 ? time : time + this.precision;
        }),
    ],
    [
      'a limit of 3 lets four through',
      () =>
        vi.spyOn(wheel, 'advanceTo').mockImplementation(function (this: typeof wheel, now, onFire, limit) {
          return advanceTo.call(this, now, onFire, limit === 3 ? 4 : limit);
        }),
    ],
    [
      'a value is forgotten',
      () =>
        vi.spyOn(wheel, 'schedule').mockImplementation(function (this: typeof wheel, deadline, value) {
          return schedule.call(this, deadline, Object.is(value, -0) ? 0 : value);
        }),
    ],
  ])('%s', (_name, lie) => {
    lie();
    const finding = play(3e6);
    expect(finding?.moves.length).toBeGreaterThan(0);
    expect(finding?.moves.length).toBeLessThanOrEqual(MOST);
    expect(finding).toMatchObject({ seed: SEED, wheel: expect.stringContaining('createWheel({ engine:') });
  });
});

describe('shrinking', () => {
  const moves = Array.from({ length: 1000 }, (_, index) => index);
  const failsWith = (needed: number[]) => (kept: readonly number[]) =>
    needed.every((move) => kept.includes(move)) ? `fails with ${needed}` : undefined;

  test.each([[[0]], [[999]], [[3, 500, 501, 998]], [[]]])('leaves %j of a thousand', (needed) => {
    const least = shrink(moves, failsWith(needed), 10_000);
    expect(least).toEqual({ moves: needed, error: `fails with ${needed}` });
  });

  test('what does not fail when it is made again is not shrunk', () => {
    expect(shrink(moves, () => undefined, 1000)).toBeUndefined();
  });

  test('ends when its time is up', () => {
    expect(shrink(moves, failsWith([3]), 0)?.moves.length).toBe(1000);
  });
});
