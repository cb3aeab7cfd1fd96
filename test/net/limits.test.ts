import { once } from 'node:events';
import { connect as connectSession, createServer as createSessionServer } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { type Peer, socketTimeouts } from 'shardwheel/net';
import { describe, expect, test } from 'vitest';
import { until } from '../fixtures/event-loop.ts';
import { endOf, expectCut, onManualClock, pass, scheduler, send, sockets } from './manual-clock.ts';

onManualClock();

describe('connect', () => {
  test('of one socket', () => expectCut('connect', 400, { connect: 400 }, [sockets.connecting()]));

  test('of the upstream, with the client', async () => {
    const { near } = await sockets.net();
    await expectCut('connect', 400, { connect: 400, idle: 80 }, [near, sockets.connecting()]);
  });

  test('of a socket that somebody connects later', async () => {
    const { near } = await sockets.net();
    const timeouts = socketTimeouts(scheduler, { connect: 400 });
    timeouts.watch(near);
    expect(timeouts.counts.connect.watched).toBe(0);
    const later = sockets.keep(new (near.constructor as typeof Socket)());
    timeouts.watch(later);
    expect(timeouts.counts.connect.watched).toBe(1);
  });

  test('ends when it is connected', async () => {
    const server = createSessionServer();
    const port = await sockets.listen(server);
    const session = sockets.keep(connectSession(`http://127.0.0.1:${port}`));
    const timeouts = socketTimeouts(scheduler, { connect: 400 });
    timeouts.watch(session);
    expect(timeouts.counts.connect.watched).toBe(1);
    await once(session, 'connect');
    expect(timeouts.counts.connect.watched).toBe(0);
    await pass(500);
    expect(session.destroyed).toBe(false);
  });

  test('of an http2 session whose server is silent', async () => {
    const { near, far } = await sockets.net();
    const { near: silent } = await sockets.clientOfSilence();
    const session = sockets.keep(connectSession('https://localhost', { createConnection: () => silent }));
    await expectCut('connect', 400, { connect: 400, idle: 80 }, [session]);
    expect([near.destroyed, far.destroyed]).toEqual([false, false]);
  });
});

describe('secure', () => {
  test('of a client', async () => {
    const { near } = await sockets.clientOfSilence();
    await expectCut('secure', 400, { connect: 100, secure: 400, firstByte: 80, idle: 80 }, [near]);
  });

  test('of a server whose client stops half-way', async () => {
    const { near } = await sockets.serverOfHalfAHello();
    await expectCut('secure', 400, { connect: 100, secure: 400, firstByte: 80, idle: 80 }, [near]);
  });

  test('of the upstream', async () => {
    const { near } = await sockets.net();
    const { near: upstream } = await sockets.clientOfSilence();
    await expectCut('secure', 400, { secure: 400, idle: 80 }, [near, upstream]);
  });

  test('ends with the handshake, also of a TLSSocket that a program makes for its server; idle begins then', async () => {
    const timeouts = socketTimeouts(scheduler, { secure: 400, firstByte: 1_000, idle: 600 });
    const { near: raw, far: rawFar } = await sockets.net();
    const { key, cert } = await import('./certificate.mjs');
    const near = sockets.keep(new TLSSocket(raw, { isServer: true, key, cert }));
    timeouts.watch(near);
    expect(timeouts.counts.secure.watched).toBe(1);
    const { connect } = await import('node:tls');
    const far = sockets.keep(connect({ socket: rawFar, rejectUnauthorized: false }));
    timeouts.watch(far);
    expect(timeouts.counts.secure.watched).toBe(2);
    expect(timeouts.counts.idle.watched).toBe(0);
    await Promise.all([once(near, 'secure'), once(far, 'secureConnect')]);
    expect(timeouts.counts).toMatchObject({ secure: { watched: 0 }, idle: { watched: 2 }, firstByte: { watched: 2 } });
    await pass(599, 50);
    expect([near.destroyed, far.destroyed]).toEqual([false, false]);
  });

  test('is over for a socket that is watched afterwards', async () => {
    const { near, far } = await sockets.tls();
    const timeouts = socketTimeouts(scheduler, { secure: 400 });
    timeouts.watch(near, far);
    expect(scheduler.size).toBe(0);
  });
});

