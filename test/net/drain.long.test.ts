import { once } from 'node:events';
import { connect as connectSession, createServer as createSessionServer, type Http2Session } from 'node:http2';
import { connect, createServer as createNetServer, type Socket } from 'node:net';
import { createScheduler, type Scheduler } from 'shardwheel';
import { SocketTimeoutError, socketTimeouts } from 'shardwheel/net';
import { describe, expect, test } from 'vitest';
import { pass, until } from '../fixtures/event-loop.ts';
import { eachWithSockets } from './each-with-sockets.ts';
import type { Sockets } from './sockets.mjs';

const MINUTE = 60_000;

let scheduler: Scheduler;
let sockets: Sockets;

eachWithSockets((own) => {
  ({ scheduler, sockets } = own);
});

describe('of net', () => {
  test('ends what is idle, what is busy when it falls idle, after what was written; counts a pair once', async () => {
    const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
    const server = createNetServer({ allowHalfOpen: true });
    const port = await sockets.listen(server);
    const accept = async () => {
      const accepted = once(server, 'connection');
      const far = sockets.keep(connect({ port, host: '127.0.0.1' }));
      const [near] = await accepted;
      return { near: sockets.keep(near as Socket), far };
    };
    const [idle, busy, upstream] = [await accept(), await accept(), await sockets.net()];
    timeouts.watch(idle.near);
    timeouts.watch(busy.near.resume(), upstream.far);
    const talk = setInterval(() => busy.far.write('a'), 20);
    await pass(300);
    let received = 0;
    idle.far.on('data', ({ length }: Buffer) => {
      received += length;
    });
    const drained = timeouts.drain(10_000, server);
    await until(() => idle.near.destroyed);
    expect(server.listening).toBe(false);
    expect([busy.near.destroyed, upstream.far.destroyed]).toEqual([false, false]);
    busy.far.on('data', ({ length }: Buffer) => {
      received += length;
    });
    clearInterval(talk);
    busy.near.write(Buffer.alloc(1_000_000));
    expect(await drained).toEqual({ closed: 2, cut: 0 });
    await until(() => busy.far.destroyed);
    expect(received).toBe(1_000_000);
    expect(upstream.far.destroyed).toBe(true);
    expect(scheduler.size).toBe(0);
  });

  test('what waits for a reader that never reads is cut at the deadline, with the error; no listener piles up', async () => {
    const timeouts = socketTimeouts(scheduler, {});
    const { near, far } = await sockets.net();
    far.pause();
    near.write(Buffer.alloc(50_000_000));
    timeouts.watch(near);
    const error = new Promise((resolve) => near.on('error', resolve));
    const drained = timeouts.drain(3_000);
    await pass(700);
    const listeners = near.listenerCount('finish');
    await pass(350);
    expect([near.destroyed, near.listenerCount('finish')]).toEqual([false, listeners]);
    expect(await drained).toEqual({ closed: 0, cut: 1 });
    expect(await error).toBeInstanceOf(SocketTimeoutError);
    expect(await error).toMatchObject({ kind: 'drain', after: 3_000 });
  });

  test('called again it is the same drain, at the earlier deadline: 0 cuts', async () => {
    const timeouts = socketTimeouts(scheduler, {});
    const { near, far } = await sockets.net();
    timeouts.watch(near.resume());
    const talk = setInterval(() => far.write('a'), 20);
    const first = timeouts.drain(MINUTE);
    const second = timeouts.drain(2 * MINUTE);
    await pass(300);
    expect(near.destroyed).toBe(false);
    const third = timeouts.drain(0);
    expect(await Promise.all([first, second, third])).toEqual(Array(3).fill({ closed: 0, cut: 1 }));
    clearInterval(talk);
    expect(await timeouts.drain(0)).toEqual({ closed: 0, cut: 0 });
  });

  test('one whose onTimeout throws does not spare the others', async () => {
    const timeouts = socketTimeouts(scheduler, {
      onTimeout: () => {
        throw new Error('of a test');
      },
    });
    const [first, second] = [await sockets.net(), await sockets.net()];
    for (const { near } of [first, second]) timeouts.watch(near);
    await expect(timeouts.drain(0)).rejects.toThrow('of a test');
    expect([first.near.destroyed, second.near.destroyed]).toEqual([true, true]);
  });

  test('a server that nobody watches is closed, and waited for', async () => {
    const timeouts = socketTimeouts(scheduler, {});
    const server = createNetServer();
    const port = await sockets.listen(server);
    const far = sockets.keep(connect(port, '127.0.0.1'));
    const [near] = (await once(server, 'connection')) as [Socket];
    let isDone = false;
    const drained = timeouts.drain(10_000, server).finally(() => {
      isDone = true;
    });
    await pass(100);
    expect([server.listening, isDone]).toEqual([false, false]);
    near.destroy();
    far.destroy();
    expect(await drained).toEqual({ closed: 0, cut: 0 });
  });

  test('connections that come meanwhile are treated alike', async () => {
    const timeouts = socketTimeouts(scheduler, {});
    const first = await sockets.net();
    timeouts.watch(first.near.resume());
    const talk = setInterval(() => first.far.write('a'), 20);
    const drained = timeouts.drain(10_000);
    await pass(100);
    const second = await sockets.net();
    timeouts.watch(second.near);
    await until(() => second.near.destroyed);
    clearInterval(talk);
    expect(await drained).toEqual({ closed: 2, cut: 0 });
  });

  test('rejects when the scheduler is closed', async () => {
    const other = createScheduler({ shards: 0 });
    const timeouts = socketTimeouts(other, {});
    const { near } = await sockets.net();
    near.write(Buffer.alloc(50_000_000));
    timeouts.watch(near);
    const drained = timeouts.drain(MINUTE);
    await other.close();
    await expect(drained).rejects.toMatchObject({ code: 'ERR_SCHEDULER_CLOSED' });
  });
});

test('of http2: sessions end with their streams, on either side', async () => {
  const timeouts = socketTimeouts(scheduler, { idle: MINUTE });
  const server = createSessionServer((request, response) => {
    if (request.url === '/held') setTimeout(() => response.end('late'), 600);
    else response.end('quick');
  });
  server.on('session', (session: Http2Session) => timeouts.watch(session));
  const port = await sockets.listen(server);
  const [idle, busy] = [1, 2].map(() => sockets.keep(connectSession(`http://127.0.0.1:${port}`)));
  await Promise.all([once(idle, 'connect'), once(busy, 'connect')]);
  await until(() => timeouts.counts.idle.watched === 2);
  const asked = busy.request({ ':path': '/held' }).setEncoding('utf8');
  let body = '';
  asked.on('data', (chunk) => {
    body += chunk;
  });
  await once(server, 'request');
  const idleClosed = once(idle, 'close');
  const drained = timeouts.drain(10_000, server);
  await idleClosed;
  expect(busy.destroyed).toBe(false);
  await once(asked, 'end');
  expect(body).toBe('late');
  expect(await drained).toEqual({ closed: 2, cut: 0 });
});

test('of http2: a request that is not answered is cut, and nothing is uncaught', async () => {
  const timeouts = socketTimeouts(scheduler, {});
  const server = createSessionServer(() => undefined);
  server.on('session', (session: Http2Session) => timeouts.watch(sockets.keep(session)));
  const port = await sockets.listen(server);
  const client = sockets.keep(connectSession(`http://127.0.0.1:${port}`));
  const asked = client.request();
  asked.on('error', () => undefined);
  await once(server, 'request');
  expect(await timeouts.drain(100, server)).toEqual({ closed: 0, cut: 1 });
  await until(() => client.destroyed);
});
