import { describe, expect, test } from 'vitest';
import { Ledger } from '../../tools/replay/ledger.ts';
import { StepClock } from '../../tools/replay/step-clock.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT } from '../../tools/replay/timer-kind.ts';

/** A ledger whose clock stands at 0 until `fireAt` sets it and fires a timer. */
function ledgerOf(expected: number) {
  let now = 0;
  const clock = new StepClock(() => now);
  const ledger = new Ledger(expected, clock);
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
    const clock = new StepClock(() => 0);
    const ledger = new Ledger(16, clock, KEEP);
    const numbers: number[] = [];
    for (let i = 0; i < count; i++) {
      numbers.push(ledger.arm(i, IDLE, 0));
      ledger.fire(numbers[i]!);
    }
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
