import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { excepted } from './excepted.ts';
import { furtherTests, laterTests, programAfter, timersTests } from './node-names.ts';
import { notOnWheel, required } from './options.ts';
import { runProgram } from './run-program.ts';

// Node's own tests of its timers, as programs of our own: they know nothing of the face, and pass on Node's timers.

const register = new URL('../../../lib/register.js', import.meta.url);
const passed = { code: 0, output: '' };
const minutes = 20 * 60_000; // for all of them: a program waits for its turn

const tests = [...timersTests, ...furtherTests, ...Object.keys(laterTests)];
const files = readdirSync(fileURLToPath(new URL('programs', import.meta.url)), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /(^|\/)test-[^/]*\.[cm]js$/.test(file))
  .sort();
const nameOf = (file: string) => file.replace(/\.[cm]js$/, '');

describe('the programs', () => {
  test('are one for each test of Node, but for those excepted', () => {
    expect(timersTests.length).toBe(56);
    expect(new Set(tests).size).toBe(56 + 32 + 3);
    const expected = tests.filter((name) => excepted[name] === undefined).map(programAfter);
    expect(files.map(nameOf).sort()).toEqual(expected.sort());
    expect(files.length).toBe(86);
  });

  test('leave out 2 of the 56, of internals, and 3 of the others', () => {
    const names = Object.keys(excepted);
    expect(names.filter((name) => !tests.includes(name))).toEqual([]);
    expect(names.length).toBe(5);
    expect(names.filter((name) => timersTests.includes(name)).length).toBe(2);
  });

  test('are as many as docs/drop-in.md says', () => {
    const text = readFileSync(new URL('../../../docs/drop-in.md', import.meta.url), 'utf8').replace(/\s+/g, ' ');
    expect(text).toContain(
      `for ${56 - 2} of the 56 tests that Node v20 has for its timers, named alike, and for ${files.length - 54} more`,
    );
  });

  test('are named in the tables of options', () => {
    const programs = files.map(nameOf);
    expect([...required, ...notOnWheel].filter((name) => !programs.includes(name))).toEqual([]);
  });
});

const loadingFor = (file: string): string[] =>
  required.includes(nameOf(file)) ? ['--require', fileURLToPath(register)] : ['--import', register.href];

describe.concurrent("registered, on Node's own timers", () => {
  test.each(files)('%s', { timeout: minutes }, async (file) => {
    expect(await runProgram(file, loadingFor(file), {})).toEqual(passed);
  });
});

describe.concurrent('registered, across the take-over by the wheel', () => {
  test.each(files)('%s', { timeout: minutes }, async (file) => {
    expect(await runProgram(file, loadingFor(file), { SHARDWHEEL_TIMERS_FROM: '2' })).toEqual(passed);
  });
});

describe.concurrent('on the wheel', () => {
  const onWheel = files.filter((file) => !notOnWheel.includes(nameOf(file)));
  test.each(onWheel)('%s', { timeout: minutes }, async (file) => {
    expect(await runProgram(file, loadingFor(file), { SHARDWHEEL_TIMERS: 'always' })).toEqual(passed);
  });
});

const major = Number.parseInt(process.versions.node, 10);
const onNode = files.filter((file) => (laterTests[nameOf(file)]?.passesSince ?? 0) <= major);

describe.runIf(process.env.SHARDWHEEL_SLOW === '1')('on node:timers', { concurrent: true }, () => {
  test.each(onNode)('%s', { timeout: minutes }, async (file) => {
    expect(await runProgram(file, [])).toEqual(passed);
  });
});
