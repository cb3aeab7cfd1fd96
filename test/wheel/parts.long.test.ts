import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../src/extras/wheels/check-invariants.ts';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import { Intervals, MAX_TICK } from '../../src/extras/wheels/intervals.ts';
import { validateConfig, type WheelConfig } from '../../src/wheel/wheel-config.ts';
import type { WheelSnapshot } from '../../src/wheel/wheel-snapshot.ts';
import { Draws, SEED } from '../fixtures/draws.ts';

describe('Intervals', () => {
  test.each([
    [0, 0.1],
    [0, 1],
    [1e12, 0.25],
    [-3.3, 0.7],
    [2 ** 40, 0.001],
    [1e-3, 1e-6],
  ])('start %d, precision %d: never early, never a tick too late, whatever doubles make of it', (start, precision) => {
    const up = new Intervals(start, precision, 'up');
    const next = new Intervals(start, precision, 'next');
    for (let i = 0; i < 20_000; i++) {
      const time = start + i * precision * (i % 3 === 0 ? 1 : 0.377);
      const due = up.dueTick(time);
      expect(up.startOf(due)).toBeGreaterThanOrEqual(time);
      expect(up.startOf(due - 1)).toBeLessThan(time);
      expect(next.startOf(next.dueTick(time))).toBeGreaterThan(time);
      expect(next.startOf(next.dueTick(time) - 1)).toBeLessThanOrEqual(time);
    }
  });

  test(`every time before the end has its tick, and none after it, whatever doubles make of it, seed ${SEED}`, () => {
    const draws = new Draws(SEED);
    const count = 20_000;
    const wrong: unknown[] = [];
    let inTime = 0;
    for (let i = 0; i < count; i++) {
      const precision = draws.between(0.1, 1) * 10 ** draws.below(8);
      // Up to so large a start that a tick just makes a difference to it.
      const start = draws.between(-1, 1) * precision * 2 ** (40 + draws.below(13));
      const intervals = new Intervals(start, precision, 'up');
      const { end } = intervals;
      const [last, after] = [end * (1 - 2 ** -53), intervals.startOf(MAX_TICK + 1)];
      for (const time of [intervals.startOf(MAX_TICK - 6), intervals.startOf(MAX_TICK - 1), last]) {
        if (time >= end) continue;
        inTime++;
        const [tick, due] = [intervals.tickAt(time), intervals.dueTick(time)];
        if (!(intervals.startOf(tick) <= time && tick < MAX_TICK)) wrong.push({ start, precision, time, tick });
        if (!(intervals.startOf(due) >= time && due <= MAX_TICK)) wrong.push({ start, precision, time, due });
      }
      for (const time of [end, after, after * (1 + 2 ** -52), 1e300]) {
        if (intervals.dueTick(time) !== MAX_TICK) wrong.push({ start, precision, time });
      }
      if (!(intervals.intervalOf(-1e300) < -MAX_TICK)) wrong.push({ start, precision });
    }
    expect(wrong).toEqual([]);
    expect(inTime).toBeGreaterThan(2 * count);
  });

  test('what no clock can reach is held at the last tick', () => {
    const intervals = new Intervals(0, 1, 'up');
    expect([intervals.dueTick(1e300), intervals.dueTick(2 ** 53)]).toEqual([MAX_TICK, MAX_TICK]);
    expect(() => intervals.tickAt(2 ** 53)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
  });
});

describe('configurations that cannot work are refused, showing option and value', () => {
  const base = { engine: 'cascading', precision: 1, levelBits: [8] } as const;
  const pinned = { engine: 'pinned', levels: [{ precision: 2, spokes: 8 }] } as const;
  test.each<[string, unknown]>([
    ['precision', { ...base, precision: 0 }],
    ['precision', { ...base, precision: Number.NaN }],
    ['levelBits', { ...base, levelBits: [] }],
    ['levelBits[1]', { ...base, levelBits: [8, 0] }],
    ['levelBits[0]', { ...base, levelBits: [21] }],
    ['levelBits', { ...base, levelBits: [18, 18, 18] }],
    ['overflow', { ...base, overflow: 'drop' }],
    ['rounding', { ...base, rounding: 'down' }],
    ['past', { ...base, past: 'ignore' }],
    ['capacity', { ...base, capacity: 2 ** 25 }],
    ['engine', { ...base, engine: 'heap' }],
    ['levels', { ...pinned, levels: [] }],
    ['levels[0].spokes', { ...pinned, levels: [{ precision: 1, spokes: 12 }] }],
    ['levels[1].precision', { ...pinned, levels: [2, 5].map((precision) => ({ precision, spokes: 8 })) }],
    ['compaction.ratio', { ...pinned, compaction: { minCapacity: 1, ratio: 0, targetMultiplier: 1 } }],
    ['wheel', null],
  ])('%s', (option, config) => {
    expect(() => validateConfig(config as WheelConfig)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CONFIG', message: expect.stringContaining(option) }),
    );
  });
  test('a start that swallows a tick, and an unknown preset', () => {
    expect(() => createWheel(base as never, { start: 2 ** 60 })).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_CONFIG' }),
    );
    expect(() => createWheel('nosuch' as never)).toThrow('must be one of default');
  });
});

describe('a snapshot', () => {
  test('the checker sees what is amiss', () => {
    const wheel = createWheel<number>('default');
    for (const deadline of [5, 300, 2 ** 33]) wheel.schedule(deadline, 0);
    const amiss = (change: (snapshot: WheelSnapshot) => void) => {
      const snapshot = wheel.snapshot();
      change(snapshot);
      return () => checkInvariants(snapshot);
    };
    const move = ({ index }: WheelSnapshot, by: number): void => {
      index.levels[1].lists[0].entries[0].tick += by;
    };
    expect(amiss(() => {})).not.toThrow();
    expect(amiss((s) => void s.index.levels[0].occupied.pop())).toThrow('occupancy');
    expect(amiss((s) => void s.index.levels[0].lists[0].index++)).toThrow();
    expect(amiss((s) => move(s, 1))).not.toThrow();
    expect(amiss((s) => move(s, 256))).toThrow('stands on level');
    expect(amiss((s) => void s.index.nextTick++)).toThrow('nextTick');
    expect(amiss((s) => Object.assign(s.index, { nextEvent: s.index.nextEvent + 9 }))).toThrow('nextEvent');
    expect(amiss((s) => void s.timers.pop())).toThrow('live ids');
    expect(amiss((s) => Object.assign(s, { now: s.now - 9 }))).toThrow('clock');
    expect(amiss((s) => Object.assign(s, { now: s.now + 9 }))).toThrow('the index is not behind the clock');
    expect(amiss((s) => Object.assign(s, { nextExpiration: undefined }))).toThrow('nextExpiration');
  });
});
