import { describe, expect, test } from 'vitest';
import { Ledger } from '../../bench/replay/ledger.ts';
import { mergedResult } from '../../bench/replay/merged-loops.ts';
import type { LoopResult } from '../../bench/replay/replay-result.ts';
import { StepClock } from '../../bench/replay/step-clock.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT } from '../../bench/replay/timer-kind.ts';

/** A ledger whose clock stands at 0 until `fireAt` sets it and fires a timer. */
function ledgerOf(expected: number, keep?: number) {
  let now = 0;
  const clock = new StepClock(() => now);
  const ledger = new Ledger(expected, clock, keep);
  const fireAt = (time: number, timer: number): boolean => {
    now = time;
    clock.read();
    return ledger.fire(timer);
  };
  return { ledger, fireAt };
}

describe('the ledger finds what was planted:', () => {
  test('nothing, where every timer ended once', () => {
    const { ledger, fireAt } = ledgerOf(4);
    const [fired, cancelled, back] = [ledger.arm(0, CONNECT, 10), ledger.arm(0, IDLE, 10), ledger.arm(1, REQUEST, 10)];
    expect(fireAt(10, fired!)).toBe(true);
    ledger.cancel(cancelled!, true);
    ledger.handBack(back!, 0);
    expect(ledger.verdict()).toMatchObject({ fired: 1, handedBack: 1, early: 0, lost: 0, doubled: 0, refused: 0 });
    expect(ledger.peakLive).toBe(3);
    expect(ledger.live).toBe(0);
  });

  test('lateness of what was due by the end, not of what the judge itself delays', () => {
    const { ledger, fireAt } = ledgerOf(4);
    const [by, after] = [ledger.arm(0, CONNECT, 10), ledger.arm(0, IDLE, 11)];
    ledger.end = 10;
    expect([fireAt(13, by!), fireAt(31, after!)]).toEqual([true, true]);
    expect(ledger.verdict()).toMatchObject({ fired: 2, lost: 0, lateness: { count: 1, max: 3 }, latestAtStart: 3 });
  });

  test('a lost timer, and one that was found again when it was long overdue', () => {
    const { ledger } = ledgerOf(4);
    ledger.arm(0, IDLE, 10);
    const late = ledger.arm(1, IDLE, 10);
    const waiting = ledger.arm(2, IDLE, 5000);
    expect([ledger.isWaitingFor(10), ledger.isWaitingFor(11)]).toEqual([false, true]);
    ledger.handBack(late, 11);
    ledger.handBack(waiting, 11);
    expect(ledger.verdict()).toMatchObject({ handedBack: 2, lost: 2, doubled: 0 });
  });

  test.each(['fire fire', 'cancel fire', 'handBack fire', 'fire handBack', 'handBack handBack', 'cancel handBack'])(
    'a doubled timer: %s',
    (life) => {
      const { ledger, fireAt } = ledgerOf(4);
      const other = ledger.arm(0, IDLE, 5);
      const timer = ledger.arm(0, TIME_WAIT, 10);
      const ends = {
        fire: () => fireAt(20, timer),
        cancel: () => ledger.cancel(timer, true),
        handBack: () => ledger.handBack(timer, 0),
      };
      for (const end of life.split(' ') as (keyof typeof ends)[]) ends[end]();
      ledger.handBack(other, 0);
      expect(ledger.verdict()).toMatchObject({ doubled: 1, lost: 0 });
    },
  );

  test('an early timer, and by how much; the deadline is the one it was last moved to', () => {
    const { ledger, fireAt } = ledgerOf(4);
    const [onTime, early, moved] = [ledger.arm(0, IDLE, 10), ledger.arm(1, IDLE, 10), ledger.arm(2, IDLE, 10)];
    ledger.move(moved!, 30, true);
    fireAt(10, onTime!);
    fireAt(9.75, early!);
    fireAt(28, moved!);
    expect(ledger.verdict()).toMatchObject({ fired: 3, early: 2, earliest: 2, lost: 0, doubled: 0 });
  });

  test('a live timer that its subject disowned stays live until it ends', () => {
    const { ledger, fireAt } = ledgerOf(4);
    const timer = ledger.arm(0, IDLE, 10);
    ledger.move(timer, 50, false);
    ledger.cancel(timer, false);
    expect(ledger.isLive(timer)).toBe(true);
    expect(ledger.verdict()).toMatchObject({ refused: 2, lost: 1 });
    expect(fireAt(10, timer)).toBe(true);
    expect(ledger.verdict()).toMatchObject({ refused: 2, lost: 0, early: 0 });
  });

  test('all of it, too, when more timers were armed than expected', () => {
    const { ledger, fireAt } = ledgerOf(1);
    const timers = Array.from({ length: 5000 }, (_, slot) => ledger.arm(slot, REQUEST, slot));
    expect(timers).toEqual(timers.map((_, index) => index));
    for (const timer of timers) if (timer % 7 > 0) fireAt(timer, timer);
    expect(ledger.slotOf(4999)).toBe(4999);
    expect(ledger.kindOf(4999)).toBe(REQUEST);
    expect(ledger.verdict()).toMatchObject({ fired: 4285, lost: 715, early: 0, doubled: 0 });
  });
});

