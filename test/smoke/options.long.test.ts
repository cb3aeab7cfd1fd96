import { describe, expect, test } from 'vitest';
import { UsageError } from '../../bench/replay/command-line.ts';
import { parseOptions } from '../../bench/replay/options.ts';
import { parseTimer } from '../../tools/plan/parse-timer.ts';
import { parsePlanOptions } from '../../tools/plan/plan-options.ts';
import type { PlannedTimer } from '../../tools/plan/planned-load.ts';
import { parseSoakOptions } from '../../tools/soak/options.ts';
import { parseWheelSoakOptions } from '../../tools/soak/wheel/wheel-soak-options.ts';
import { runNode } from '../fixtures/child-process.ts';

const parsers = {
  replay: parseOptions,
  soak: parseSoakOptions,
  'soak wheel': parseWheelSoakOptions,
  plan: parsePlanOptions,
};

/** What was typed, and what the one line must say about it. */
const badFlags: [program: keyof typeof parsers, flags: string, says: RegExp][] = [
  ['replay', '--cps many', /--cps.*'many'.*whole number from 1 to/],
  ['replay', '--cps 1.5', /--cps.*'1.5'.*whole/],
  ['replay', '--cps ', /--cps.*''/],
  ['replay', '--cps', /--cps.*argument missing/],
  ['replay', '--cps 10000000 --seconds 60', /at most 20000000 connections, got 600000000/],
  ['replay', '--shards 2.5', /--shards.*'2.5'/],
  ['replay', '--threads 65', /--threads.*'65'.*whole number from 1 to 64/],
  ['replay', '--loops 0', /--loops.*'0'.*whole number from 1 to 64/],
  ['replay', '--loops 2 --shards 0', /^--loops 2 is for the column with shards, which --shards 0 leaves out$/],
  ['replay', '--no-inline --shards 0', /leave nothing of shardwheel to measure/],
  ['replay', '--seed -1', /--seed.*'-1'/],
  ['replay', '--idle-timeout soon', /--idle-timeout.*'soon'/],
  ['replay', '--wheel square', /--wheel.*'square'/],
  ['replay', '--wheels default', /unknown option '--wheels'.*--wheel/],
  ['replay', '50000', /too many arguments/],
  ['plan', '--loops 1.5', /--loops/],
  ['plan', '--lifetime 8', /a time must be a number with ms, s, m or h/],
  ['soak', '--crash-every -1', /--crash-every/],
  ['soak', '--hours 2', /--hours/],
  ['soak wheel', '--operations 0', /--operations/],
];

test.each(badFlags)('%s %s is refused in one line', (program, flags, says) => {
  const parse = () => parsers[program](flags.split(' '));
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(says);
  expect(parse).not.toThrow(/\n/);
});

test('without flags: the replay that the README shows, and a soak of 20 minutes', () => {
  const replay = { cps: 100_000, seconds: 5, idleTimeout: 60, shards: 1, threads: 1, wheel: 'default' };
  expect(parseOptions([])).toMatchObject({ inline: true, native: true });
  expect(parseOptions([])).toMatchObject(replay);
  expect(parseSoakOptions([])).toMatchObject({ minutes: 20, cps: 50_000, crashEvery: 2, burst: 20_000 });
});

test('each flag reaches the replay', () => {
  const flags = { cps: 7, seconds: 0.5, shards: 3, loops: 2, threads: 3, lifetime: 3, requests: 2.5, seed: 0, hang: 0 };
  const argv = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const expected = { ...flags, inline: false, native: false, json: 'x.json' };
  expect(parseOptions([...argv, '--no-inline', '--no-native', '--json', 'x.json'])).toMatchObject(expected);
});

test.each<[string, Partial<PlannedTimer>]>([
  ['idle=60s', { name: 'idle', delay: 60_000, starts: 1, moves: 0, held: 8000, fires: 0 }],
  ['idle=1m,held=2.5s,moves=3', { delay: 60_000, held: 2500, moves: 3 }],
  ['ping=250ms,starts=4,fires=100%', { delay: 250, starts: 4, fires: 1 }],
  ['long=1h,fires=0.5', { delay: 3_600_000, fires: 0.005 }],
  ['short=900ms', { held: 600 }], // held for the connection's lifetime, but for no longer than it can be
])('a timer on the command line: %s', (text, expected) => {
  expect(parseTimer(text, 8000)).toMatchObject(expected);
});

test.each([
  ['idle', 'a timer is name=delay'],
  ['=3s', 'a timer is name=delay'],
  ['idle=60', "a time must be a number with ms, s, m or h, from 0ms to 24h, got '60'"],
  ['idle=25h', "got '25h'"],
  ['idle=1s,moves=many', "moves must be a number from 0 to 10000, got 'many'"],
  ['idle=1s,fires=101', "fires must be a number from 0 to 100, got '101'"],
  ['idle=1s,starts=', "starts must be a number from 0.001 to 10000, got ''"],
  ['idle=1s,hold=2s', "a timer has held, starts, moves and fires, got 'hold'"],
  ['idle=1s,held=2s', 'idle would fire before it is moved or cancelled'],
])('a timer on the command line: %s is refused', (text, message) => {
  expect(() => parseTimer(text, 8000)).toThrow(UsageError);
  expect(() => parseTimer(text, 8000)).toThrow(message);
});

describe.each([
  { program: 'dist/bench/replay/main.js', shows: ['--cps <n>', '--loops <n>', 'npm start -- --cps 50000'] },
  { program: 'lib/cli.js plan', shows: ['Usage: npx shardwheel plan [options]', '--costs', 'name=delay[,held=time]'] },
  { program: 'dist/tools/soak/main.js', shows: ['npm run soak --', '--crash-every <s>'] },
  { program: 'dist/tools/soak/main.js wheel', shows: ['--operations <n>'] },
])('$program', ({ program, shows }) => {
  test('says of a bad flag in one line what is wrong, and with --help which there are', async () => {
    const [bad, help] = await Promise.all(['--bogus', '--help'].map((flag) => runNode([...program.split(' '), flag])));
    expect(bad).toEqual({ code: 2, stdout: '', stderr: "error: unknown option '--bogus'\n" });
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const part of shows) expect(help.stdout).toContain(part);
  });
});
