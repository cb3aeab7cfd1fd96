import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { type DrawnExit, drawExit } from './drawn-exit.ts';
import { differsAgain, type Face, runOnFace } from './run-on-face.ts';

/** Each is two processes. */
const PROGRAMS = process.env.SHARDWHEEL_SLOW === undefined ? 30 : 1000;
const AT_ONCE = 2;
/**
 * Between timers on the two sides of a take-over no order is defined. What was set before it stays with Node, so both
 * sides fire in one turn only where a timer fires again.
 */
const ACROSS = 'registered, across the take-over';
const own = [
  'shardwheel/timers',
  'without process._tickCallback',
  'registered',
  'registered, Node first',
  ACROSS,
] as const satisfies readonly Face[];

/**
 * How a program has ended. How many immediates lie between two timers is not defined: they are counted, if no end has
 * cut them off.
 */
async function endingOf(program: DrawnExit, face: Face) {
  const { code, stdout } = await runOnFace('run-exit.mjs', face, { argument: program });
  const lines = stdout.split('\n');
  const others = lines.filter((line) => line !== 'immediate');
  const isWhole = others.at(-3)?.startsWith('beforeExit'); // then the exit, and what is behind the last line's end
  return { code, immediates: isWhole && lines.length - others.length, lines: others };
}

test(`random programs end as they do in Node (seed ${SEED})`, async () => {
  const draws = new Draws(SEED);
  const codes = new Map<number | null, number>();
  let ran = 0;
  let beforeExits = 0;
  let byChance = 0;
  const runSome = async (): Promise<void> => {
    while (ran < PROGRAMS) {
      const face = own[ran % own.length];
      ran += 1;
      const program = drawExit(draws, face === ACROSS);
      const expected = await endingOf(program, 'node:timers');
      const ending = await endingOf(program, face);
      if (!isDeepStrictEqual(ending, expected)) {
        byChance += 1; // a machine that others use: a callback comes when the loop is about to end, or after that
        if (await differsAgain((subject) => endingOf(program, subject), face))
          expect(ending, `${face}: ${JSON.stringify(program)}`).toEqual(expected);
      }
      codes.set(expected.code, (codes.get(expected.code) ?? 0) + 1);
      beforeExits += expected.lines.filter((line) => line.startsWith('beforeExit')).length;
    }
  };
  // All are awaited, also where one has failed: a program that goes on would outlive this file.
  const runs = await Promise.allSettled(Array.from({ length: AT_ONCE }, runSome));
  for (const run of runs) if (run.status === 'rejected') throw run.reason;
  expect(ran).toBe(PROGRAMS);
  expect(byChance).toBeLessThanOrEqual(2 + PROGRAMS * 0.01);
  expect(codes.has(null)).toBe(false);
  expect(codes.size).toBeGreaterThan(2);
  expect(beforeExits).toBeGreaterThan(PROGRAMS / 2);
});
