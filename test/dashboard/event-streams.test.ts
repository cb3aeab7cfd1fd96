import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { EventStreams } from '../../src/extras/dashboard/event-streams.ts';
import { turn, until } from '../fixtures/event-loop.ts';
import { Watcher } from './dashboard-client.ts';

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/`, [Symbol.dispose]: () => void server.close() };
}

test('a client that never reads is dropped, and holds up nobody', async () => {
  const changes: boolean[] = [];
  const streams = new EventStreams((isWatched) => changes.push(isWatched));
  const held = new Set<ServerResponse>();
  using server = await listening((_, response) => {
    held.add(response);
    response.on('close', () => held.delete(response));
    streams.add({ response, from: 0 }, '{}');
  });
  const deaf = connect(server.port, '127.0.0.1', () => deaf.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  deaf.on('error', () => undefined).pause();
  await until(() => streams.count === 1);
  using reader = await Watcher.open(server.url);
  expect(streams.count).toBe(2);
  const text = JSON.stringify('x'.repeat(10_000));
  let sent = 0;
  let most = 0;
  while (streams.count === 2) {
    streams.send('sample', () => text);
    sent += 1;
    for (const { writableLength } of held) most = Math.max(most, writableLength);
    await reader.expect('sample');
    await turn();
  }
  expect(sent).toBeGreaterThan(20);
  expect(most).toBeLessThan(300_000); // and not all that was sent
  await until(() => held.size === 1);
  streams.send('sample', () => text);
  await reader.expect('sample'); // it has read each that was sent
  streams.end('end', '{}');
  await reader.expect('end');
  expect([await reader.next(), streams.count, changes]).toEqual([undefined, 0, [true, false]]);
  deaf.destroy();
});

test('streams that are shown the same are sent the same text, made once', async () => {
  const streams = new EventStreams(() => undefined);
  using server = await listening((request, response) => {
    streams.add({ response, from: Number(new URL(request.url ?? '', 'http://x').searchParams.get('from')) }, '{}');
  });
  const watchers = await Promise.all([0, 0, 8].map((from) => Watcher.open(server.url, `?from=${from}`)));
  const made: number[] = [];
  streams.send('sample', (from) => {
    made.push(from);
    return JSON.stringify({ from });
  });
  expect(made.sort()).toEqual([0, 8]);
  const got = await Promise.all(watchers.map((watcher) => watcher.expect<{ from: number }>('sample')));
  expect(got.map(({ from }) => from)).toEqual([0, 0, 8]);
  streams.end('end', '{}');
});
