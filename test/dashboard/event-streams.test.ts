import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, test } from 'vitest';
import { EventStreams } from '../../src/dashboard/event-streams.ts';
import { turn, until } from '../fixtures/event-loop.ts';
import { Watcher } from './dashboard-client.ts';

test('a client that never reads is dropped, and holds up nobody', async () => {
  const changes: boolean[] = [];
  const streams = new EventStreams((isWatched) => changes.push(isWatched));
  const held = new Set<import('node:http').ServerResponse>();
  const server = createServer((_, response) => {
    held.add(response);
    response.on('close', () => held.delete(response));
    streams.add({ response, from: 0 }, '{}');
  }).listen(0, '127.0.0.1');
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  const deaf = connect(port, '127.0.0.1', () => deaf.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  deaf.on('error', () => undefined).pause();
  await until(() => streams.count === 1);
  using reader = await Watcher.open(`http://127.0.0.1:${port}/`);
  await reader.hello();
  expect(streams.count).toBe(2);
  const text = JSON.stringify('x'.repeat(10_000));
  let sent = 0;
  let most = 0;
  let read = 0;
  while (streams.count === 2) {
    streams.send('sample', () => text);
    sent += 1;
    for (const { writableLength } of held) most = Math.max(most, writableLength);
    await reader.expect('sample');
    read += 1;
    await turn();
  }
  expect(sent).toBeGreaterThan(20);
  expect(most).toBeLessThan(300_000); // and not all that was sent
  await until(() => held.size === 1);
  streams.send('sample', () => text);
  await reader.expect('sample');
  expect(read).toBe(sent);
  streams.end('end', '{}');
  await reader.expect('end');
  expect([await reader.next(), streams.count, changes]).toEqual([undefined, 0, [true, false]]);
  deaf.destroy();
  server.close();
});

test('streams that are shown the same are sent the same text, made once', async () => {
  const streams = new EventStreams(() => undefined);
  const server = createServer((request, response) => {
    streams.add({ response, from: Number(new URL(request.url ?? '', 'http://x').searchParams.get('from')) }, '{}');
  }).listen(0, '127.0.0.1');
  await until(() => server.listening);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const watchers = await Promise.all([0, 0, 8].map((from) => Watcher.open(url, `?from=${from}`)));
  for (const watcher of watchers) await watcher.hello();
  const made: number[] = [];
  streams.send('sample', (from) => {
    made.push(from);
    return JSON.stringify({ from });
  });
  expect(made.sort()).toEqual([0, 8]);
  const got = await Promise.all(watchers.map((watcher) => watcher.expect<{ from: number }>('sample')));
  expect(got.map(({ from }) => from)).toEqual([0, 0, 8]);
  streams.end('end', '{}');
  server.close();
});
