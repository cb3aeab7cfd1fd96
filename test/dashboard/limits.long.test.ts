import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { Tally } from '../fixtures/tally.ts';
import { ask, Watcher } from './dashboard-client.ts';
import { connected, served } from './served.ts';

test('10,000 connections: 32 are streams, all others are told that there is no room, and every timer fires once', async () => {
  await using served_ = await served();
  const { scheduler, url } = served_;
  const tally = new Tally(1000);
  const answers = new Map<string, number>();
  const sockets: Socket[] = [];
  let begun = 0;
  const visit = async (): Promise<void> => {
    while (begun < 10_000) {
      if (begun % 10 === 0) scheduler.scheduleAfter(begun, begun % 500, tally.add, begun / 10);
      begun += 1;
      const { socket, line } = await connected(url, 'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n');
      if (line.endsWith('200 OK')) sockets.push(socket);
      else socket.destroy();
      answers.set(line, (answers.get(line) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 24 }, visit));
  expect(Object.fromEntries(answers)).toEqual({ 'HTTP/1.1 200 OK': 32, 'HTTP/1.1 503 Service Unavailable': 9968 });
  await until(() => tally.total >= 1000);
  tally.expectEachOnce();
  for (const socket of sockets) socket.destroy();
  await until(async () => (await ask(url, '/events', { method: 'HEAD' })).status === 200);
});

/** Sends a bit now and then, for as long as it may: with `text` first, then its last characters. */
function dribble(socket: Socket, text: string): void {
  if (text === '') return;
  socket.write(text);
  const more = setInterval(() => socket.write(text.slice(-2)), 500);
  socket.once('close', () => clearInterval(more));
}

test('connections that say nothing: whoever comes after 64 is told so, after 256 is not heard, until they are ended', async () => {
  await using shown = await served();
  using watcher = await Watcher.open(shown.url);
  const sockets: Socket[] = [];
  let [open, closed] = [0, 0];
  const fill = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const socket = connect(Number(new URL(shown.url).port), '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      open += 1;
      socket.once('close', () => {
        closed += 1;
      });
      socket.resume();
    }
  };
  await fill(62); // beside the stream
  expect((await ask(shown.url, '/')).status).toBe(200);
  await fill(1);
  expect(await ask(shown.url, '/')).toMatchObject({ status: 503, text: expect.stringContaining('32') });
  await fill(192);
  for (const [at, socket] of sockets.entries()) dribble(socket, ['', '\r\n', 'GET / HTTP/1.1\r\nX: '][at % 3]);
  expect(closed).toBe(0);
  await fill(50);
  await until(() => sockets.slice(-50).every((socket) => socket.closed));
  await expect(ask(shown.url, '/')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(open).toBe(305);
  await until(() => closed === 305);
  expect((await ask(shown.url, '/')).status).toBe(200);
  for (let second = 0; second < 6; second++) await watcher.sample(); // a stream is not idle
});
