import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

const run = (example: string, ...flags: string[]) => runNode([`dist/examples/${example}.js`, ...flags]);
const sessions = run('sessions/main', '--kills', '4'); // waits nearly all of its time, so it runs beside the others

/** Programs that say the same in each run: flags, and the lines they print. */
const programs: [example: string, flags: string[], lines: string[]][] = [
  ['first-timer', [], ['moved: true cancelled: true', 'connection 1: idle, cut']],
  [
    'tcp-proxy/main',
    [],
    [
      'quick: answer, then cut by its idle timeout',
      'slow: nothing, then cut by its idle timeout',
      'no word: nothing, then cut by its firstByte timeout',
      'drained, timers left: 0',
    ],
  ],
  ['tcp-proxy/several-loops', [], ['answered: 40 of 40', 'loops that served: 2 of 2', 'timers left: 0']],
  [
    'gateway/main',
    ['--requests', '120'],
    [
      'answered: 120 of 120',
      'hangs: 504 Timed out after 4000 ms',
      'refuses twice: 200 answer to /refuses after 2 retries',
      'a client that leaves: its exchange with the upstream is ended',
      'headers that never end: HTTP/1.1 408 Request Timeout',
      'http2: 200',
      'an idle session: cut, true',
      'under way when it drains: 504 Timed out after 4000 ms',
      'cut by the drain: 0',
      'timers left: 0',
    ],
  ],
  [
    'websocket/main',
    ['--connections', '100'],
    [
      'connected: 100',
      'silent peers terminated: 10 of 10',
      'peers that answer and live: 90 of 90, wrong: 0',
      'each was pinged: true',
      'after a reconnect: here again',
      'timers left: 0',
    ],
  ],
  [
    'mqtt/main',
    ['--clients', '40'],
    ['connected: 40', 'messages delivered: 35 of 35', 'silent clients given up: 4 of 4, wrong: 0', 'closed'],
  ],
  [
    'commands/main',
    ['--commands', '5050'],
    [
      'answered: 5050 of 5050, deadlines left: 0',
      'never: Timed out after 300 ms, not before: true',
      'late: Timed out after 300 ms, not before: true',
      'answers that came too late and were dropped: 1',
      'a broken connection: Error: the connection was closed',
      'timers left: 0',
    ],
  ],
];

test.each(programs)('%s %j prints what it should, and ends by itself', async (example, flags, lines) => {
  const { code, stdout, stderr } = await run(example, ...flags);
  expect({ code, stderr, lines: stdout.trim().split('\n') }).toEqual({ code: 0, stderr: '', lines });
});

test('dashboard: a program that is looked at, and ends by itself', async () => {
  const { code, stdout, stderr } = await run('dashboard', '1');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(
    /^Open http:\/\/127\.0\.0\.1:\d+\/ in a browser, .*\n\d+ requests on \d+ connections, \d+ too late, 0 idle\n$/,
  );
});

test('auto-scale: timeouts get shorter while the heap is full, and connections fewer', async () => {
  const { code, stdout, stderr } = await run('auto-scale');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = [...stdout.matchAll(/^\d s: (\d+) open, heap \d+ MiB, factor ([\d.]+)$/gm)];
  expect(lines.length).toBe(5);
  expect(Math.min(...lines.map(([, , factor]) => Number(factor)))).toBeLessThan(0.8);
  expect(Math.max(...lines.map(([, open]) => Number(open)))).toBeLessThan(50_000);
});

