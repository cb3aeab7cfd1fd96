import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

const run = (example: string, ...flags: string[]): Promise<Ended> =>
  new Promise((resolve) => {
    const file = fileURLToPath(new URL(`../../dist/examples/${example}.js`, import.meta.url));
    const child = execFile(process.execPath, [file, ...flags], { timeout: 25_000 }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });

test('first-timer says what it says it does, and ends by itself', async () => {
  const { code, stdout, stderr } = await run('first-timer');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual(['moved: true cancelled: true', 'connection 1: idle, cut']);
});

test('dashboard: a program that is looked at, and ends by itself', async () => {
  const { code, stdout, stderr } = await run('dashboard', '1');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/ in a browser, .*\n\d+ requests on \d+ connections\n$/);
});

test('http: deadlines of a client, header and keep-alive timeouts of a server', async () => {
  const { code, stdout, stderr } = await run('http/main');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'quick: hello',
    'slow: TimeoutError: Timed out after 400 ms',
    'without a request: HTTP/1.1 408 Request Timeout',
    'after an answer: closed',
    'timers left: 0',
  ]);
});

test('gateway: deadlines, retries, idle connections, an orderly end', async () => {
  const { code, stdout, stderr } = await run('gateway/main', '--requests', '120');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'answered: 120 of 120',
    'hangs: 504 Timed out after 2000 ms',
    'refuses twice: 200 answer to /refuses after 2 retries',
    'a connection that says nothing: cut',
    'timers left: 0',
  ]);
});

test('websocket: dead peers are terminated, the others live', async () => {
  const { code, stdout, stderr } = await run('websocket/main', '--connections', '100');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'connected: 100',
    'silent peers terminated: 10 of 10',
    'peers that answer and live: 90 of 90, wrong: 0',
    'each was pinged: true',
    'after a reconnect: here again',
    'timers left: 0',
  ]);
});

test('mqtt: the broker gives up clients that are silent, and no other', async () => {
  const { code, stdout, stderr } = await run('mqtt/main', '--clients', '40');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'connected: 40',
    'messages delivered: 35 of 35',
    'silent clients given up: 4 of 4, wrong: 0',
    'closed',
  ]);
});

test('commands: deadlines of what is late and of what never comes', async () => {
  const { code, stdout, stderr } = await run('commands/main', '--commands', '5050');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'answered: 5050 of 5050, deadlines left: 0',
    'never: Timed out after 300 ms, not before: true',
    'late: Timed out after 300 ms, not before: true',
    'answers that came too late and were dropped: 1',
    'a broken connection: Error: the connection was closed',
    'timers left: 0',
  ]);
});

test.each([
  ['gateway/main', ['--requests', '0'], "--requests must be an integer from 1 to 10000, got '0'"],
  ['websocket/main', ['--connections', 'many'], "--connections must be an integer from 1 to 5000, got 'many'"],
  ['mqtt/main', ['--clients', '1.5'], "--clients must be an integer from 1 to 5000, got '1.5'"],
  ['commands/main', ['--command', '5'], "Unknown option '--command'"],
  ['commands/main', ['extra'], "Unexpected argument 'extra'"],
])('%s answers %j with one line and exit code 2', async (example, flags, why) => {
  const { code, stdout, stderr } = await run(example, ...flags);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(why);
  expect(stderr.trimEnd().split('\n')).toHaveLength(1);
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

test('tcp-proxy: what hangs is cut, each by its own timeout', async () => {
  const { code, stdout, stderr } = await run('tcp-proxy/main');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'quick: answer, then cut by its idle timeout',
    'slow: nothing, then cut by its request timeout',
    'drained, timers left: 0',
  ]);
});

describe('the proxy under load', () => {
  const threads = ['--threads', '2', '--seconds', '1', '--parallel', '8', '--connections', '1000', '--hanging', '10'];
  // Long enough for a healthy exchange on a busy machine.
  const waits = ['--connect', '800', '--request', '800', '--idle', '1600', '--drain', '800'];

  test('runs, reports, and ends by itself with exit code 0', async () => {
    const { code, stdout, stderr } = await run(
      '../bench/proxy/main',
      ...['--seconds', '2', '--parallel', '8', '--connections', '2000', '--hanging', '10'],
      ...waits,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^1 s: .*connections\/s/) });
    expect(stdout).toMatch(/timers left at the end +│ +0 /);
    expect(stdout).toMatch(/wrong ends +│ +0 /);
  });

  test('on two event loops ends as on one', async () => {
    const { code, stdout, stderr } = await run('../bench/proxy/main', ...threads, ...waits);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^1 s: .*connections\/s/) });
    expect(stdout).toMatch(/event loops of the proxy busy +│ +\d+ %, \d+ % /);
    expect(stdout).toMatch(/timers left at the end +│ +0 /);
    expect(stdout).toMatch(/wrong ends +│ +0 /);
  });

  test('loses what was on an event loop that is killed, and nothing else', async () => {
    const { code, stdout, stderr } = await run('../bench/proxy/main', ...threads, ...waits, '--kill', '0.4');
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^1 s: .*connections\/s/) });
    expect(stdout).toMatch(/threads killed +│ +[1-9]/);
    expect(stdout).toMatch(/connections lost with their thread +│ +[1-9]/);
    expect(stdout).toMatch(/timers left at the end +│ +0 /);
    expect(stdout).toMatch(/clients left by killed threads +│ +0 /);
    expect(stdout).toMatch(/wrong ends +│ +0 /);
  });

  test.each([
    [['--threads', '0'], /'0'/],
    [['--threads', '2', '--kill', 'often'], /'often'/],
    [['--kill', '1'], /--threads 2/],
    [['--seconds', 'soon'], /'soon'/],
    [['--parallel', '1.5'], /'1\.5'/],
    [['--no-such-flag'], /--no-such-flag/],
    [['--request', '900', '--idle', '800'], /900.*800/],
    [['extra'], /too many arguments/],
  ])('answers %j with one line and exit code 2', async (flags, why) => {
    const { code, stdout, stderr } = await run('../bench/proxy/main', ...flags);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(why);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

test('sessions: each expires, not before its time, whichever process is killed', async () => {
  const { code, stdout, stderr } = await run('sessions/main', '--kills', '4');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
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
