import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { drawProgram, type Program, runProgram } from './random-program.ts';
import { subjects } from './subjects.ts';

const PROGRAMS = process.env.SHARDWHEEL_SLOW === undefined ? 200 : 40_000;
const AT_ONCE = 20;
const [{ timers: node }, ...own] = subjects;

/** Delays that are one to Node, so that all timers of a program stand in one line: the order is defined throughout. */
const oneDelay = [
  [1, 0, -3, undefined, Number.NaN, 0.7, 1.9, '1'],
  [4, 4.2, '4', 4.999],
];

test.each(own)(`$name: random programs of one delay do what they do in Node (seed ${SEED})`, async ({ timers }) => {
  const draws = new Draws(SEED);
  let ran = 0;
  let events = 0;
  for (let i = 0; i < PROGRAMS; i += AT_ONCE) {
    const programs = Array.from({ length: AT_ONCE }, () => drawProgram(draws, draws.pick(oneDelay), true));
    const logs = (face: typeof node) => Promise.all(programs.map((program) => runProgram(program, face)));
    const [expected, got] = [await logs(node), await logs(timers)];
    for (const [index, program] of programs.entries()) {
      expect(got[index], JSON.stringify(program)).toEqual(expected[index]);
      ran += 1;
      events += expected[index].length;
    }
  }
  expect(ran).toBe(PROGRAMS);
  expect(events).toBeGreaterThan(PROGRAMS * 10);
});

/** Far enough apart that the order does not hang on how long setting takes: that is looked at. */
const apart = [1, 70, 140];
const LONGEST_SETTING = 30;

describe('random programs of several delays', () => {
  /** Undefined where the machine was so busy that setting took too long for the order to be defined. */
  async function timely(program: Program, face: typeof node): Promise<string[] | undefined> {
    const began = performance.now();
    const log = runProgram(program, face);
    return performance.now() - began < LONGEST_SETTING ? await log : await log.then(() => undefined);
  }

  test.each(own)(`$name: set in one turn, they fire in the order of Node (seed ${SEED})`, async ({ timers }) => {
    const draws = new Draws(SEED + 1);
    let compared = 0;
    for (let round = 0; round < 200 && compared < 100; round++) {
      const programs = Array.from({ length: 10 }, () => drawProgram(draws, apart, false));
      const logs = (face: typeof node) => Promise.all(programs.map((program) => timely(program, face)));
      const [expected, got] = [await logs(node), await logs(timers)];
      for (const [index, program] of programs.entries()) {
        if (expected[index] === undefined || got[index] === undefined) continue;
        expect(got[index], JSON.stringify(program)).toEqual(expected[index]);
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThanOrEqual(100);
  });
});
