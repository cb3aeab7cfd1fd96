import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createEchoServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { createScheduler } from 'shardwheel';
import { socketTimeouts } from 'shardwheel/net';
import { expect, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { runNode, runText } from '../fixtures/child-process.ts';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { read, root } from './documents.ts';
import { ofExamples, recipes, shown, writtenRecipes } from './written-recipes.ts';

// Those that a manual clock can move are in recipes-of-manual-clock.long.test.ts.

test.each(Object.entries(ofExamples))('%s is shown as it is run', (name, path) => {
  expect(shown.get(name)).toBe(read(path).replace('../../../dist/examples/fake-time/retry.js', './retry.ts'));
});

const { folder, load } = writtenRecipes('recipes');

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('there are as many as the document has headings for, and each is tried, below or with a manual clock', () => {
  const tried =
    'scheduler ws-heartbeat periodic-work lease mqtt-keepalive command-deadline upstream backoff debounce ' +
    'rate-window expiring-map errors shutdown hand-over threads moving fake-time steps both-clocks ' +
    'wheel-alone tcp-limits http-limits pressure';
  expect([...recipes.keys()]).toEqual(tried.split(' ').map((name) => `${name}.ts`));
});

test('each compiles, strictly', () => {
  const { stdout } = spawnSync('npx', ['tsc', '-p', folder], { cwd: root, encoding: 'utf8' });
  expect(stdout).toBe('');
}, 300_000);

test('scheduler.ts makes a scheduler that holds no process', async () => {
  const { scheduler } = await load('scheduler');
  expect(scheduler.size).toBe(0);
  await scheduler.close();
});

test('tcp-limits.ts passes on what comes, and cuts what hangs, by its kind', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { tcpProxy } = await load('tcp-limits');
  const echo = createEchoServer((socket) => socket.on('error', () => undefined).pipe(socket));
  const [proxy, timeouts] = tcpProxy(scheduler, await listening(echo), 20); // 50 times as fast
  const port = await listening(proxy);
  const asking = connect(port, '127.0.0.1');
  asking.end('hello');
  expect(String((await asking.toArray()).join(''))).toBe('hello');
  const silent = connect(port, '127.0.0.1').on('error', () => undefined);
  silent.resume();
  await once(silent, 'close');
  expect(timeouts.counts.firstByte.timedOut).toBe(1);
  expect(await timeouts.drain(1_000, proxy)).toEqual({ closed: 0, cut: 0 });
  echo.close();
});

test('http-limits.ts serves, tells the handler of a client that is gone, and drains', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { forClient, limited } = await load('http-limits');
  const ends: string[] = [];
  const [server, timeouts] = limited(scheduler, (async (request, response) => {
    const work = (signal: AbortSignal) => new Promise((_, reject) => signal.addEventListener('abort', reject));
    if (request.url !== '/')
      await forClient(scheduler, response, 200, work).catch((error: Error) => ends.push(error.name));
    response.end('hello\n');
  }) satisfies RequestListener);
  const url = `http://127.0.0.1:${await listening(server)}`;
  expect(await (await fetch(url)).text()).toBe('hello\n');
  expect(await (await fetch(`${url}/slow`)).text()).toBe('hello\n');
  const leaving = new AbortController();
  const left = fetch(`${url}/slow`, { signal: leaving.signal }).catch(() => undefined);
  await once(server, 'request');
  leaving.abort();
  await left;
  await until(() => ends.length === 2);
  expect(ends).toEqual(['TimeoutError', 'AbortError']);
  expect((await timeouts.drain(5_000, server)).cut).toBe(0);
  expect(scheduler.size).toBe(0);
});

test('pressure.ts shortens idle limits, and gives them back', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { relieve } = await load('pressure');
  const timeouts = socketTimeouts(scheduler, { idle: 60_000 });
  const scales: number[] = [];
  timeouts.setScale = async (factor) => void scales.push(factor);
  const end = relieve(scheduler, timeouts, 1);
  await until(() => scales.length > 0);
  end();
  expect([scales[0], scheduler.size]).toEqual([0, 0]);
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

test('expiring-map.ts holds no process', async () => {
  const text = `
    import { createScheduler } from 'shardwheel';
import { socketTimeouts } from 'shardwheel/net';
    import { ExpiringMap } from '${pathToFileURL(join(folder, 'expiring-map.mjs'))}';
    const scheduler = createScheduler();
    const map = new ExpiringMap(scheduler);
    for (let i = 0; i < 9; i++) map.set('key ' + i, i, 3_600_000);
    scheduler.scheduleAfter('last', 20, () => console.log(map.size));`;
  expect(await runText(text)).toEqual({ code: 0, stdout: '9\n', stderr: '' });
});

test('shutdown.ts', async () => {
  const scheduler = createScheduler({ shards: 0 });
  const { shutDown } = await load('shutdown');
  const server = createServer(() => scheduler.scheduleAfter(0, 60_000));
  const port = await listening(server);
  const slow = fetch(`http://127.0.0.1:${port}/slow`).catch((error: Error) => error.name);
  await once(server, 'request');
  scheduler.scheduleAfter('left', 60_000);
  expect(await shutDown(server, scheduler, 100)).toBeGreaterThanOrEqual(1);
  expect(await slow).toBe('TypeError'); // its connection was closed
  expect(server.listening).toBe(false);
});

test('shutdown.ts ends within its limit, though a socket that was upgraded stays open', async () => {
  const scheduler = createScheduler({ shards: 0 });
  const { shutDown } = await load('shutdown');
  const server = createServer();
  const upgraded: Duplex[] = [];
  server.on('upgrade', (_request, socket) => upgraded.push(socket));
  const client = connect(await listening(server), '127.0.0.1');
  client.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: none\r\n\r\n');
  await once(server, 'upgrade');
  expect(await shutDown(server, scheduler, 100)).toBe(0);
  expect(scheduler.isClosed).toBe(true);
  for (const socket of [client, ...upgraded]) socket.destroy();
});

test.each([
  ['wheel-alone', ''],
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
