import { describe, expect, test } from 'vitest';
import { ClientTime } from '../../src/client/client-time.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';

/** What a client knows when the clock stands at `tick`, ticks of a quarter of a ms. */
function timeAt(tick: number): ClientTime {
  const clock = new SharedClock(SharedClock.allocate(true));
  const time = new ClientTime(clock, new TickScale(0.25));
  clock.set(tick / 4);
  time.beginTurn();
  return time;
}

describe('ClientTime', () => {
  test('knows the tick of its last reading, until it reads again', () => {
    const time = timeAt(40);
    expect(time.tick).toBe(40);
    time.clock.set(10.3);
    expect(time.tick).toBe(40);
    time.beginTurn();
    expect(time.tick).toBe(41);
  });

  test.each([
    { deadline: 10.5, tick: 42, why: 'its own tick' },
    { deadline: 10.3, tick: 42, why: 'rounded up' },
    { deadline: 10.25, tick: 41, why: 'the next tick' },
    { deadline: 10, tick: 41, why: 'now is due at the next tick' },
    { deadline: 3, tick: 41, why: 'the past is due at the next tick' },
    { deadline: -1e300, tick: 41, why: 'and the far past' },
    { deadline: 2 ** 40, tick: 2 ** 42, why: 'the far future is itself' },
    { deadline: 1e300, tick: Number.MAX_SAFE_INTEGER, why: 'up to the last tick' },
  ])('at tick 40, $deadline ms is due at tick $tick: $why', ({ deadline, tick }) => {
    expect(timeAt(40).dueTickOf(deadline, 0)).toBe(tick);
  });

  test('has a short way to the due words of near deadlines, and to their ticks', () => {
    const time = timeAt(40);
    expect([time.nextTickTime, time.fastPathEnd]).toEqual([10.25, (40 + 2 ** 30) / 4]);
    for (const deadline of [10.25, 10.3, 10.5, 11, 1000.1, 2 ** 27, time.fastPathEnd - 0.001]) {
      const tick = time.dueTickOf(deadline, 0);
      expect([deadline, Math.ceil(deadline * time.ticksPerMs) | 0]).toEqual([deadline, wordOf(tick)]);
      expect([deadline, time.dueTickOfRecord(deadline, wordOf(tick))]).toEqual([deadline, tick]);
    }
  });

  test('has no such way where a tick is no power of two', () => {
    const clock = new SharedClock(SharedClock.allocate(true));
    const time = new ClientTime(clock, new TickScale(0.3));
    time.beginTurn();
    expect(time.fastPathEnd).toBe(Number.NEGATIVE_INFINITY);
    expect(time.dueTickOfRecord(3, time.dueTickOf(3, 0))).toBe(10);
  });

  test('tells the due tick of a record, as it was when its deadline was set', () => {
    const set = timeAt(40);
    for (const deadline of [-5, 3, 10, 10.25, 11, 2 ** 29, 2 ** 31, 2 ** 40]) {
      const due = set.dueTickOf(deadline, 0);
      for (const later of [40, 41, 44, 1000, 2 ** 30]) {
        expect([deadline, later, timeAt(later).dueTickOfRecord(deadline, wordOf(due))]).toEqual([deadline, later, due]);
      }
    }
  });

  test('rounds due ticks by slack, and reads them from records without it; they never fall as deadlines rise', () => {
    for (const slack of [0, 1, 3, 50, 400]) {
      const set = timeAt(40);
      let last = 0;
      for (const deadline of [-5, 3, 10, 10.25, 11, 100.1, 2 ** 29, 2 ** 31, 2 ** 40, 1e300]) {
        const due = set.dueTickOf(deadline, slack);
        const tick = Math.min(Math.ceil(deadline * 4), Number.MAX_SAFE_INTEGER);
        expect(due).toBeGreaterThanOrEqual(Math.max(tick, 41, last));
        expect(due).toBeLessThanOrEqual(Math.max(tick + slack, 41));
        for (const later of [40, 41, 44, 60, 1000, 2 ** 30]) {
          const read = timeAt(later).dueTickOfRecord(deadline, wordOf(due));
          expect([slack, deadline, later, read]).toEqual([slack, deadline, later, due]);
        }
        last = due;
      }
    }
    const time = timeAt(40);
    expect([time.dueTickOf(11, 3), time.dueTickOf(11.1, 3)]).toEqual([44, 48]);
  });

  test('takes what is overdue to be due at once, however long ago it was set', () => {
    for (const now of [2 ** 31 + 50, 3 * 2 ** 30, 2 ** 32 - 5, 2 ** 32 + 100, 2 ** 40 + 3 * 2 ** 30]) {
      for (const deadline of [-5, 3, 11]) {
        const due = wordOf(timeAt(40).dueTickOf(deadline, 0));
        expect(timeAt(now).dueTickOfRecord(deadline, due)).toBeLessThanOrEqual(now + 1);
      }
    }
  });
});
