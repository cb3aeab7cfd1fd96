import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { createScheduler, type Scheduler } from 'shardwheel';
import { afterAll, beforeAll, expect, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { runNode, runText } from '../fixtures/child-process.ts';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { read, root } from './documents.ts';

const folder = join(root, 'dist/recipes');

/** The files that docs/guide.md shows, by name. */
const shown = new Map(
  [...read('docs/guide.md').matchAll(/```ts\n\/\/ ([\w.-]+)\n([\s\S]*?)```/g)].map(
    ([, name, code]): [string, string] => [name, code],
  ),
);

/** Those that the examples, or tests of their own, have and run. */
const ofExamples: Readonly<Record<string, string>> = {
  'retry.ts': 'examples/fake-time/retry.ts',
  'retry.test.ts': 'test/smoke/fake-time/retry.test.ts',
  'retry-with-node-test.ts': 'examples/fake-time/retry-with-node-test.ts',
};
const recipes = new Map([...shown].filter(([name]) => !Object.hasOwn(ofExamples, name)));

test.each(Object.entries(ofExamples))('%s is shown as it is run', (name, path) => {
  expect(shown.get(name)).toBe(read(path).replace('../../../dist/examples/fake-time/retry.js', './retry.ts'));
});

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const [name, code] of recipes) {
    write(name, code);
    const target = 'es2022'; // Node 20 knows no `using`
    write(name.replace('.ts', '.mjs'), transformSync(code, { loader: 'ts', target }).code);
  }
  const compilerOptions = { noUnusedLocals: false, types: ['node'], paths: {} }; // `shardwheel` is the built package
  write('tsconfig.json', JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: ['*.ts'] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const load = (name: string) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);
const manual = (): Scheduler => createScheduler({ shards: 0, clock: 'manual' });

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('there are as many as the document has headings for, and each is tried below', () => {
  const tried =
    'scheduler http-timeouts ws-heartbeat periodic-work lease mqtt-keepalive command-deadline upstream backoff debounce ' +
    'rate-window expiring-map errors shutdown hand-over threads moving fake-time steps both-clocks';
  expect([...recipes.keys()]).toEqual(tried.split(' ').map((name) => `${name}.ts`));
});

test('each compiles, strictly', () => {
  const { stdout } = spawnSync('npx', ['tsc', '-p', folder], { cwd: root, encoding: 'utf8' });
  expect(stdout).toBe('');
}, 60_000);

test('scheduler.ts makes a scheduler that holds no process', async () => {
  const { scheduler } = await load('scheduler');
  expect(scheduler.size).toBe(0);
  await scheduler.close();
});

test('http-timeouts.ts answers, gives up what is slow, and cuts what is idle', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { timedServer } = await load('http-timeouts');
  const server: Server = timedServer(scheduler, 300, 200);
  const port = await listening(server);
  const url = `http://127.0.0.1:${port}`;
  expect(await (await fetch(url)).text()).toBe('hello\n');
  expect((await fetch(`${url}/slow`)).status).toBe(503);
  await until(() => scheduler.size === 0); // the idle sockets are cut
  server.close();
  await once(server, 'close');
  await pass(50); // its sockets say so after it does
});

test('ws-heartbeat.ts keeps who answers, and terminates who does not', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { keepBeating } = await load('ws-heartbeat');
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  keepBeating(server, scheduler, 100);
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const answering = new WebSocket(url);
  const silent = new WebSocket(url, { autoPong: false });
  let pings = 0;
  answering.on('ping', () => {
    pings += 1;
  });
  await once(silent, 'close');
  expect(answering.readyState).toBe(WebSocket.OPEN);
  while (pings < 4) await once(answering, 'ping');
  answering.terminate();
  await until(() => scheduler.size === 0);
  server.close();
  await once(server, 'close');
});

test('ws-heartbeat.ts terminates nobody for a stall of the loop', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { keepBeating } = await load('ws-heartbeat');
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  keepBeating(server, scheduler, 100);
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  let pings = 0;
  socket.on('ping', () => {
    pings += 1;
    for (const { deadline } of scheduler.liveTimers()) blockLoop(deadline - scheduler.now() + 30);
    // The answer is on its way, and the next call has come due.
  });
  await until(() => pings >= 6 || socket.readyState === WebSocket.CLOSED);
  expect([pings >= 6, socket.readyState]).toEqual([true, WebSocket.OPEN]);
  socket.terminate();
  await until(() => scheduler.size === 0);
  server.close();
  await once(server, 'close');
});

