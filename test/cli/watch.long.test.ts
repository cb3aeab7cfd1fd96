import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { PROTOCOL } from '../../src/extras/dashboard/messages.ts';
import type { View } from '../../src/extras/dashboard/page/model.ts';
import { served } from '../dashboard/served.ts';
import { until } from '../fixtures/event-loop.ts';

const main = fileURLToPath(new URL('../../lib/cli.js', import.meta.url));

/** `npx shardwheel watch`, in a process of its own. */
class Watch {
  readonly child: ChildProcess;
  stdout = '';
  stderr = '';
  readonly ended: Promise<number | null>;

  constructor(argv: readonly string[], { flags = [] as string[], env = {} } = {}) {
    this.child = spawn(process.execPath, [...flags, main, 'watch', ...argv], { env: { ...process.env, ...env } });
    this.child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
  }

  get lines(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }
}

async function watched(...argv: string[]) {
  const watch = new Watch(argv);
  return { code: await watch.ended, stdout: watch.stdout, stderr: watch.stderr };
}

/** A server that is none of ours. */
async function server(listener: RequestListener) {
  const served = createServer(listener).listen(0, '127.0.0.1');
  await until(() => served.listening);
  const close = () => {
    served.close();
    served.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(served.address() as AddressInfo).port}`, [Symbol.dispose]: close };
}

test('without a terminal: a line for each second, until it is interrupted', async () => {
  await using shown = await served();
  for (let i = 0; i < 30; i++) shown.scheduler.scheduleAfter(i, 3_600_000);
  const watch = new Watch([shown.url]);
  await until(() => watch.lines.length >= 2);
  const [first, second] = watch.lines;
  expect(first).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \| 30 live \| scheduled – \| /);
  expect(second).toMatch(/ \| 30 live \| scheduled 0\/s \| moved 0\/s \| cancelled 0\/s \| delivered 0\/s \| /);
  watch.child.kill('SIGINT');
  expect([await watch.ended, watch.stderr]).toEqual([0, '']);
});

test('--once: all tables, and the end', async () => {
  const durable = await openDurableTimers({ store: memoryStore() });
  for (const key of ['1', '2']) await durable.schedule('a', key, Date.now() + 1e9);
  await durable.cancel('a', '2');
  await using shown = await served({ durable });
  for (let i = 0; i < 1234; i++) shown.scheduler.cancel(shown.scheduler.scheduleAfter(i, 3_600_000));
  shown.scheduler.label('idle \x1b[31m \u202e').scheduleAfter(0, 3_600_000);
  const { code, stderr, stdout } = await watched(shown.url, '--once');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/│ in all │ +│ +1,235 │ +0 │ +1,234 │ +0 │/);
  for (const head of ['lateness', 'shard', 'lane of client', 'label', 'durable timers'])
    expect(stdout).toContain(`│ ${head} `);
  expect(stdout).toContain('│ idle [U+001B][31m [U+202E] │    1 │');
  for (const character of ['\x1b', '\u202e']) expect(stdout).not.toContain(character);
  for (const fact of [/│ Stored, in memory +│ +1 │/, /│ Scheduled +│ +2 │/, /│ Cancelled +│ +1 │/]) {
    expect(stdout).toMatch(fact);
  }
  expect(stdout).toMatch(/^wheel 0, level \d +\|.{64}\| .* 1 entries$/m);
  await durable.close();
});

test('--json: what a sample says, and what has changed since', async () => {
  await using shown = await served();
  shown.scheduler.scheduleAfter(0, 3_600_000);
  const { code, stdout } = await watched('--json', '--once', shown.url.replace('http://', ''));
  expect(code).toBe(0);
  const view: View = JSON.parse(stdout);
  expect(view).toMatchObject({ size: 1, scheduled: 1, delivered: 0, rates: { scheduled: 0 }, stats: { scheduled: 1 } });
});

test('on a terminal: redrawn in place, within its width and height', async () => {
  await using shown = await served();
  const terminal = 'Object.assign(process.stdout, { isTTY: true, columns: 50, rows: 12 });';
  const watch = new Watch([shown.url], { flags: ['--import', `data:text/javascript,${terminal}`] });
  await until(() => watch.stdout.split('\x1b[H').length >= 3);
  watch.child.kill('SIGTERM');
  expect(await watch.ended).toBe(0);
  const [, first, second] = watch.stdout.split('\x1b[H');
  expect([first.startsWith('\x1b[J'), second.startsWith('\x1b[J')]).toEqual([true, false]);
  const lines = second.split('\x1b[K\n');
  expect(lines).toHaveLength(12);
  expect(lines.pop()).toBe('\x1b[J');
  expect(Math.max(...lines.map((line) => line.length))).toBe(50);
});

test.each([['foo bar'], ['ftp://127.0.0.1/'], ['http://localhost:99999/'], ['']])(
  '%j is no address',
  async (address) => {
    const stderr = `error: '${address}' is not the address of a dashboard, such as http://127.0.0.1:7373/\n`;
    expect(await watched(address)).toEqual({ code: 2, stdout: '', stderr });
  },
);

