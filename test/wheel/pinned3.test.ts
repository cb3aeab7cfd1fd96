import { describe, expect, test } from 'vitest';
import { type LongTimer, scheduleLong, untilTarget } from '../../src/wheel/long-timers.ts';
import { PinnedWheel } from '../../src/wheel/pinned/pinned-wheel.ts';
import { presets } from '../../src/wheel/presets.ts';
import type { PinnedConfig } from '../../src/wheel/wheel-config.ts';

/** A handler that keeps values. */
const collect =
  <T>(into: T[]) =>
  (value: T) =>
    void into.push(value);

describe('pinned3', () => {
  const make = <T>(config: Partial<PinnedConfig> = {}, start = 0) =>
    new PinnedWheel<T>({ ...(presets.pinned3 as PinnedConfig), ...config }, { start });
  const small = {
    levels: [
      { precision: 1, spokes: 4 },
      { precision: 4, spokes: 4 },
      { precision: 16, spokes: 8 },
    ],
  };

  test('geometry: 2^20, 2^30 and 2^36 ns, 1024 spokes each', () => {
    const wheel = make();
    expect([0, 1, 2].map((level) => wheel.precisionAt(level))).toEqual([2 ** 20, 2 ** 30, 2 ** 36]);
    expect(wheel.durations()).toEqual([0, 1, 2].map((level) => wheel.coverage(level)));
    expect(wheel.coverage(2) / 3.6e12).toBeCloseTo(19.5, 1);
  });

  test('deviation: the level follows from the distance to now, so an old wheel takes timers and takes them on fine levels', () => {
    const wheel = make<string>();
    wheel.advanceTo(2 ** 50, () => {});
    const deadline = 2 ** 50 + 2 ** 21;
    wheel.schedule(deadline, 'soon');
    expect(wheel.nextExpiration()).toBe(deadline);
  });

  test('deviation: compaction keeps live ids valid, reuse makes old ones stale', () => {
    const wheel = make<number>({ compaction: { minCapacity: 8, ratio: 2, targetMultiplier: 1 } });
    const ids = Array.from({ length: 200 }, (_, i) => wheel.schedule(5 * 2 ** 20, i));
    for (const id of ids.slice(0, 190)) wheel.cancel(id);
    const before = wheel.memoryStats().levels[0].capacity;
    wheel.compact();
    expect(wheel.memoryStats().levels[0].capacity).toBeLessThan(before / 10);
    expect(ids.slice(190).map((id) => wheel.get(id))).toEqual(ids.slice(190).map((_, i) => 190 + i));
    const reused = wheel.schedule(5 * 2 ** 20, 1000);
    expect(ids.some((id) => id === reused)).toBe(false);
    expect(ids.slice(0, 190).some((id) => wheel.cancel(id))).toBe(false);
  });

  test('deviation: stopping at the limit leaves the rest due, not a turn of the wheel away', () => {
    const wheel = make<number>(small);
    for (let i = 0; i < 5; i++) wheel.schedule(2, i);
    const fired: number[] = [];
    expect(wheel.advanceTo(3, collect(fired), 2).complete).toBe(false);
    wheel.advanceTo(3, collect(fired));
    expect(fired).toEqual([0, 1, 2, 3, 4]);
  });

  test('deviation: a timer of a coarse level is not read before its deadline and then missed', () => {
    const wheel = make<number>(small);
    wheel.schedule(10, 10);
    for (const now of [8, 9, 10, 11]) expect(wheel.advanceTo(now, () => {}).fired).toBe(0);
    expect(wheel.advanceTo(12, () => {}).fired).toBe(1);
  });

  test('late by less than a precision of its level, never early', () => {
    for (let from = 0; from < 40; from++) {
      const wheel = make<number>(small);
      wheel.advanceTo(from, () => {});
      for (let deadline = from + 1; deadline < wheel.upperBound; deadline++) {
        const middle = (Math.floor(from / 4) + 3) * 4;
        wheel.schedule(deadline, deadline <= from + 3 ? 1 : deadline <= middle ? 4 : 16);
      }
      for (let now = from; wheel.size > 0; now++) {
        wheel.advanceTo(now, (width, _id, deadline) => {
          expect(deadline).toBeLessThanOrEqual(now);
          expect(now - deadline).toBeLessThan(width);
        });
      }
    }
  });

  test('deviation: timers of one instant fire in the order scheduled over all levels, and over reused entries', () => {
    const wheel = make<string>(small);
    wheel.schedule(32, 'coarse');
    wheel.advanceTo(20, () => {});
    wheel.schedule(31, 'middle');
    const hole = wheel.schedule(32, 'gone');
    wheel.schedule(32, 'middle too');
    wheel.cancel(hole);
    wheel.schedule(32, 'in the hole');
    wheel.advanceTo(30, () => {});
    wheel.schedule(32, 'fine');
    const fired: string[] = [];
    wheel.advanceTo(40, collect(fired));
    expect(fired).toEqual(['coarse', 'middle', 'middle too', 'in the hole', 'fine']);
  });

  test('deviation: a deadline at the coverage exactly does not share the spoke being read', () => {
    const wheel = make<number>(small);
    wheel.schedule(4, 4);
    expect(wheel.nextExpiration()).toBe(4);
    expect(wheel.advanceTo(3, () => {}).fired).toBe(0);
    expect(wheel.advanceTo(4, () => {}).fired).toBe(1);
  });

  test('best fit makes arbitrarily long timers, re-scheduled until the target is reached, and meets it closely', () => {
    const wheel = make<LongTimer<string>>(small);
    expect(wheel.scheduleBestFit(50, { target: 50, value: 'x' }).wheelDeadline).toBe(50);
    expect(wheel.scheduleBestFit(5000, { target: 5000, value: 'y' }).wheelDeadline).toBeLessThan(wheel.upperBound);
    expect(() => wheel.scheduleBestFit(Number.NaN, { target: 0, value: '' })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }),
    );
    wheel.clear();
    scheduleLong(wheel, 5003, 'long');
    const fired: [string, number][] = [];
    let legs = 0;
    const handler = untilTarget<string>(
      wheel,
      (value, _id, target) => void fired.push([value, wheel.now - target]),
      () => legs++,
    );
    for (let now = 0; now < 5100; now += 7) wheel.advanceTo(now, handler);
    expect(fired.map(([value]) => value)).toEqual(['long']);
    expect(fired[0][1]).toBeGreaterThanOrEqual(0);
    expect(fired[0][1]).toBeLessThan(16 + 7);
    expect(legs).toBeGreaterThan(40);
  });
});
