import { describe, expect, test } from 'vitest';
import { parseTimer } from '../../tools/plan/parse-timer.ts';
import {
  firesPerConnection,
  liveTimers,
  operationsPerConnection,
  type PlannedTimer,
  proxyTimers,
} from '../../tools/plan/planned-load.ts';
import { UsageError } from '../../tools/replay/command-line.ts';

describe('a planned load', () => {
  const idle: PlannedTimer = { name: 'idle', delay: 60_000, starts: 1, moves: 3, held: 8000, fires: 0 };
  const wait: PlannedTimer = { name: 'wait', delay: 1000, starts: 2, moves: 0, held: 0, fires: 1 };

  test('has as many timers live as start in their lifetime', () => {
    expect(liveTimers({ cps: 100, timers: [idle] })).toBe(800);
    expect(liveTimers({ cps: 100, timers: [wait] })).toBe(200);
    expect(liveTimers({ cps: 100, timers: [idle, wait] })).toBe(1000);
  });

  test('counts starts, moves and cancellations, and what comes due apart', () => {
    expect(operationsPerConnection({ cps: 1, timers: [idle, wait] })).toBe(5 + 2);
    expect(firesPerConnection({ cps: 1, timers: [idle, wait] })).toBe(2);
  });

  test('is that of a proxy by default: four kinds, six starts, three moves, one that fires', () => {
    const timers = proxyTimers(8000);
    expect(timers.map(({ name }) => name)).toEqual(['connect', 'idle', 'request', 'time-wait']);
    expect(operationsPerConnection({ cps: 1, timers })).toBeCloseTo(6 + 3 + 5, 1);
    expect(firesPerConnection({ cps: 1, timers })).toBeCloseTo(1, 1);
  });
});

describe('a timer on the command line', () => {
  test.each<[string, Partial<PlannedTimer>]>([
    ['idle=60s', { name: 'idle', delay: 60_000, starts: 1, moves: 0, held: 8000, fires: 0 }],
    ['idle=1m,held=2.5s,moves=3', { delay: 60_000, held: 2500, moves: 3 }],
    ['ping=250ms,starts=4,fires=100%', { delay: 250, starts: 4, fires: 1 }],
    ['long=1h,fires=0.5', { delay: 3_600_000, fires: 0.005 }],
    ['short=900ms', { held: 600 }], // held for the connection's lifetime, but for no longer than it can be
  ])('%s', (text, expected) => {
    expect(parseTimer(text, 8000)).toMatchObject(expected);
  });

  test.each([
    ['idle', 'a timer is name=delay'],
    ['=3s', 'a timer is name=delay'],
    ['idle=60', "a time must be a number with ms, s, m or h, from 0ms to 24h, got '60'"],
    ['idle=-1s', "got '-1s'"],
    ['idle=25h', "got '25h'"],
    ['idle=1s,moves=many', "moves must be a number from 0 to 10000, got 'many'"],
    ['idle=1s,fires=101', "fires must be a number from 0 to 100, got '101'"],
    ['idle=1s,starts=', "starts must be a number from 0.001 to 10000, got ''"],
    ['idle=1s,hold=2s', "a timer has held, starts, moves and fires, got 'hold'"],
    ['idle=1s,held=2s', 'idle would fire before it is moved or cancelled'],
  ])('%s is refused: %s', (text, message) => {
    expect(() => parseTimer(text, 8000)).toThrow(UsageError);
    expect(() => parseTimer(text, 8000)).toThrow(message);
  });
});
