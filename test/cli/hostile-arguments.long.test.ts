import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { UNSEEN } from '../../src/extras/dashboard/page/format.ts';
import { runCommand } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'shardwheel-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'file');
writeFileSync(file, 'no JSON \x1b[2J');
const missing = join(folder, 'missing', 'file');

const ESCAPES = '\x1b]0;title\x07 \x9b31m \u202egpj.exe';
const LONG = 'x'.repeat(100_000);
const NOTHING_LISTENS = 'http://127.0.0.1:1/';
const TOKEN = 'a-token-of-16-characters';

/** What is a whole number within no bounds. */
const noWholes = [
  '',
  ' ',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e999',
  '-1',
  'many',
  '1,5',
  '1.5',
  '0x',
  '١',
  '__proto__',
  LONG,
];
const few = ['', 'NaN', '-1'];

const flagsOf = (command: string, flags: Record<string, readonly string[]>): string[][] =>
  Object.entries(flags).flatMap(([flag, values]) => values.map((value) => [command, `--${flag}=${value}`]));

const usage: string[][] = [
  ['rplay'],
  [''],
  [ESCAPES],
  [LONG],
  ['__proto__'],
  ['--bogus'],
  ['as:bogus'],
  ['as:constructor'],
  ...['replay-process', 'loop-thread', 'run-process', 'work-process', 'work-clients', 'timer-costs'].map((part) => [
    `as:${part}`,
    '{"__proto__":1}',
  ]),

  ['watch'],
  ['watch', NOTHING_LISTENS, NOTHING_LISTENS],
  ['watch', NOTHING_LISTENS, '--bogus'],
  ['watch', NOTHING_LISTENS, '--once=3'],
  ['watch', NOTHING_LISTENS, '--token'],
  ...['', 'short', 'ä'.repeat(20), `${TOKEN}\r\nX: y`, ESCAPES, LONG].map((token) => [
    'watch',
    NOTHING_LISTENS,
    '--token',
    token,
  ]),
  ['watch', `${NOTHING_LISTENS}?token=short`],
  ...[
    '',
    ' ',
    'a b',
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'javascript://alert',
    'http://',
    'http://127.0.0.1:99999/',
    'http://127.0.0.1:-1/',
    'http://[::1/',
    'http://user:a-password@127.0.0.1:1/',
    'http://user@127.0.0.1:1/',
    ESCAPES,
    `ftp://${LONG}`,
  ].map((address) => ['watch', '--', address]),

  ...flagsOf('replay', {
    cps: noWholes,
    seconds: few,
    shards: ['1.5', ...few],
    loops: ['0', '65'],
    tick: ['0', '1e-9'],
    dashboard: ['99999', '65536', '1.5', ...few],
    wheel: ['', '__proto__', ESCAPES],
    seed: few,
    node: ['', '../../x', 'latest; true', ESCAPES],
    json: ['', folder, missing, join(file, 'x')],
  }),
  ['replay', 'extra'],
  ['replay', '--cps', '1', '--cps', 'many'],
  ['replay', '--cps=10000000', '--seconds=3600'],
  ['replay', '--shards=0', '--no-inline'],
  ['replay', '--seconds'],

  ...flagsOf('plan', {
    cps: few,
    loops: ['0', '1025'],
    memory: few,
    lifetime: ['', '1', '-1s', '99h', 'NaNs', LONG],
    timer: ['', '=', 'a', 'a=1x', 'a=1s,held', 'a=1s,__proto__=1', 'a=1s,fires=101', 'a=1s,held=9s', ESCAPES, LONG],
    costs: ['', missing, folder, file],
    'save-costs': ['', folder, missing],
    json: ['', folder, missing],
  }),
  ['plan', 'extra'],
  ['plan', '--cps=100000000', '--timer=a=24h,starts=10000,held=16h', '--rounds=1'],

  ['profile'],
  ['profile', '--'],
  ['profile', '--bogus', '--', 'node'],
  ...flagsOf('profile', {
    seconds: ['1e99', '0', ...few],
    top: ['65', '1.5'],
    out: ['', folder, missing],
    json: ['', folder, missing],
  }).map((argv) => [...argv, '--', 'node', '--version']),
  ...['', missing, file, ESCAPES].map((path) => ['profile', '--read', path]),
  ['profile', '--read', folder, '--', 'node'],
];

/** What cannot be done, though it is well said. */
const failures: [code: number, argv: string[]][] = [
  [1, ['watch', NOTHING_LISTENS]],
  [1, ['watch', 'http://nowhere.invalid/']],
  [1, ['profile', '--no-html', '--read', folder]],
  [127, ['profile', '--', '']],
  [127, ['profile', '--', missing]],
  [127, ['profile', '--', ESCAPES]],
  [126, ['profile', '--', folder]],
];

const shown = (argv: readonly string[]): string =>
  argv.map((each) => JSON.stringify(each.length > 40 ? `${each.slice(0, 40)}…` : each)).join(' ');

/** One line, which a terminal only shows. */
const oneLine = /^error: [^\n]{1,5000}\n$/;

async function expectOneLine(code: number, argv: readonly string[]): Promise<void> {
  const ended = await runCommand(argv, { env: { SHARDWHEEL_TOKEN: '' } });
  expect({ ...ended, argv: shown(argv) }).toEqual({
    code,
    stdout: '',
    stderr: expect.stringMatching(oneLine),
    argv: shown(argv),
  });
  expect(ended.stderr.slice(0, -1)).not.toMatch(UNSEEN);
  expect(ended.stderr).not.toContain('a-password');
}

/** Two at a time: each is a process. */
async function each<T>(cases: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = [...cases];
  const work = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await run(one);
  };
  await Promise.all([work(), work()]);
}

test('arguments that no command takes end in one line, with exit code 2', async () => {
  await each(usage, (argv) => expectOneLine(2, argv));
  expect(usage).toHaveLength(147);
}, 600_000);

test('what cannot be done ends in one line', async () => {
  await each(failures, ([code, argv]) => expectOneLine(code, argv));
}, 100_000);

const main = fileURLToPath(new URL('../../lib/cli.js', import.meta.url));

/** Runs the command line with this standard output. */
function runInto(stdout: 'pipe' | number, argv: readonly string[]): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [main, ...argv], { stdio: ['ignore', stdout, 'pipe'] });
    child.stdout?.destroy(); // the reader has gone
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('close', (code) => resolve({ code, stderr }));
  });
}

const talking = [['--help'], ['--version'], ...['replay', 'plan', 'profile', 'watch'].map((name) => [name, '--help'])];

test('a reader that has gone is no error', async () => {
  await each(talking, async (argv) => expect(await runInto('pipe', argv)).toEqual({ code: 0, stderr: '' }));
});

test.runIf(existsSync('/dev/full'))('an output that takes nothing ends in one line', async () => {
  const full = openSync('/dev/full', 'w');
  await each(talking, async (argv) =>
    expect(await runInto(full, argv)).toEqual({ code: 1, stderr: expect.stringMatching(/^error: ENOSPC[^\n]*\n$/) }),
  );
});
