import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { type DrawnProgram, drawProgram, type Kind } from './drawn-program.ts';
import { differsAgain, type Face, runOnFace } from './run-on-face.ts';

const isSlow = process.env.SHARDWHEEL_SLOW !== undefined;
/** Programs for each face. */
const PROGRAMS = isSlow ? 12_000 : 150;
const AT_ONCE = 50;
const A_PROCESS = 1500;
/** Between timers on the two sides of a take-over no order is defined: see test/timers/register/across. */
const own = [
  'shardwheel/timers',
  'without process._tickCallback',
  'inline',
  'registered',
  'registered, Node first',
  'profiled',
] as const satisfies readonly Face[];

/** What programs/run-ordered.mjs prints of each program. */
interface Found {
  log: string[];
  immediates: string[];
  ending: unknown[];
  isOver: boolean;
  latest: number;
}

async function run(groups: readonly DrawnProgram[][], face: Face): Promise<Found[]> {
  const { code, stdout, stderr } = await runOnFace('run-ordered.mjs', face, { input: groups });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

/** Runs programs on Node and on a face, many in a process; what both have found of each. */
async function* runBoth(drawGroup: () => DrawnProgram[], face: Face): AsyncGenerator<[DrawnProgram, Found, Found]> {
  for (;;) {
    const groups = Array.from({ length: Math.min(A_PROCESS, PROGRAMS) / AT_ONCE }, drawGroup);
    const [expected, got] = await Promise.all([run(groups, 'node:timers'), run(groups, face)]);
    for (const [index, program] of groups.flat().entries()) yield [program, expected[index], got[index]];
  }
}

const seen = ({ log, immediates, ending, isOver }: Found) => ({ log, immediates, ending, isOver });

/** Compares what was found; returns how often that was by chance: see `differsAgain`. */
async function compare(program: DrawnProgram, expected: Found, got: Found, face: Face): Promise<number> {
  if (JSON.stringify(seen(got)) === JSON.stringify(seen(expected))) return 0;
  const again = async (subject: Face) => (await run([[program]], subject)).map(seen);
  if (await differsAgain(again, face)) expect(seen(got), JSON.stringify(program)).toEqual(seen(expected));
  return 1;
}

/** Programs that may differ by chance, on a machine that others use: some, and of many this share. */
const byChanceOf = (programs: number): number => 3 + 0.01 * programs;

/** Delays that are one to Node, so that all timers of a program stand in one line: the order is defined throughout. */
const oneDelay = [
  [1, 0, -3, 'none', 'NaN', 0.7, 1.9, '1', 'x', null],
  [4, 4.2, '4', 4.999],
];

test.each(own)(`%s: random programs of one delay do what they do in Node (seed ${SEED})`, async (face) => {
  const draws = new Draws(SEED);
  const group = () => {
    const kind: Kind = { delays: draws.pick(oneDelay), isNested: true, throws: draws.below(3) === 0 };
    return Array.from({ length: AT_ONCE }, () => drawProgram(draws, kind));
  };
  let ran = 0;
  let events = 0;
  let byChance = 0;
  for await (const [program, expected, got] of runBoth(group, face)) {
    expect(expected.isOver, JSON.stringify(program)).toBe(true);
    byChance += await compare(program, expected, got, face);
    expect(byChance, JSON.stringify(program)).toBeLessThanOrEqual(byChanceOf(PROGRAMS));
    ran += 1;
    events += expected.log.length;
    if (ran >= PROGRAMS) break;
  }
  expect(ran).toBe(PROGRAMS);
  expect(events).toBeGreaterThan(PROGRAMS * 10);
});

describe('random programs of several delays', () => {
  /** Far enough apart that the order does not hang on how long setting takes, nor their sums: lateness is looked at. */
  const apart: Kind = { delays: [50, 130, 310], isNested: false, throws: false };
  const LATEST = 15;
  const COMPARED = isSlow ? 3000 : 50;

  test.each(own)(`%s: they fire in the order of Node (seed ${SEED})`, async (face) => {
    const draws = new Draws(SEED + 1);
    const group = () => Array.from({ length: AT_ONCE }, () => drawProgram(draws, apart));
    let ran = 0;
    let compared = 0;
    let byChance = 0;
    for await (const [program, expected, got] of runBoth(group, face)) {
      ran += 1;
      if (Math.max(expected.latest, got.latest) < LATEST) {
        byChance += await compare(program, expected, got, face);
        expect(byChance, JSON.stringify(program)).toBeLessThanOrEqual(byChanceOf(COMPARED));
        compared += 1;
      }
      if (compared >= COMPARED || ran >= COMPARED * 60) break;
    }
    expect(compared).toBe(COMPARED);
  });
});
