import { describe, expect, test } from 'vitest';
import { CascadingWheel } from '../../src/wheel/cascading/cascading-wheel.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import { MonotoneQueue } from '../../src/wheel/monotone-queue.ts';
import { presets } from '../../src/wheel/presets.ts';
import type { CascadingConfig } from '../../src/wheel/wheel-config.ts';

/** A handler that keeps values. */
const collect =
  <T>(into: T[]) =>
  (value: T) =>
    void into.push(value);
const cascading = (name: 'janestreet' | 'ustack' | 'twolevel' | 'blitz') => presets[name] as CascadingConfig;

describe('janestreet', () => {
  test('level bits are the original ones, cut to the 53 that a safe integer holds', () => {
    const original = [11, 10, 10, 10, 10, 10];
    const { levelBits } = cascading('janestreet');
    expect(levelBits.reduce((sum, bits) => sum + bits)).toBe(Math.log2(Number.MAX_SAFE_INTEGER + 1));
    expect(levelBits.slice(0, -1)).toEqual(original.slice(0, -1));
    expect(() => new MonotoneQueue(original)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_CONFIG' }));
  });

  test('a timer fires strictly after its deadline, at most one precision late', () => {
    const wheel = createWheel<number>({ ...cascading('janestreet'), precision: 4 }, { start: 100 });
    for (let deadline = 100; deadline < 200; deadline++) wheel.schedule(deadline, deadline);
    for (let now = 100; now < 210; now++) {
      wheel.advanceTo(now, (deadline) => {
        expect(deadline).toBeLessThan(now);
        expect(wheel.now - deadline).toBeLessThanOrEqual(4);
      });
      for (const { deadline } of wheel)
        expect(wheel.intervalStart(deadline)).toBeGreaterThanOrEqual(wheel.intervalStart(now));
    }
    expect(wheel.size).toBe(0);
  });

  test('next expiration: next - precision <= least deadline < next', () => {
    const wheel = createWheel<number>({ ...cascading('janestreet'), precision: 0.1 });
    for (const deadline of [0.3, 7.7, 1234.5, 99_999.9]) {
      wheel.schedule(deadline, 0);
      const next = wheel.nextExpiration() as number;
      expect(deadline).toBeLessThan(next);
      expect(next - 0.1 - 1e-9).toBeLessThanOrEqual(deadline);
      wheel.clear();
    }
  });

  test('intervals are half-open, numbered from start, and their arithmetic agrees with itself', () => {
    for (const [start, precision] of [
      [0, 1],
      [-7, 0.1],
      [1e9, 0.3],
      [5, 1 / 3],
    ]) {
      const wheel = createWheel<number>({ ...cascading('janestreet'), precision }, { start });
      for (let n = 0; n < 500; n++) {
        const time = wheel.intervalNumberStart(n);
        expect(time).toBe(start + n * precision);
        expect(wheel.intervalNumber(time)).toBe(n);
        expect(wheel.intervalStart(time + precision / 2)).toBe(time);
      }
      wheel.advanceTo(start + 10.5 * precision, () => {});
      expect(wheel.intervalNumber(wheel.now)).toBe(10);
      wheel.schedule(wheel.intervalNumberStart(10), 1);
      expect(wheel.advanceTo(wheel.intervalNumberStart(11), () => {}).fired).toBe(1);
    }
  });

  test('the upper bound grows with now, and is at least the range away', () => {
    const wheel = createWheel<number>({ ...cascading('janestreet'), levelBits: [2, 2] });
    for (let now = 0; now < 40; now += 3) {
      wheel.advanceTo(now, () => {});
      expect(wheel.upperBound).toBe(now + 16);
      wheel.schedule(wheel.upperBound - 1, 0);
      expect(() => wheel.schedule(wheel.upperBound, 0)).toThrow(
        expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR' }),
      );
    }
  });

  test('deviation: an advance costs by what it meets, not by the time that it passes', () => {
    const wheel = createWheel<number>('janestreet');
    wheel.schedule(2 ** 52, 1);
    expect(wheel.advanceTo(2 ** 52 + 1, () => {})).toMatchObject({ fired: 1, complete: true });
  });

  test('durations are the ranges of the levels', () => {
    expect(createWheel('janestreet').durations()).toEqual([11, 21, 31, 41, 51, 53].map((bits) => 2 ** bits));
  });
});

describe('ustack', () => {
  test('deviation: an occupied slot just behind the place searched from is found', () => {
    const wheel = createWheel<number>('ustack');
    wheel.advanceTo(40, () => {});
    wheel.schedule(256 + 35, 1);
    expect(wheel.nextExpiration()).toBe(291);
    expect(wheel.advanceTo(291, () => {}).fired).toBe(1);
  });

  test('deviation: next expiration is exact on every level, so a jump never goes too far', () => {
    for (const delay of [3, 257, 70_001, 2 ** 24 + 5, 2 ** 32 + 9]) {
      const wheel = createWheel<number>('ustack');
      wheel.schedule(delay, 1);
      expect(wheel.nextExpiration()).toBe(delay);
      expect(wheel.advanceTo(delay - 1, () => {}).fired).toBe(0);
      expect(wheel.advanceTo(delay + 1000, () => expect(wheel.now).toBe(delay)).fired).toBe(1);
    }
  });

  test('an advance reports fired, cascaded and the next expiration', () => {
    const wheel = createWheel<number>('ustack');
    for (const deadline of [5, 300, 301, 70_000]) wheel.schedule(deadline, 0);
    expect(wheel.advanceTo(256, () => {})).toEqual({ fired: 1, cascaded: 2, complete: true, nextExpiration: 300 });
  });

  test('deviation: the longest delay is held, not clamped to 2^32 - 1 ms', () => {
    const wheel = createWheel<number>('ustack');
    wheel.schedule(2 ** 40, 1);
    expect(wheel.advanceTo(2 ** 32, () => {}).fired).toBe(0);
    expect(wheel.nextExpiration()).toBe(2 ** 40);
  });

  test('a timer that moves is in one place only', () => {
    const wheel = createWheel<number>('ustack');
    const id = wheel.schedule(9, 1);
    wheel.reschedule(id, 900);
    expect([wheel.size, wheel.advanceTo(100, () => {}).fired, wheel.advanceTo(900, () => {}).fired]).toEqual([1, 0, 1]);
  });
});

describe('twolevel: its seven tests, and what differs', () => {
  const tick = 2 ** 20;
  const levels = (wheel: CascadingWheel<number>) => wheel.memoryStats().levels.map((level) => level.timers);
  const make = () => new CascadingWheel<number>(cascading('twolevel'));

  test('below 1024 ticks a timer goes to the fine level, above to the coarse', () => {
    const wheel = make();
    wheel.schedule(1000 * tick, 0);
    expect(levels(wheel)).toEqual([1, 0, 0]);
    wheel.schedule(5000 * tick, 0);
    expect(levels(wheel)).toEqual([1, 1, 0]);
  });

  test('deviation: so it does long after the start', () => {
    const wheel = make();
    wheel.advanceTo(50_000 * tick, () => {});
    wheel.schedule(50_100 * tick, 0);
    expect(levels(wheel)).toEqual([1, 0, 0]);
  });

  test('deviation: a coarse slot cascades when the clock reaches its start, and its timers fire at their deadlines', () => {
    const wheel = make();
    const id = wheel.schedule(2048 * tick + 7 * tick, 7);
    expect(wheel.advanceTo(2047 * tick, () => {}).cascaded).toBe(0);
    expect(wheel.advanceTo(2048 * tick, () => {}).cascaded).toBe(1);
    expect([
      wheel.has(id),
      wheel.advanceTo(2054 * tick, () => {}).fired,
      wheel.advanceTo(2055 * tick, () => {}).fired,
    ]).toEqual([true, 0, 1]);
  });

  test('deviation: an id given out before the cascade cancels after it', () => {
    const wheel = make();
    const id = wheel.schedule(3000 * tick, 0);
    wheel.advanceTo(2999 * tick, () => {});
    expect([wheel.cancel(id), wheel.size]).toEqual([true, 0]);
  });

  test('deviation: timers a turn of the coarse level apart do not meet', () => {
    const wheel = make();
    wheel.advanceTo(5000 * tick, () => {});
    const near = 6000;
    const turn = 1024 * 1024;
    wheel.schedule(near * tick, 1);
    wheel.schedule((5000 + turn - 1) * tick, 2);
    const fired: number[] = [];
    wheel.advanceTo(near * tick, collect(fired));
    expect(fired).toEqual([1]);
  });
});

describe('blitz', () => {
  test('deviation: what starts beyond the range is filed beyond it, and re-enters in time', () => {
    const wheel = new CascadingWheel<number>(cascading('blitz'));
    wheel.schedule(2 ** 30 - 1, 1);
    wheel.schedule(2 ** 30, 2);
    wheel.schedule(3 * 2 ** 30 + 5, 3);
    expect(wheel.memoryStats().levels.map((level) => level.timers)).toEqual([0, 0, 0, 0, 1, 2]);
    const fired: number[] = [];
    for (const now of [2 ** 30 - 2, 2 ** 30 - 1, 2 ** 30, 3 * 2 ** 30 + 4, 3 * 2 ** 30 + 5]) {
      wheel.advanceTo(now, (value) => fired.push(value, wheel.now));
    }
    expect(fired).toEqual([1, 2 ** 30 - 1, 2, 2 ** 30, 3, 3 * 2 ** 30 + 5]);
  });

  test('deviation: slots go by absolute position, so a timer is met in its own turn', () => {
    for (let now = 0; now < 200; now += 13) {
      const wheel = createWheel<number>('blitz');
      wheel.advanceTo(now, () => {});
      wheel.schedule(now + 150, 1);
      expect([wheel.advanceTo(now + 149, () => {}).fired, wheel.advanceTo(now + 150, () => {}).fired]).toEqual([0, 1]);
    }
  });

  test('deviation: a deadline between two ticks waits for the later', () => {
    const wheel = createWheel<number>('blitz');
    wheel.schedule(5.9, 1);
    expect([wheel.advanceTo(5.95, () => {}).fired, wheel.advanceTo(6, () => {}).fired]).toEqual([0, 1]);
  });

  test('deviation: cancelling gives memory back long before the deadline', () => {
    const wheel = createWheel<number>('blitz');
    for (let i = 0; i < 200_000; i++) wheel.cancel(wheel.schedule(2 ** 29 + (i % 1000), i));
    expect(wheel.memoryStats().bytes).toBeLessThan(200_000);
  });
});

test('a wheel without a preset is the default one', () => {
  const wheel = createWheel<string>();
  expect(wheel.durations()).toEqual(createWheel('default').durations());
  expect(wheel.upperBound).toBe(createWheel('default').upperBound);
});
