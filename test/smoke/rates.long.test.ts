import { describe, expect, it } from 'vitest';
import { parseOptions } from '../../bench/replay/options.ts';
import { replayDefaults } from '../../bench/suites/rates/replay-load.ts';
import { runNode } from '../fixtures/child-process.ts';

it('replays as npm start does', () => {
  expect(parseOptions([])).toMatchObject(replayDefaults);
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