test('fake time with node:test', async () => {
  const { code, stdout } = await run('fake-time/retry-with-node-test');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^(#|ℹ) pass 1$/m);
});

describe('the proxy under load', () => {
  // The loops of a busy machine are late by more than is measured.
  const small = ['--parallel', '8', '--hanging', '10', '--grace', '5000'];
  // As many connections as a fast machine opens until a thread is killed, and more.
  const threads = ['--threads', '2', '--seconds', '1', '--connections', '20000', ...small];
  // Long enough for a healthy exchange on a busy machine.
  const quick = ['--connect', '1500', '--secure', '1500', '--first-byte', '1500', '--half-close', '1500'];
  const waits = [...quick, '--idle', '2400', '--lifetime', '12000'];

  test.each<[string, string[], RegExp[]]>([
    ['on one event loop', ['--seconds', '2', '--connections', '2000', ...small], []],
    ['on two', threads, [/event loops of the proxy busy +│ +\d+ %, \d+ % /]],
    [
      'on two, of which some are killed',
      [...threads, '--kill', '0.4'],
      [
        /threads killed +│ +[1-9]/,
        /connections lost with their thread +│ +[1-9]/,
        /clients left by killed threads +│ +0 /,
      ],
    ],
    [
      'in two processes, with connections that stand at once, of which some are killed',
      [...threads, '--processes', '2', '--standing', '120', '--kill', '0.6'],
      [/sockets of the proxy that stood at once +│ +240 /, /threads killed +│ +[1-9]/],
    ],
    [
      'without limits',
      ['--seconds', '1', '--connections', '1000', ...small, '--no-limits'],
      [/scheduled.*│ +0, 0, 0 /],
    ],
  ])('%s: hanging connections are cut, no others, and no timer is left', async (_, flags, lines) => {
    const { code, stdout, stderr } = await run('../bench/proxy/main', ...flags, ...waits);
    const told = expect.stringMatching(/^\d s: .*connections\/s/);
    expect({ code, stderr }, `${stderr}\n${stdout}`).toEqual({ code: 0, stderr: told });
    for (const line of [/timers left at the end +│ +0 /, /wrong ends +│ +0 /, ...lines]) expect(stdout).toMatch(line);
  });

  test('more sockets than the system lets a process have: one line says how many, and what to do', () => {
    const command = 'ulimit -n 2000 && exec "$0" dist/bench/proxy/main.js --standing 1000';
    const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr:
        'error: --standing 1000 needs 3464 file descriptors in a process, and the system gives 2000 (ulimit -n): ' +
        'raise that, or say --processes 2 or more\n',
    });
  });
});

test.each<[string, string[], string]>([
  ['websocket/main', ['--connections', 'many'], "--connections must be an integer from 1 to 5000, got 'many'"],
  ['commands/main', ['--command', '5'], "Unknown option '--command'"],
  ['commands/main', ['extra'], "Unexpected argument 'extra'"],
  ['../bench/proxy/main', ['--threads', '0'], "'0'"],
  ['../bench/proxy/main', ['--threads', '2', '--kill', 'often'], "'often'"],
  ['../bench/proxy/main', ['--kill', '1'], '--threads 2'],
  ['../bench/proxy/main', ['--first-byte', '900', '--idle', '800'], '900'],
])('%s answers %j with one line and exit code 2', async (example, flags, why) => {
  const { code, stdout, stderr } = await run(example, ...flags);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(why);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('sessions: each expires, not before its time, whichever process is killed', async () => {
  const { code, stdout, stderr } = await sessions;
  expect({ code, stderr }, stderr).toEqual({ code: 0, stderr: '' });
  const numbers = (line: RegExp): number[] => (line.exec(stdout) ?? []).slice(1).map(Number);
  const [live, expired] = numbers(/^sessions that had to expire: (\d+), expired: (\d+)$/m);
  expect(live).toBeGreaterThan(50);
  expect(expired).toBe(live);
  expect(numbers(/^before their time: (\d+)$/m)).toEqual([0]);
  const [deleted, returned] = numbers(/^logged out: (\d+), expired all the same: (\d+)$/m);
  expect(deleted).toBeGreaterThan(20);
  expect(returned).toBe(0);
  expect(numbers(/^processes killed: (\d+)$/m)).toEqual([4]);
});