test('periodic-work.ts works once at a time, tells of errors, and stops when the work is done', async () => {
  await using scheduler = manual();
  const { repeatWork } = await load('periodic-work');
  const seen: unknown[] = [];
  const work = async () => {
    const begun = scheduler.now();
    await scheduler.sleep(250);
    seen.push([begun, scheduler.now()]);
    if (seen.length === 1) throw new Error('the first');
  };
  const { stop } = repeatWork(scheduler, 100, work, (error: Error) => seen.push(error.message));
  await scheduler.advanceTo(750);
  expect(seen).toEqual([[100, 350], 'the first', [400, 650]]);
  expect((await scheduler.stats()).overlapped).toBe(4);
  const stopped = stop().then(() => seen.push('stopped'));
  await scheduler.advanceTo(2000);
  await stopped;
  expect(seen.slice(3)).toEqual([[700, 950], 'stopped']);
  expect(scheduler.size).toBe(0);
});

test('mqtt-keepalive.ts ends a client that is silent, not before', async () => {
  await using scheduler = manual();
  const { Keepalive } = await load('mqtt-keepalive');
  const ended: number[] = [];
  const end = (client: number) => ended.push(client);
  const keepalive = new Keepalive(scheduler, 7, 60, end);
  new Keepalive(scheduler, 8, 60, end).close();
  await scheduler.advanceTo(60_000);
  keepalive.touch();
  await scheduler.advanceTo(149_999);
  expect(ended).toEqual([]);
  await scheduler.advanceTo(150_000);
  expect(ended).toEqual([7]);
});

test('command-deadline.ts', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { ask } = await load('command-deadline');
  expect(await ask(scheduler, async () => 'answer')).toBe('answer');
  let aborted = false;
  const abort = () => {
    aborted = true;
  };
  const never = (signal: AbortSignal) => new Promise(() => signal.addEventListener('abort', abort));
  expect(await ask(scheduler, never, 20)).toBe('too late');
  expect(aborted).toBe(true);
  await expect(ask(scheduler, () => Promise.reject(new RangeError('refused')))).rejects.toThrow('refused');
});

