import { describe, expect, test } from 'vitest';
import { checkInvariants } from '../../src/extras/wheels/check-invariants.ts';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import type { PinnedWheel } from '../../src/extras/wheels/pinned-wheel.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { subjects } from './conformance-subjects.ts';

/** What is no time, though most of it compares with numbers as `time` does. */
const noTimes = (time: number): unknown[] => [
  String(time),
  BigInt(Math.ceil(time)),
  new Date(Math.min(time, 8.64e15)),
  { valueOf: () => time },
  [time],
  null,
  true,
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
];

/** The last tick that a clock reaches; where doubles are coarse, there is none that begins so late. */
const LAST = Number.MAX_SAFE_INTEGER - 1;

describe.each(subjects)('the clock: $name', ({ config, slack, strict, bounded }) => {
  const p = config.engine === 'cascading' ? config.precision : config.levels[0].precision;
  const make = () => createWheel<string>(config);
  const at = (tick: number) => tick * p;

  test('never runs back: a limit of 0 after a quiet advance', () => {
    const wheel = make();
    const nows: number[] = [];
    const handler = () => nows.push(wheel.now);
    wheel.schedule(at(100), 'a');
    // no snapshot between them: it would wake the wheel
    for (const tick of [10, 50]) wheel.advanceTo(at(tick), handler);
    expect(wheel.advanceTo(at(200), handler, 0)).toMatchObject({ fired: 0, complete: false });
    wheel.schedule(strict ? wheel.now : at(20), 'b');
    expect(wheel.nextExpiration()).toBe(wheel.intervalNumberStart(51));
    checkInvariants(wheel.snapshot());
    expect(wheel.advanceTo(at(200), handler)).toMatchObject({ fired: 2, complete: true });
    expect(nows).toEqual([wheel.intervalNumberStart(51), wheel.intervalNumberStart(100 + slack)]);
  });

  test('takes numbers only, whether the wheel is quiet or not', () => {
    const wheel = make();
    const handler = () => expect.unreachable();
    wheel.schedule(at(100), 'a');
    for (const isQuiet of [true, false]) {
      wheel.advanceTo(at(10), handler);
      if (!isQuiet) wheel.cancel(wheel.schedule(at(90), 'b'));
      for (const time of noTimes(at(30))) {
        expect(() => wheel.advanceTo(time as number, handler)).toThrow(
          expect.objectContaining({ code: 'ERR_INVALID_DEADLINE', deadline: time }),
        );
        expect(wheel.now).toBe(at(10));
      }
      for (const limit of ['5', null, 5n, -1, Number.NaN]) {
        expect(() => wheel.advanceTo(at(30), handler, limit as number)).toThrow('limit');
      }
      expect(() => wheel.advanceTo(at(30), undefined as never)).toThrow('handler');
    }
    checkInvariants(wheel.snapshot());
  });

  test.each(['its limit', 'a handler that threw'])('after a call that was cut short by %s', (cause) => {
    const wheel = make();
    const fired: string[] = [];
    let isBroken = cause !== 'its limit';
    const handler = (value: string) => {
      fired.push(value);
      if (isBroken) throw new Error('from the handler');
    };
    for (const name of ['a', 'b', 'c']) wheel.schedule(at(7), name);
    wheel.schedule(at(8), 'd');
    if (isBroken) expect(() => wheel.advanceTo(at(12), handler)).toThrow('from the handler');
    else expect(wheel.advanceTo(at(12), handler, 1).complete).toBe(false);
    isBroken = false;
    const { now } = wheel;
    expect(now).toBe(wheel.intervalNumberStart(7 + slack));

    // The past does nothing, whatever is due.
    for (const past of [now - p / 4, now - p, 0, -at(5)]) {
      expect(wheel.advanceTo(past, handler)).toMatchObject({ fired: 0, complete: true });
    }
    expect([wheel.now, wheel.size, fired]).toEqual([now, 3, ['a']]);
    // The present goes on with the tick at which the call stopped, and the same time with the call.
    expect(wheel.advanceTo(now, handler, 1)).toMatchObject({ fired: 1, complete: false });
    expect(wheel.advanceTo(now, handler)).toMatchObject({ fired: 1, complete: true });
    expect([wheel.now, fired]).toEqual([now, ['a', 'b', 'c']]);
    expect(wheel.advanceTo(now, handler)).toMatchObject({ fired: 0, complete: true });
    expect(wheel.advanceTo(at(12), handler)).toMatchObject({ fired: 1, complete: true });
    expect([wheel.now, fired]).toEqual([at(12), ['a', 'b', 'c', 'd']]);
    checkInvariants(wheel.snapshot());
  });

  test.each([LAST - 2, LAST - 1, LAST])('goes wherever nextExpiration says, tick %i', (tick) => {
    const wheel = make();
    wheel.advanceTo(wheel.intervalNumberStart(LAST - 9), () => {});
    const deadline = wheel.intervalNumberStart(tick - slack);
    if (bounded && deadline === wheel.upperBound) {
      expect(tick - slack).toBe(LAST);
      expect(() => wheel.schedule(deadline, 'a')).toThrow(expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR' }));
      return;
    }
    wheel.schedule(deadline, 'a');
    const next = wheel.intervalNumberStart(tick);
    const isReached = next < wheel.intervalNumberStart(LAST + 1);
    expect(wheel.nextExpiration()).toBe(isReached ? next : undefined);
    if (!isReached) return;
    expect(wheel.advanceTo(next, () => {})).toMatchObject({ fired: 1, complete: true, nextExpiration: undefined });
    checkInvariants(wheel.snapshot());
  });

  test('what is due beyond its last tick waits for ever, or is refused', () => {
    const wheel = make();
    const far = [LAST + 1 - slack, LAST + 2, 2 ** 60].map((n) => wheel.intervalNumberStart(n));
    for (const deadline of [...far, 1e300, Number.MAX_VALUE]) {
      if (!bounded) wheel.schedule(deadline, 'far');
      else expect(() => wheel.schedule(deadline, 'far')).toThrow('upper bound');
    }
    expect([wheel.size, wheel.nextExpiration()]).toEqual([bounded ? 0 : 5, undefined]);
    const last = wheel.intervalNumberStart(LAST - 1);
    expect(wheel.advanceTo(last, () => expect.unreachable())).toMatchObject({ complete: true });
    expect(() => wheel.advanceTo(wheel.intervalNumberStart(LAST + 1), () => {})).toThrow('less than 2^53 - 1 ticks');
    expect(wheel.now).toBe(last);
    checkInvariants(wheel.snapshot());
    for (const { id } of [...wheel]) expect(wheel.cancel(id)).toBe(true);
    expect(wheel.size).toBe(0);
  });
});

test('what a coarse level would hand over beyond the last tick waits for ever', () => {
  const levels = [
    { precision: 1, spokes: 4 },
    { precision: 2 ** 40, spokes: 2 ** 13 },
  ];
  const wheel = createWheel<string>({ engine: 'pinned', levels }) as PinnedWheel<string>;
  wheel.advanceTo(2 ** 53 - 2 ** 41, () => {});
  wheel.schedule(2 ** 53 - 100, 'far');
  expect(wheel.nextExpiration()).toBeUndefined();
  expect(wheel.scheduleBestFit(2 ** 60, 'farther').wheelDeadline).toBe(wheel.upperBound - 1);
  wheel.schedule(2 ** 53 - 2 ** 40, 'near');
  expect(wheel.nextExpiration()).toBe(2 ** 53 - 2 ** 40);
  expect(wheel.advanceTo(LAST, () => {})).toMatchObject({ fired: 1, complete: true, nextExpiration: undefined });
  checkInvariants(wheel.snapshot());
});

test.each([2 ** 52 + 1, 2 ** 52 + 3])(
  'near the end, where ticks share a time, the bound is refused: start %i',
  (start) => {
    const configs: WheelConfig[] = [
      { engine: 'cascading', precision: 1, levelBits: [10, 10], overflow: 'throw' },
      { engine: 'pinned', levels: [{ precision: 1, spokes: 1024 }] },
    ];
    let shared = 0;
    for (const config of configs) {
      for (let tick = LAST - 12; tick < LAST; tick++) {
        const wheel = createWheel<string>(config, { start });
        wheel.advanceTo(wheel.intervalNumberStart(tick), () => {});
        const bound = wheel.upperBound;
        if (wheel.intervalNumberStart(wheel.intervalNumber(bound) - 1) === bound) shared++;
        expect(() => wheel.schedule(bound, 'x')).toThrow(expect.objectContaining({ code: 'ERR_DEADLINE_TOO_FAR' }));
        if (config.engine === 'pinned' && wheel.now < wheel.intervalNumberStart(LAST - 4)) {
          const { wheelDeadline } = (wheel as PinnedWheel<string>).scheduleBestFit(2 ** 60, 'y');
          expect(wheelDeadline).toBeLessThan(bound);
          expect(wheel.size).toBe(1);
        }
        checkInvariants(wheel.snapshot());
      }
    }
    expect(shared).toBeGreaterThan(0);
  },
);

test('where several ticks share a time, a time that has passed moves a call that was cut short no further', () => {
  const start = 2 ** 52 + 3;
  const wheel = createWheel<string>({ engine: 'cascading', precision: 1, levelBits: [3, 4] }, { start });
  const time = 13510798882111124; // of three ticks
  wheel.advanceTo(time - 20, () => {});
  wheel.schedule(time, 'a');
  wheel.schedule(time + 6, 'b');
  const fired: string[] = [];
  const note = (value: string) => fired.push(value);
  expect(wheel.advanceTo(time + 100, note, 1).complete).toBe(false);
  wheel.advanceTo(start, note);
  wheel.schedule(start, 'late');
  wheel.advanceTo(time, note);
  expect(fired).toEqual(['a', 'late']);
});