const events =
  (text: string): RequestListener =>
  (_, response) =>
    response.setHeader('Content-Type', 'text/event-stream').write(text);
const greeting = (hello: object): string => `event: hello\ndata: ${JSON.stringify(hello)}\n\n`;
const HELLO = greeting({ protocol: PROTOCOL, bounds: [], points: [] });
const NONE = (url: string): string => `${url} is not a dashboard of shardwheel`;

test.each<[string, RequestListener, (url: string) => string]>([
  ['a page', (_, response) => response.setHeader('Content-Type', 'text/html').end('<p>'), NONE],
  ['nothing', (_, response) => response.writeHead(404).end(), NONE],
  ['a page without an end', (_, response) => response.writeHead(500).write('x'.repeat(100_000)), NONE],
  ['other events', events('data: {}\n\n'), NONE],
  ['no JSON', events('data: no\n\n'), NONE],
  [
    'a dashboard of another version',
    events(greeting({ protocol: 999, version: '9.9.9' })),
    (url) => `${url} is served by shardwheel 9.9.9: watch it with that`,
  ],
  [
    'a dashboard of another version, whose name commands the terminal',
    events(greeting({ protocol: 999, version: '\x1b[2J\x9b31m' })),
    (url) => `${url} is served by shardwheel [U+001B][2J[U+009B]31m: watch it with that`,
  ],
  [
    'a refusal that commands the terminal',
    (_, response) => response.writeHead(403).end('\x1b]0;title\x07 no\u202e\r\n'),
    (url) => `${url} refuses: [U+001B]]0;title[U+0007] no[U+202E]`,
  ],
  ['text for numbers', events(`${HELLO}event: waiting\ndata: {"seconds":"\\u001b[2J"}\n\n`), NONE],
  [
    'a connection that is lost',
    (request, response) => {
      events(HELLO)(request, response);
      setImmediate(() => response.destroy());
    },
    (url) => `The connection to ${url} was lost`,
  ],
  ['no answer', () => undefined, (url) => `${url} has not answered within 5 s`],
  ['silence', events(HELLO), (url) => `${url} has sent nothing for 15 s`],
])('what is there has %s: one sentence says so', async (_name, listener, sentence) => {
  using other = await server(listener);
  expect(await watched(other.url)).toEqual({ code: 1, stdout: '', stderr: `error: ${sentence(other.url)}\n` });
});

test('what a dashboard says at its end does not command the terminal', async () => {
  using other = await server(events(`${HELLO}event: end\ndata: {"reason":"\\u001b[2J\\u009b over"}\n\n`));
  const stderr = '[U+001B][2J[U+009B] over\n';
  expect(await watched(other.url)).toEqual({ code: 0, stdout: '', stderr });
});

test('nobody listens', async () => {
  const free = await server(() => undefined);
  free[Symbol.dispose]();
  const stderr = `error: ${free.url} cannot be reached (ECONNREFUSED)\n`;
  expect(await watched(free.url)).toEqual({ code: 1, stdout: '', stderr });
});

test('the token: by flag, by environment, in the address; wrong, and none', async () => {
  const token = 'a-token-of-16-characters';
  await using shown = await served({ token });
  const origin = shown.url.slice(0, -1);
  expect(await watched(shown.url)).toMatchObject({
    code: 1,
    stderr: `error: ${origin} needs its token: --token, or SHARDWHEEL_TOKEN\n`,
  });
  const wrong = { code: 1, stderr: `error: ${origin} refuses the token\n` };
  expect(await watched(shown.url, '--token', `${token}x`)).toMatchObject(wrong);
  const inEnvironment = new Watch([shown.url, '--once'], { env: { SHARDWHEEL_TOKEN: token } });
  const right = [
    watched(shown.url, '--once', '--token', token),
    watched(`${shown.url}?token=${token}`, '--once'),
    inEnvironment.ended.then((code) => ({ code })),
  ];
  expect((await Promise.all(right)).map(({ code }) => code)).toEqual([0, 0, 0]);
});

test('as many watch as can', async () => {
  await using shown = await served();
  const aborts = Array.from({ length: 32 }, () => new AbortController());
  const answers = await Promise.all(aborts.map(({ signal }) => fetch(`${shown.url}events`, { signal })));
  const { code, stderr } = await watched(shown.url);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(/^error: .* refuses: .* 32\.\n$/) });
  expect(answers).toHaveLength(32); // one that is not kept is closed when its memory is collected
  for (const abort of aborts) abort.abort();
});

test('a dashboard that ends is the end, and says why', async () => {
  await using shown = await served();
  const watch = new Watch([shown.url]);
  await until(() => watch.lines.length >= 1);
  await shown.scheduler.close();
  expect([await watch.ended, watch.stderr]).toEqual([0, 'The scheduler was closed.\n']);
});

test('who reads has gone: it ends', async () => {
  await using shown = await served();
  const watch = new Watch([shown.url, '--json']);
  await until(() => watch.lines.length >= 1);
  watch.child.stdout?.destroy();
  expect([await watch.ended, watch.stderr]).toEqual([0, '']);
});
