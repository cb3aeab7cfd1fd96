import { describe, expect, test } from 'vitest';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import { MonotoneQueue } from '../../src/extras/wheels/monotone-queue.ts';
import type { TimingWheel } from '../../src/extras/wheels/timing-wheel.ts';
import { type PresetName, presets } from '../../src/wheel/presets.ts';
import type { CascadingConfig, WheelConfig } from '../../src/wheel/wheel-config.ts';

const janestreet = presets.janestreet as CascadingConfig;
const twolevel: WheelConfig = { ...(presets.twolevel as CascadingConfig), precision: 1 };
const smallPinned: WheelConfig = {
  engine: 'pinned',
  levels: [1, 4, 16].map((precision) => ({ precision, spokes: precision < 16 ? 4 : 8 })),
};

describe('janestreet', () => {
  test('level bits are the original ones, cut to the 53 that a safe integer holds', () => {
    const original = [11, 10, 10, 10, 10, 10];
    const { levelBits } = janestreet;
    expect(levelBits.reduce((sum, bits) => sum + bits)).toBe(Math.log2(Number.MAX_SAFE_INTEGER + 1));
    expect(levelBits.slice(0, -1)).toEqual(original.slice(0, -1));
    expect(() => new MonotoneQueue(original)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_CONFIG' }));
  });

  test('a timer fires strictly after its deadline, at most one precision late', () => {
    const wheel = createWheel<number>({ ...janestreet, precision: 4 }, { start: 100 });
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

  test.each([
    [0, 1],
    [-7, 0.1],
    [1e9, 0.3],
    [5, 1 / 3],
  ])('intervals are half-open, numbered from start %d, of precision %d', (start, precision) => {
    const wheel = createWheel<number>({ ...janestreet, precision }, { start });
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
  });

  test('durations are the ranges of the levels', () => {
    expect(createWheel('janestreet').durations()).toEqual([11, 21, 31, 41, 51, 53].map((bits) => 2 ** bits));
  });
});

describe('ustack', () => {
  test.each([3, 257, 70_001, 2 ** 24 + 5, 2 ** 32 + 9])(
    'deviation: next expiration is exact on every level, so a jump never goes too far: %i',
    (delay) => {
      const wheel = createWheel<number>('ustack');
      wheel.schedule(delay, 1);
      expect(wheel.nextExpiration()).toBe(delay);
      expect(wheel.advanceTo(delay - 1, () => {}).fired).toBe(0);
      expect(wheel.advanceTo(delay + 1000, () => expect(wheel.now).toBe(delay)).fired).toBe(1);
    },
  );

  test('an advance reports fired, cascaded and the next expiration', () => {
    const wheel = createWheel<number>('ustack');
    for (const deadline of [5, 300, 301, 70_000]) wheel.schedule(deadline, 0);
    expect(wheel.advanceTo(256, () => {})).toEqual({ fired: 1, cascaded: 2, complete: true, nextExpiration: 300 });
  });
});

const levelsOf = (wheel: TimingWheel<number>) => wheel.memoryStats().levels.map((level) => level.timers);

test('twolevel: below 1024 ticks a timer goes to the fine level, above to the coarse; deviation: also long after the start', () => {
  for (const start of [0, 50_000]) {
    const wheel = createWheel<number>(twolevel);
    wheel.advanceTo(start, () => {});
    wheel.schedule(start + 100, 0);
    expect(levelsOf(wheel)).toEqual([1, 0, 0]);
    wheel.schedule(start + 5000, 0);
    expect(levelsOf(wheel)).toEqual([1, 1, 0]);
  }
});

describe('blitz', () => {
  test('deviation: what starts beyond the range is filed beyond it', () => {
    const wheel = createWheel<number>('blitz');
    for (const deadline of [2 ** 30 - 1, 2 ** 30, 3 * 2 ** 30 + 5]) wheel.schedule(deadline, 0);
    expect(levelsOf(wheel)).toEqual([0, 0, 0, 0, 1, 2]);
  });

  test('deviation: cancelling gives memory back long before the deadline', () => {
    const wheel = createWheel<number>('blitz');
    for (let i = 0; i < 200_000; i++) wheel.cancel(wheel.schedule(2 ** 29 + (i % 1000), i));
    expect(wheel.memoryStats().bytes).toBeLessThan(200_000);
  });
});

const [far, farther] = [2 ** 30, 3 * 2 ** 30 + 5];

// What is scheduled at a time, and then, as the clock goes on, which of it fires at which time.
test.each<[title: string, WheelConfig | PresetName, from: number, deadlines: number[], fires: number[][]]>([
  ['ustack: an occupied slot just behind the place searched from is found', 'ustack', 40, [291], [[291, 291]]],
  ['ustack: the longest delay is held, not clamped', 'ustack', 0, [2 ** 40], [[2 ** 32], [2 ** 40, 2 ** 40]]],
  ['twolevel: a coarse slot cascades at its start', twolevel, 0, [2055], [[2047], [2048], [2054], [2055, 2055]]],
  ['twolevel: a turn of the coarse level apart', twolevel, 5000, [6000, 5000 + 2 ** 20 - 1], [[6000, 6000]]],
  [
    'blitz: what is beyond the range re-enters in time',
    'blitz',
    0,
    [far, farther],
    [
      [far, far],
      [farther, farther],
    ],
  ],
  ['blitz: slots go by absolute position, in its own turn', 'blitz', 13, [163], [[162], [163, 163]]],
  ['blitz: a deadline between two ticks waits for the later', 'blitz', 0, [5.9], [[5.95], [6, 5.9]]],
  [
    'pinned3: the level follows from the distance to now',
    presets.pinned3,
    2 ** 50,
    [2 ** 50 + 2 ** 21],
    [[2 ** 50 + 2 ** 21 - 1], [2 ** 50 + 2 ** 21, 2 ** 50 + 2 ** 21]],
  ],
  ['pinned3: a coarse level is not read before its deadline', smallPinned, 0, [10], [[8], [9], [10], [11], [12, 10]]],
  ['pinned3: a deadline at the coverage exactly', smallPinned, 0, [4], [[3], [4, 4]]],
])('deviation of %s', (_, config, from, deadlines, fires) => {
  const wheel = createWheel<number>(config);
  wheel.advanceTo(from, () => {});
  for (const deadline of deadlines) wheel.schedule(deadline, deadline);
  for (const [at, [time, ...due]] of fires.entries()) {
    expect(wheel.nextExpiration()).toBe(fires.slice(at).find(({ length }) => length > 1)?.[0]);
    const fired: number[] = [];
    wheel.advanceTo(time, (value) => fired.push(value));
    expect(fired).toEqual(due);
  }
});

test('a wheel without a preset is the default one', () => {
  const wheel = createWheel<string>();
  expect(wheel.durations()).toEqual(createWheel('default').durations());
  expect(wheel.upperBound).toBe(createWheel('default').upperBound);
});
