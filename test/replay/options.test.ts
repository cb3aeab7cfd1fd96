import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../tools/replay/command-line.ts';
import { parseOptions } from '../../tools/replay/options.ts';

const main = fileURLToPath(new URL('../../dist/tools/replay/main.js', import.meta.url));
const run = (...argv: string[]) => spawnSync(process.execPath, [main, ...argv], { encoding: 'utf8' });

/** What was typed, and what the one line must say about it. */
const badFlags: [argv: string[], says: RegExp][] = [
  [['--cps', 'many'], /--cps.*'many'.*whole number from 1 to/],
  [['--cps', '0'], /--cps.*'0'/],
  [['--cps', '-5'], /--cps.*'-5'/],
  [['--cps', '1.5'], /--cps.*'1.5'.*whole/],
  [['--cps', 'NaN'], /--cps.*'NaN'/],
  [['--cps', 'Infinity'], /--cps.*'Infinity'/],
  [['--cps', ''], /--cps.*''/],
  [['--cps'], /--cps.*argument missing/],
  [['--seconds', '0'], /--seconds.*'0'/],
  [['--seconds', '1e9'], /--seconds.*'1e9'/],
  [['--cps', '10000000', '--seconds', '60'], /at most 20000000 connections, got 600000000/],
  [['--shards', '-1'], /--shards.*'-1'/],
  [['--shards', '2.5'], /--shards.*'2.5'/],
  [['--threads', '0'], /--threads.*'0'.*whole number from 1 to 64/],
  [['--threads', '65'], /--threads.*'65'.*whole number from 1 to 64/],
  [['--threads', '1.5'], /--threads.*'1.5'.*whole/],
  [['--threads', 'all'], /--threads.*'all'/],
  [['--seed', '-1'], /--seed.*'-1'/],
  [['--lifetime', '0'], /--lifetime.*'0'/],
  [['--requests', '0.5'], /--requests.*'0.5'/],
  [['--hang', '101'], /--hang.*'101'/],
  [['--tick', '0'], /--tick.*'0'/],
  [['--idle-timeout', 'soon'], /--idle-timeout.*'soon'/],
  [['--wheels', 'default'], /unknown option '--wheels'.*--wheel/],
  [['--frobnicate'], /unknown option '--frobnicate'/],
  [['50000'], /too many arguments/],
];

describe('flags', () => {
  test('without any: 100,000 connections per second for 10 s, compared with Node', () => {
    expect(parseOptions([])).toMatchObject({
      cps: 100_000,
      seconds: 10,
      idleTimeout: 60,
      native: true,
      threads: 1,
      wheel: 'default',
    });
  });

  test('each reaches the replay', () => {
    const argv =
      '--cps 7 --seconds 0.5 --shards 0 --threads 3 --lifetime 3 --requests 2.5 --seed 0 --hang 0 --no-native --json x.json';
    const expected = {
      cps: 7,
      seconds: 0.5,
      shards: 0,
      threads: 3,
      lifetime: 3,
      requests: 2.5,
      seed: 0,
      hang: 0,
      native: false,
      json: 'x.json',
    };
    expect(parseOptions(argv.split(' '))).toMatchObject(expected);
  });

  test.each(badFlags)('%j is refused in one line', (argv, says) => {
    expect(() => parseOptions(argv)).toThrow(UsageError);
    expect(() => parseOptions(argv)).toThrow(says);
    expect(() => parseOptions(argv)).not.toThrow(/\n/);
  });
});

describe('the command', () => {
  test.each([
    ['--cps', 'many'],
    ['--wheels', 'default'],
    ['--wheel', 'square'],
    ['--threads', 'all'],
  ])('%s %s: one line on stderr, exit code 2', (...argv) => {
    const { status, stdout, stderr } = run(...argv);
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect(stderr).toContain(argv[1] === 'square' ? 'square' : argv[0]);
    expect(stdout).toBe('');
    expect(status).toBe(2);
  });

  test('--help shows examples and succeeds', () => {
    const { status, stdout, stderr } = run('--help');
    expect(stdout).toContain('--cps <n>');
    expect(stdout).toContain('npm start -- --cps 50000');
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