test('upstream.ts gives up in time, and with its client; when it is done nothing is left', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { askUpstream } = await load('upstream');
  const server = createServer((request, response) => void (request.url === '/' && response.end('answer')));
  const url = `http://127.0.0.1:${await listening(server)}`;
  const client = scheduler.group('client');
  expect([await askUpstream(scheduler, client, `${url}/`), client.size]).toEqual(['answer', 0]);
  await expect(askUpstream(scheduler, client, `${url}/slow`, 50)).rejects.toMatchObject({ code: 'ERR_TIMEOUT' });
  const slow = askUpstream(scheduler, client, `${url}/slow`).catch((error: Error) => error);
  await once(server, 'request');
  expect(client.cancelAll()).toBe(1);
  expect(await slow).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
  expect(scheduler.size).toBe(0);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

test('backoff.ts', async () => {
  await using scheduler = manual();
  const { retry } = await load('backoff');
  let calls = 0;
  const result = retry(scheduler, async () => {
    calls += 1;
    if (calls < 3) throw new Error('not yet');
    return 'done';
  });
  for (let now = 100; calls < 3; now += 100) {
    await new Promise(setImmediate);
    await scheduler.advanceTo(now);
  }
  expect(await result).toBe('done');
  expect(scheduler.now()).toBeGreaterThanOrEqual(300);
});

test('debounce.ts', async () => {
  await using scheduler = manual();
  const { debounce } = await load('debounce');
  const seen: string[] = [];
  const act = debounce(scheduler, 100, (word: string) => seen.push(word));
  act('a');
  await scheduler.advanceTo(99);
  act('b');
  await scheduler.advanceTo(198);
  expect(seen).toEqual([]);
  await scheduler.advanceTo(199);
  act('c');
  await scheduler.advanceTo(299);
  expect(seen).toEqual(['b', 'c']);
});

test('rate-window.ts', async () => {
  await using scheduler = manual();
  const { RateWindow } = await load('rate-window');
  const window = new RateWindow(scheduler, 2, 1000);
  const allowed = () => [1, 2, 3].map(() => window.allows('key'));
  expect(allowed()).toEqual([true, true, false]);
  expect(window.allows('other')).toBe(true);
  await scheduler.advanceTo(1000);
  expect(allowed()).toEqual([true, true, false]);
});

test('expiring-map.ts', async () => {
  await using scheduler = manual();
  const { ExpiringMap } = await load('expiring-map');
  const map = new ExpiringMap(scheduler);
  map.set('a', 1, 100);
  map.set('b', 2, 100);
  map.set('a', 3, 200);
  map.set('c', 4, 300);
  expect([map.delete('c'), map.delete('c')]).toEqual([true, false]);
  await scheduler.advanceTo(100);
  expect([map.get('a'), map.get('b'), map.size, scheduler.size]).toEqual([3, undefined, 1, 1]);
  await scheduler.advanceTo(200);
  expect([map.get('a'), map.size]).toEqual([undefined, 0]);
});

test('expiring-map.ts holds no process', async () => {
  const text = `
    import { createScheduler } from 'shardwheel';
    import { ExpiringMap } from '${pathToFileURL(join(folder, 'expiring-map.mjs'))}';
    const scheduler = createScheduler();
    const map = new ExpiringMap(scheduler);
    for (let i = 0; i < 9; i++) map.set('key ' + i, i, 3_600_000);
    scheduler.scheduleAfter('last', 20, () => console.log(map.size));`;
  expect(await runText(text)).toEqual({ code: 0, stdout: '9\n', stderr: '' });
});

test('shutdown.ts', async () => {
  const scheduler = createScheduler({ shards: 0 });
  const { timedServer } = await load('http-timeouts');
  const { shutDown } = await load('shutdown');
  const server: Server = timedServer(scheduler, 60_000, 60_000);
  const port = await listening(server);
  const slow = fetch(`http://127.0.0.1:${port}/slow`).catch((error: Error) => error.name);
  await once(server, 'request');
  scheduler.scheduleAfter('left', 60_000);
  expect(await shutDown(server, scheduler, 100)).toBeGreaterThanOrEqual(1);
  expect(await slow).toBe('TypeError'); // its connection was closed
  expect(server.listening).toBe(false);
});

test('hand-over.ts: what was live goes on, a signal with it; what was waited for has rejected', async () => {
  const scheduler = manual();
  await using successor = manual();
  const { handOver } = await load('hand-over');
  await scheduler.advanceTo(1000);
  await successor.advanceTo(40);
  const seen: unknown[] = [];
  const note = (name: string) => seen.push([name, successor.now()]);
  scheduler.label('idle').scheduleAfter('a', 100, note, 'idle');
  scheduler.scheduleEvery('b', 70, note, 'beat', { first: 20 });
  const outer = new AbortController();
  const [late, disposed, followed] = [90, 90, 95].map((delay) =>
    scheduler.signalAfter(delay, { signal: outer.signal }),
  );
  const slept = scheduler.sleep(50).catch(({ code }) => code);
  expect([await handOver(scheduler, successor), await slept]).toEqual([5, 'ERR_SCHEDULER_CLOSED']);
  expect([successor.size, successor.label('idle').size]).toEqual([5, 1]);
  disposed[Symbol.dispose]();
  await successor.advanceTo(130);
  outer.abort('outer');
  await successor.advanceTo(200);
  expect(seen).toEqual([
    ['beat', 60],
    ['beat', 130],
    ['idle', 140],
    ['beat', 200],
  ]);
  expect([late.reason.code, disposed.aborted, followed.reason]).toEqual(['ERR_TIMEOUT', false, 'outer']);
});

test.each([
  ['lease', 'renewed while the main loop was blocked\n'],
  ['threads', 'fired in a thread\nfired in a thread\n'],
  ['fake-time', 'half an hour in no time\n'],
  ['steps', 'three steps, and a stall\n'],
  ['moving', 'too late\nfalse\n'],
  ['errors', 'probe, host 1: host 1 is not there\nprobe, host 2: host 2 does not answer\n'],
  ['both-clocks', 'two clocks, one time\n'],
])('%s.ts runs, prints and ends', async (name, printed) => {
  const { code, stdout, stderr } = await runNode([join(folder, `${name}.mjs`)]);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: printed });
});
