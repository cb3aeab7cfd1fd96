import { describe, expect, test } from 'vitest';
import { CascadingWheel } from '../../src/wheel/cascading-wheel.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import { type LongTimer, scheduleLong, untilTarget } from '../../src/wheel/long-timers.ts';
import { MonotoneQueue } from '../../src/wheel/monotone-queue.ts';
import { PinnedWheel } from '../../src/wheel/pinned-wheel.ts';
import { presets } from '../../src/wheel/presets.ts';
import type { CascadingConfig, PinnedConfig } from '../../src/wheel/wheel-config.ts';

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

describe('MonotoneQueue', () => {
  test('what may be added lies between the allowed keys, which rise', () => {
    const queue = new MonotoneQueue<string>([3, 2]);
    expect([queue.minAllowedKey, queue.maxAllowedKey, queue.size, queue.minKey(), queue.minElement()]).toEqual([
      0,
      31,
      0,
      undefined,
      undefined,
    ]);
    const a = queue.add(31, 'a');
    expect([a.key, a.value, queue.has(a)]).toEqual([31, 'a', true]);
    for (const bad of [-1, 32, 1.5, Number.NaN])
      expect(() => queue.add(bad, '')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
    queue.add(4, 'b');
    expect([queue.minKey(), queue.minElement()?.value]).toEqual([4, 'b']);
    const removed: string[] = [];
    queue.increaseMinAllowedKey(5, ({ value }) => removed.push(value));
    expect([removed, queue.minAllowedKey, queue.minKey()]).toEqual([['b'], 5, 31]);
    expect(() => queue.add(4, '')).toThrow('from 5');
    queue.increaseMinAllowedKey(2, () => expect.unreachable());
    expect(queue.minAllowedKey).toBe(5);
    expect(() => queue.increaseMinAllowedKey(queue.maxRepresentableKey + 1, () => {})).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }),
    );
  });

  test('deviation: removing an element twice is detected, always', () => {
    const queue = new MonotoneQueue<number>();
    const a = queue.add(7, 1);
    expect([queue.remove(a), queue.remove(a), queue.has(a)]).toEqual([true, false, false]);
    queue.add(7, 2);
    expect([queue.remove(a), queue.size, [...queue].length]).toEqual([false, 1, 1]);
    queue.clear();
    expect([queue.size, [...queue]]).toEqual([0, []]);
  });

  test('keys up to the largest representable', () => {
    const queue = new MonotoneQueue<number>();
    const last = queue.maxRepresentableKey;
    queue.increaseMinAllowedKey(last - 1, () => {});
    expect(queue.maxAllowedKey).toBe(last);
    queue.add(last, 1);
    queue.add(last - 1, 2);
    const removed: number[] = [];
    queue.increaseMinAllowedKey(last, ({ key }) => removed.push(key));
    expect([removed, queue.size]).toEqual([[last - 1], 1]);
  });
});

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