describe('numbers that are used again', () => {
  const KEEP = 8;

  /** Arms timers and has them fire, as many as told. */
  function ledgerAfter(count: number) {
    const { ledger } = ledgerOf(16, KEEP);
    const numbers = Array.from({ length: count }, (_, i) => {
      const timer = ledger.arm(i, IDLE, 0);
      ledger.fire(timer);
      return timer;
    });
    return { ledger, numbers };
  }

  test('only after so many others have ended, the one that ended longest ago first', () => {
    const { numbers } = ledgerAfter(1000);
    expect(numbers.slice(0, KEEP + 3)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1]);
    for (let i = KEEP + 1; i < 1000; i++) expect(numbers[i]).toBe(numbers[i - KEEP - 1]);
  });

  test('the counts go on over all of them, those that have passed on included', () => {
    const { ledger } = ledgerAfter(1000);
    const live = ledger.arm(5, IDLE, 100);
    const cancelled = ledger.arm(6, IDLE, 100);
    ledger.cancel(cancelled, true);
    ledger.handBack(live, 0);
    expect(ledger.verdict()).toMatchObject({ fired: 1000, handedBack: 1, lost: 0, doubled: 0 });
    expect({ armed: ledger.armed, cancelled: ledger.cancelled }).toEqual({ armed: 1002, cancelled: 1 });
  });

  test('a timer that fires twice is found, also when its number has passed on', () => {
    const { ledger, numbers } = ledgerAfter(10);
    ledger.fire(numbers[9]!);
    const heir = ledger.arm(3, IDLE, 0);
    expect(numbers.indexOf(heir)).toBeGreaterThanOrEqual(0);
    ledger.fire(heir); // for its former holder
    ledger.fire(heir);
    expect(ledger.verdict()).toMatchObject({ doubled: 2, lost: 0 });
  });
});

test('of several loops: sums, the longest of times, percentiles over all', () => {
  /** What a loop came to whose timers fired so many ms after their deadlines, one early and one lost besides. */
  const loop = (factor: number, latenesses: readonly number[]): LoopResult => {
    const { ledger, fireAt } = ledgerOf(16);
    ledger.arm(0, CONNECT, 10);
    for (const late of [-factor, ...latenesses]) ledger.arm(late, CONNECT, 10);
    for (const [at, late] of [-factor, ...latenesses].entries()) fireAt(10 + late, at + 1);
    const counted = { connections: factor, reached: 10 * factor, arrivals: factor, moved: factor, cancelled: factor };
    const timed = { seconds: factor, longestBlock: factor, longestLag: factor, closing: factor };
    return {
      ...{ ...counted, ...timed, peakLive: factor, strayed: factor, checksum: factor * 2 ** 30 },
      ...{ armed: ledger.armed, verdict: ledger.verdict(), latenesses: ledger.latenesses },
      cpu: { thread: factor, process: 5 * factor, source: 'schedstat', waiting: factor },
      wakes: 100 * factor,
      own: { scheduled: factor, delivered: factor, shards: [] },
    };
  };
  const merged = mergedResult([loop(1, [1, 1, 1]), loop(3, [5, 5, 5, 7, 9])]);
  expect(merged).toMatchObject({
    ...{ threads: 2, connections: 4, reached: 40, armed: 12, moved: 4, cancelled: 4, strayed: 4 },
    ...{ seconds: 3, longestBlock: 3, longestLag: 3, closing: 3 },
    checksum: 0, // of 32 bits
    cpu: { thread: 4, process: 15, waiting: 4 },
    wakes: 300, // as the process's CPU: each loop has counted them all
    own: { scheduled: 4, delivered: 4, shards: [] },
    verdict: { fired: 10, early: 2, earliest: 3, lost: 2, lateness: { count: 10, max: 9 } },
  });
  const { p50, p90 } = merged.verdict.lateness;
  expect([Math.floor(p50), Math.floor(p90)]).toEqual([1, 7]);
});
