import { describe, expect, test } from 'vitest';
import { type LongTimer, scheduleLong, untilTarget } from '../../src/extras/wheels/long-timers.ts';
import { PinnedWheel } from '../../src/extras/wheels/pinned-wheel.ts';
import { presets } from '../../src/wheel/presets.ts';
import type { PinnedConfig } from '../../src/wheel/wheel-config.ts';

describe('pinned3', () => {
  const make = <T>(config: Partial<PinnedConfig> = {}) =>
    new PinnedWheel<T>({ ...(presets.pinned3 as PinnedConfig), ...config });
  const small = { levels: [1, 4, 16].map((precision) => ({ precision, spokes: precision < 16 ? 4 : 8 })) };

  test('geometry: 2^20, 2^30 and 2^36 ns, 1024 spokes each', () => {
    const wheel = make();
    expect([0, 1, 2].map((level) => wheel.precisionAt(level))).toEqual([2 ** 20, 2 ** 30, 2 ** 36]);
    expect(wheel.durations()).toEqual([0, 1, 2].map((level) => wheel.coverage(level)));
    expect(wheel.coverage(2) / 3.6e12).toBeCloseTo(19.5, 1);
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
    wheel.advanceTo(40, (value) => fired.push(value));
    expect(fired).toEqual(['coarse', 'middle', 'middle too', 'in the hole', 'fine']);
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
