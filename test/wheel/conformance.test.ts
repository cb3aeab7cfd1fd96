import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../src/extras/wheels/check-invariants.ts';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import type { TimingWheel } from '../../src/extras/wheels/timing-wheel.ts';
import { subjects } from './conformance-subjects.ts';

describe.each(subjects)('conformance: $name', ({ config, slack, strict, bounded, pinned }) => {
  const p = config.engine === 'cascading' ? config.precision : config.levels[0].precision;
  const make = (start = 0) => createWheel<string>(config, { start });
  const at = (tick: number) => tick * p;
  const fire = <T>(wheel: TimingWheel<T>, to: number, limit?: number): T[] => {
    const fired: T[] = [];
    wheel.advanceTo(to, (value) => fired.push(value), limit);
    checkInvariants(wheel.snapshot());
    return fired;
  };

  test('a timer fires at its tick, not before, and once', () => {
    const wheel = make();
    wheel.schedule(at(5), 'a');
    expect(fire(wheel, at(5 + slack) - p / 4)).toEqual([]);
    expect(fire(wheel, at(5 + slack))).toEqual(['a']);
    expect(fire(wheel, at(900))).toEqual([]);
    expect(wheel.size).toBe(0);
  });

  test('a deadline within an interval waits for the tick after it', () => {
    const wheel = make();
    wheel.schedule(at(3) + p / 2, 'a');
    expect(wheel.nextExpiration()).toBe(wheel.intervalNumberStart(4));
    expect(fire(wheel, at(3) + 0.9 * p)).toEqual([]);
    expect(fire(wheel, wheel.intervalNumberStart(4))).toEqual(['a']);
  });

  test('order is by due tick, and within a tick as scheduled', () => {
    const wheel = make();
    for (const [number, tick] of [9, 2, 5, 5, 9].entries()) wheel.schedule(at(tick), `${number}`);
    expect(fire(wheel, at(20))).toEqual(['1', '2', '3', '0', '4']);
  });

  test.skipIf(pinned)('order within a tick survives cascades, whatever level a timer was placed on', () => {
    // Named deviation of pinned wheels: timers of one due tick on two levels fire at two instants.
    const wheel = make();
    const due = 700;
    const names: string[] = [];
    for (let i = 0; i < 700; i += 7) {
      wheel.schedule(at(due), String(i));
      names.push(String(i));
      fire(wheel, at(i));
    }
    expect(fire(wheel, at(due + slack))).toEqual(names);
  });

  test('a deadline in the past or present fires at the next tick, or is refused where the preset says so', () => {
    const wheel = make();
    fire(wheel, at(10));
    wheel.schedule(at(10), 'now');
    if (strict)
      expect(() => wheel.schedule(at(9), 'past')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
    else wheel.schedule(at(3), 'past');
    expect(fire(wheel, at(10))).toEqual([]);
    expect(fire(wheel, at(11))).toEqual(strict ? ['now'] : ['now', 'past']);
  });

  test('a limit stops half-way through a slot, and the next call goes on there', () => {
    const wheel = make();
    const ids = Array.from({ length: 150 }, (_, i) => wheel.schedule(at(7), `t${i}`));
    const first = wheel.advanceTo(at(9), () => {}, 1);
    expect(first).toMatchObject({ fired: 1, complete: false, nextExpiration: wheel.intervalNumberStart(7 + slack) });
    expect(wheel.cancel(ids[0])).toBe(false);
    expect(wheel.cancel(ids[1])).toBe(true);
    expect(wheel.reschedule(ids[2], at(8))).toBe(true);
    const rest: string[] = [];
    let calls = 0;
    while (!wheel.advanceTo(at(9), (value) => rest.push(value), 1).complete) calls++;
    expect(calls).toBe(148 - 1);
    expect(rest).toEqual([...Array.from({ length: 147 }, (_, i) => `t${i + 3}`), 't2']);
    expect(wheel.now).toBe(at(9));
  });

  test('a handler may schedule, cancel and reschedule, its own timer being gone', () => {
    const wheel = make();
    const log: string[] = [];
    const other = wheel.schedule(at(6), 'other');
    const victim = wheel.schedule(at(6), 'victim');
    const own = wheel.schedule(at(5), 'own');
    wheel.advanceTo(at(20), (value, id) => {
      log.push(value);
      if (value !== 'own') return;
      expect(id).toBe(own);
      expect(wheel.now).toBe(wheel.intervalNumberStart(5 + slack));
      expect([wheel.has(id), wheel.cancel(id), wheel.reschedule(id, at(9))]).toEqual([false, false, false]);
      wheel.cancel(victim);
      wheel.reschedule(other, at(8));
      wheel.schedule(wheel.now, 'at once');
      wheel.schedule(at(19 - slack), 'later');
    });
    expect(log).toEqual(['own', 'at once', 'other', 'later']);
  });

  test('a handler that clears the wheel uses up no more of the limit than it fired', () => {
    const wheel = make();
    const fired: string[] = [];
    for (let i = 0; i < 60; i++) wheel.schedule(at(4), `t${i}`);
    const clearing = (value: string) => {
      fired.push(value);
      if (value !== 't1') return;
      wheel.clear();
      for (let i = 0; i < 5; i++) wheel.schedule(at(5), `after ${i}`);
    };
    const result = wheel.advanceTo(at(10), clearing, 5);
    expect(fired).toEqual(['t0', 't1', 'after 0', 'after 1', 'after 2']);
    expect(result).toMatchObject({ fired: 5, complete: false });
    expect(fire(wheel, at(10))).toEqual(['after 3', 'after 4']);
  });

  test('a handler that throws loses its own timer and no other', () => {
    const wheel = make();
    for (const name of ['a', 'b', 'c']) wheel.schedule(at(4), name);
    const seen: string[] = [];
    const handler = (value: string) => {
      seen.push(value);
      if (value === 'b') throw new Error('from b');
    };
    expect(() => wheel.advanceTo(at(10), handler)).toThrow('from b');
    expect(wheel.size).toBe(1);
    checkInvariants(wheel.snapshot());
    wheel.advanceTo(at(10), handler);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('advancing from within a handler is an Error, clearing is not', () => {
    const wheel = make();
    for (const name of ['a', 'b']) wheel.schedule(at(4), name);
    expect(() => wheel.advanceTo(at(10), () => wheel.advanceTo(at(11), () => {}))).toThrow('from within a handler');
    wheel.advanceTo(at(10), () => wheel.clear());
    expect([wheel.size, wheel.nextExpiration()]).toEqual([0, undefined]);
    wheel.schedule(at(12), 'c');
    expect(fire(wheel, at(14))).toEqual(['c']);
  });

  test('an id is stale as soon as its timer has ended, also when its slot is used again', () => {
    const wheel = make();
    const first = wheel.schedule(at(4), 'first');
    expect(wheel.cancel(first)).toBe(true);
    const second = wheel.schedule(at(4), 'second');
    expect(second).not.toBe(first);
    expect([wheel.cancel(first), wheel.has(first)]).toEqual([false, false]);
    expect([wheel.get(first), wheel.deadlineOf(first)]).toEqual([undefined, undefined]);
    for (const id of [-1, 0.5, Number.NaN, 2 ** 53, first + 0.25]) expect(wheel.cancel(id)).toBe(false);
    expect([wheel.get(second), wheel.deadlineOf(second)]).toEqual(['second', at(4)]);
  });

  test('deadlines that are no finite numbers are refused, and the value is shown', () => {
    const wheel = make();
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, '5' as never, undefined as never]) {
      expect(() => wheel.schedule(bad, 'x')).toThrow(expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }));
    }
    expect(() => wheel.schedule(Number.NaN, 'x')).toThrow('NaN');
    expect(wheel.size).toBe(0);
  });

  test('beyond the upper bound a deadline is refused; just below it is held', () => {
    const wheel = make();
    fire(wheel, at(100));
    if (!bounded) {
      expect(wheel.upperBound).toBe(Number.POSITIVE_INFINITY);
      wheel.schedule(at(2 ** 40), 'far');
      expect(fire(wheel, at(2 ** 40) - p)).toEqual([]);
      expect(fire(wheel, at(2 ** 40) + p)).toEqual(['far']);
      return;
    }
    const bound = wheel.upperBound;
    expect(() => wheel.schedule(bound, 'far')).toThrow(
      expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR', upperBound: bound }),
    );
    const id = wheel.schedule(bound - p, 'near');
    expect(() => wheel.reschedule(id, bound)).toThrow(expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR' }));
    expect(wheel.deadlineOf(id)).toBe(bound - p);
    expect(fire(wheel, at(101))).toEqual([]);
    expect(wheel.upperBound).toBeGreaterThanOrEqual(bound);
    const next = wheel.nextExpiration() as number;
    if (next < at(2 ** 52)) expect(fire(wheel, next)).toEqual(['near']);
  });

  test('a full wheel refuses, and takes again as soon as one has ended', () => {
    const wheel = createWheel<number>({ ...config, capacity: 3 });
    const ids = [1, 2, 3].map((n) => wheel.schedule(at(n), n));
    expect(() => wheel.schedule(at(4), 4)).toThrow(
      expect.objectContaining({ code: 'ERR_CAPACITY_EXCEEDED', capacity: 3 }),
    );
    wheel.cancel(ids[0]);
    wheel.schedule(at(4), 4);
    expect(fire(wheel, at(9))).toEqual([2, 3, 4]);
  });

  test('results add up, and memory is accounted for', () => {
    const wheel = createWheel<number>(config);
    for (let i = 0; i < 400; i++) wheel.schedule(at(1 + i), i);
    const { levels, bytes } = wheel.memoryStats();
    expect(levels.reduce((sum, level) => sum + level.timers, 0)).toBe(400);
    for (const level of levels) expect(level.utilization).toBeLessThanOrEqual(1);
    expect(bytes).toBeGreaterThan(400 * 8);
    expect(wheel.durations().every((span, level, all) => level === 0 || span > all[level - 1])).toBe(true);
    const result = wheel.advanceTo(at(200 + slack), () => {});
    expect(result).toMatchObject({
      fired: 200,
      complete: true,
      nextExpiration: wheel.intervalNumberStart(201 + slack),
    });
  });

  // A cost per tick would take hours.
  test('jumps over years fire everything once, in order, at no cost per tick', () => {
    const wheel = createWheel<number>(config);
    const last = Math.min(at(2 ** 38), wheel.upperBound - p);
    let due = at(1);
    let count = 0;
    for (; due < last; due *= 2) wheel.schedule(due, count++);
    const fired: number[] = [];
    wheel.advanceTo(at(2 ** 48), (value) => fired.push(value));
    expect(fired).toEqual(Array.from({ length: count }, (_, i) => i));
    expect(wheel.now).toBe(at(2 ** 48));
  });
});
