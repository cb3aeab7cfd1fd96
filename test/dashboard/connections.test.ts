import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from '../../src/extras/dashboard/connections.ts';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { ask } from './dashboard-client.ts';
import { connected, served } from './served.ts';

/** ms: long enough for a busy machine to open a connection and hear its request. */
const LIMIT = 400;

test('what brings no request, or does not take its answer, is ended; a stream stays, and is counted', async () => {
  const connections = new Connections(LIMIT, LIMIT);
  const server = createServer(({ socket, url }, response) => {
    connections.answer(socket);
    if (url === '/events') connections.release(socket);
    response.write(url === '/large' ? 'x'.repeat(2 ** 26) : 'begun');
  }).listen(0, '127.0.0.1');
  let accepted = 0;
  server.on('connection', (socket) => {
    accepted += 1;
    connections.add(socket);
  });
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  const open = new Map<string, Socket>();
  const start = (name: string, text: string): void => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    open.set(name, socket);
    socket.on('error', () => undefined).on('close', () => open.delete(name));
    if (name !== 'reads nothing') socket.resume();
  };
  start('stream', 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => accepted === 1);
  start('silent', '');
  start('line feeds', '\r\n\r\n');
  start('half a request', 'GET / HTTP/1.1\r\n');
  start('reads nothing', 'GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(() => accepted === 5);
  await until(() => connections.count === 1);
  open.get('reads nothing')?.destroy(); // it would hear of its end by reading
  await until(() => open.size === 1);
  expect([...open.keys()]).toEqual(['stream']);
  for (const socket of open.values()) socket.destroy();
  await until(() => connections.count === 0);
  server.close();
});

test('a request that comes while the event loop is blocked is heard, though its time is over', async () => {
  const connections = new Connections(LIMIT);
  const server = createServer(({ socket }, response) => {
    connections.release(socket);
    response.end('heard');
  }).listen(0, '127.0.0.1');
  server.on('connection', (socket) => connections.add(socket));
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  let got = '';
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.on('data', (text) => {
    got += text;
  });
  await until(() => connections.count === 1 && socket.readyState === 'open');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'); // is in the system's buffer at once
  blockLoop(LIMIT + 50);
  await until(() => socket.closed);
  expect(got).toContain('heard');
  server.close();
});

test('a stream that is asked for behind an answer that ends the connection is none: it would never end', async () => {
  await using shown = await served();
  const page = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const stream = 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const statusOfStreams = async () => (await ask(shown.url, '/events', { method: 'HEAD' })).status;
  for (let i = 0; i < 64; i++) {
    const { socket, line } = await connected(shown.url, page + stream);
    expect(line).toBe('HTTP/1.1 200 OK');
    await until(() => socket.closed);
    expect([i, await statusOfStreams()]).toEqual([i, 200]); // there is room for another
  }
});
