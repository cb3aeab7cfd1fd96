import { describe, expect, test } from 'vitest';
import { parseTimer } from '../../tools/plan/parse-timer.ts';
import type { PlannedTimer } from '../../tools/plan/planned-load.ts';
import { UsageError } from '../../tools/replay/command-line.ts';
import { parseOptions } from '../../tools/replay/options.ts';
import { parseSoakOptions } from '../../tools/soak/options.ts';
import { runNode } from '../fixtures/child-process.ts';

/** What was typed, and what the one line must say about it. */
const badFlags: [argv: string[], says: RegExp][] = [
  [['--cps', 'many'], /--cps.*'many'.*whole number from 1 to/],
  [['--cps', '1.5'], /--cps.*'1.5'.*whole/],
  [['--cps', 'NaN'], /--cps.*'NaN'/],
  [['--cps', ''], /--cps.*''/],
  [['--cps'], /--cps.*argument missing/],
  [['--seconds', '1e9'], /--seconds.*'1e9'/],
  [['--cps', '10000000', '--seconds', '60'], /at most 20000000 connections, got 600000000/],
  [['--shards', '2.5'], /--shards.*'2.5'/],
  [['--threads', '65'], /--threads.*'65'.*whole number from 1 to 64/],
  [['--seed', '-1'], /--seed.*'-1'/],
  [['--requests', '0.5'], /--requests.*'0.5'/],
  [['--hang', '101'], /--hang.*'101'/],
  [['--tick', '0'], /--tick.*'0'/],
  [['--idle-timeout', 'soon'], /--idle-timeout.*'soon'/],
  [['--wheels', 'default'], /unknown option '--wheels'.*--wheel/],
  [['--frobnicate'], /unknown option '--frobnicate'/],
  [['50000'], /too many arguments/],
];

describe('flags of a replay', () => {
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

  test('of a soak, without any: 20 minutes at 50,000 connections per second, a crash every 2 s', () => {
    expect(parseSoakOptions([])).toMatchObject({ minutes: 20, cps: 50_000, crashEvery: 2, burst: 20_000 });
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

describe('commands', () => {
  const programs = { start: 'dist/tools/replay/main.js', soak: 'dist/tools/soak/main.js', plan: 'lib/cli.js' };

  test.each<[keyof typeof programs, string, string[]]>([
    ['start', '--cps', ['--cps', 'many']],
    ['start', '--wheels', ['--wheels', 'default']],
    ['start', 'square', ['--wheel', 'square']],
    ['plan', '--cps', ['plan', '--cps', '0']],
    ['plan', '--loops', ['plan', '--loops', '1.5']],
    ['plan', 'a time must be a number with ms, s, m or h', ['plan', '--lifetime', '8']],
    ['plan', 'cannot read the costs in no-such-file.json', ['plan', '--costs', 'no-such-file.json']],
    ['plan', 'cannot read the costs', ['plan', '--costs', 'lib/cli.js']],
    ['plan', 'too many arguments', ['plan', 'what']],
    ['soak', '--clients', ['--clients', '65']],
    ['soak', '--minutes', ['--minutes', '0']],
    ['soak', '--crash-every', ['--crash-every', '-1']],
    ['soak', '--shards', ['--shards', '0']],
    ['soak', '--hours', ['--hours', '2']],
    ['soak', '--operations', ['wheel', '--operations', '0']],
    ['soak', '--threads', ['wheel', '--threads', '65']],
    ['soak', '--minutes', ['wheel', '--minutes', '2']],
  ])('%s says of %s in one line what is wrong, and ends with code 2: %j', async (program, says, argv) => {
    const { code, stdout, stderr } = await runNode([programs[program], ...argv]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
    expect(stderr).toContain(says);
  });

  test.each<[keyof typeof programs, string[], string[]]>([
    ['start', ['--help'], ['--cps <n>', 'npm start -- --cps 50000']],
    [
      'plan',
      ['plan', '--help'],
      ['Usage: npx shardwheel plan [options]', '--cps', '--loops', '--memory', '--costs', 'name=delay[,held=time]'],
    ],
  ])('%s %j shows the flags and succeeds', async (program, argv, parts) => {
    const { code, stdout, stderr } = await runNode([programs[program], ...argv]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const part of parts) expect(stdout).toContain(part);
  });
});
