import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterAll, describe, expect, it } from 'vitest';
import { readReleases } from '../../bench/engine/results-file.ts';
import { replayDefaults } from '../../bench/suites/rates/replay-load.ts';
import { parseOptions } from '../../tools/replay/options.ts';
import { runNode } from '../fixtures/child-process.ts';

const folder = mkdtempSync(`${tmpdir()}/rates-`);
afterAll(() => rmSync(folder, { recursive: true }));

it('replays as npm start does', () => {
  expect(parseOptions([])).toMatchObject(replayDefaults);
});

describe('the program that measures rates alone', () => {
  const program = 'dist/bench/suites/rates/main.js';

  it('writes what is picked, by release', async () => {
    const file = `${folder}/rates.json`;
    const { code, stdout } = await runNode([program, 'pairs-100/s', '--quick', '--rounds', '2', '--by-release', file]);
    expect([code, stdout]).toEqual([0, expect.stringContaining('Written')]);
    const [release] = process.versions.node.split('.');
    const { command, comparisons, rounds } = readReleases(readFileSync(file, 'utf8'))[release];
    expect([command, rounds]).toEqual(['npm run bench -- rates pairs-100/s --quick --rounds 2', 2]);
    const [{ suite, rows }, ...others] = comparisons;
    expect([suite, others]).toEqual(['rates pairs-100/s', []]);
    expect(new Set(rows.map(({ subject }) => subject)).size).toBe(6);
  });

  it('says how it is called', async () => {
    const { code, stderr } = await runNode([program, 'pairs-100/s']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--by-release')]);
  });
});

describe('a load refuses timers that', () => {
  const loads = [
    [
      'are lost',
      'fires',
      'setTimeout: (callback, delay, timer) => (delay > 100 && delay < 500 ? {} : set(callback, delay, timer))',
      'chains have ended',
    ],
    [
      'fire twice',
      'fires',
      'setTimeout: (callback, delay, timer) => (set(callback, delay, timer), set(callback, delay, timer))',
      'fired twice',
    ],
    [
      'fire though they are cancelled',
      'pairs',
      'clearTimeout: () => undefined, setTimeout: (callback, delay, timer) => set(callback, delay > 2000 ? 1 : delay, timer)',
      'was to be cancelled',
    ],
    [
      'are doubled in the replay',
      'replay',
      'setTimeout: (callback, delay, timer) => (set(callback, 1, timer), set(callback, 1, timer))',
      '"doubled"',
    ],
  ] as const;

  it.each(loads)('%s', async (_, load, functions, why) => {
    const preload = `data:text/javascript,${encodeURIComponent(
      `const set = globalThis.setTimeout; Object.assign(globalThis, { ${functions} });`,
    )}`;
    const task = JSON.stringify({ load, subject: 'node:timers', rate: 1000, quick: true });
    const { code, stderr } = await runNode(['--import', preload, 'dist/bench/suites/rates/rate-process.js', task]);
    expect([code, stderr]).toEqual([1, expect.stringContaining(why)]);
  });
});