describe('firstByte', () => {
  test('of one that is silent', async () => {
    const { near } = await sockets.net();
    await expectCut('firstByte', 400, { firstByte: 400 }, [near]);
  });

  test("is the client's: the upstream's do not count", async () => {
    const [client, server] = [await sockets.net(), await sockets.net()];
    await send(server.near, server.far.resume());
    await expectCut('firstByte', 400, { firstByte: 400, idle: 4_000 }, [client.near, server.far]);
  });

  test('of TLS: the handshake is none', async () => {
    const { near } = await sockets.tls();
    await expectCut('firstByte', 400, { firstByte: 400 }, [near]);
  });

  test('ends nobody who has sent one', async () => {
    const { near, far } = await sockets.net();
    const timeouts = socketTimeouts(scheduler, { firstByte: 400 });
    timeouts.watch(near.resume());
    await send(far, near);
    await pass(500);
    expect([near.destroyed, scheduler.size, timeouts.counts.firstByte.timedOut]).toEqual([false, 0, 0]);
  });

  test('of one that nobody reads from is looked at again: a byte that has come is found when somebody reads', async () => {
    const { near, far } = await sockets.net({ pauseOnConnect: true });
    const timeouts = socketTimeouts(scheduler, { firstByte: 400 });
    timeouts.watch(near);
    far.write('a');
    await pass(1_000, 100);
    expect([near.destroyed, near.bytesRead, timeouts.counts.firstByte.watched]).toEqual([false, 0, 1]);
    near.resume();
    await until(() => near.bytesRead === 1);
    await pass(400, 100);
    expect([near.destroyed, scheduler.size, timeouts.counts.firstByte.timedOut]).toEqual([false, 0, 0]);
  });

  test('of one that nobody has read from, and is silent when somebody does', async () => {
    const { near } = await sockets.net({ pauseOnConnect: true });
    const timeouts = socketTimeouts(scheduler, { firstByte: 400 });
    timeouts.watch(near);
    await pass(400);
    near.resume();
    const end = endOf(near);
    await pass(400);
    expect(await end).toMatchObject({ kind: 'firstByte', after: 400 });
    expect(timeouts.counts.firstByte).toEqual({ watched: 0, timedOut: 1 });
  });

  test('of one that nobody reads from: idle goes by bytes that have moved, and cuts it', async () => {
    const { near, far } = await sockets.net({ pauseOnConnect: true });
    far.write('a');
    await expectCut('idle', 800, { firstByte: 400, idle: 800 }, [near]);
  });
});

describe('lifetime', () => {
  test('of one that is busy, too', async () => {
    const { near, far } = await sockets.net();
    const timeouts = socketTimeouts(scheduler, { lifetime: 1_000, idle: 200 });
    const end = endOf(near);
    timeouts.watch(near.resume());
    for (let at = 0; at < 9; at++) {
      await pass(100);
      await send(far, near);
    }
    await pass(99);
    expect(near.destroyed).toBe(false);
    await pass(1);
    expect(await end).toMatchObject({ kind: 'lifetime', after: 1_000 });
  });

  test.each([['connecting'], ['clientOfSilence'], ['serverOfHalfAHello'], ['tls'], ['http2']] as const)(
    'of one that is not open, of TLS, of a session: %s',
    async (state) => {
      const opened = await sockets[state]();
      await expectCut('lifetime', 400, { lifetime: 400 }, [('near' in opened ? opened.near : opened) as Peer]);
    },
  );
});

test('each kind has a label of its name, also the second time, and holds no process', () => {
  const all = { connect: 1, secure: 1, firstByte: 1, idle: 1, halfClose: 1, lifetime: 1 };
  socketTimeouts(scheduler, all);
  socketTimeouts(scheduler, { idle: 1 });
  const names = ['connect', 'secure', 'first-byte', 'idle', 'half-close', 'lifetime', 'idle-2'];
  for (const name of names) expect(() => scheduler.label(`socket-${name}`, { min: 0.1 })).toThrow(/label/);
});

test('a listener that throws in onTimeout ends the connection, and is told', async () => {
  const { near } = await sockets.net();
  const errors: unknown[] = [];
  scheduler.on('error', (error) => errors.push(error));
  const timeouts = socketTimeouts(scheduler, {
    idle: 400,
    onTimeout: () => {
      throw new Error('of a test');
    },
  });
  timeouts.watch(near);
  await pass(400, 100).catch((error) => errors.push(error));
  expect([near.destroyed, errors.length]).toEqual([true, 1]);
});

test('a limit that comes after a connection has ended, and before it is closed, is no timeout', async () => {
  const told: unknown[] = [];
  const limits = { firstByte: 400, idle: 400, halfClose: 400, lifetime: 400 };
  const timeouts = socketTimeouts(scheduler, { ...limits, onTimeout: (kind) => told.push(kind) });
  const { near } = await sockets.net();
  const watched = timeouts.watch(near);
  near.destroy();
  const { timeUp } = Object.getPrototypeOf(watched);
  // as by a turn between the loop's poll and its closing
  for (const kind of Object.keys(limits)) timeUp.call(watched, kind);
  expect(told).toEqual([]);
  expect(Object.values(timeouts.counts).map(({ timedOut }) => timedOut)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await timeouts.drain(0)).toEqual({ closed: 1, cut: 0 });
  timeouts.watch((await sockets.net()).near);
  expect(await timeouts.drain(0)).toEqual({ closed: 0, cut: 1 });
  expect(scheduler.size).toBe(0);
});
