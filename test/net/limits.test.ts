import { once } from 'node:events';
import { connect as connectSession, createServer as createSessionServer } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { createScheduler, type Scheduler } from 'shardwheel';
import {
  type Peer,
  SocketTimeoutError,
  type SocketTimeoutOptions,
  type SocketTimeouts,
  socketTimeouts,
} from 'shardwheel/net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { turn, until } from '../fixtures/event-loop.ts';
import { Sockets } from './sockets.mjs';

let scheduler: Scheduler;
let sockets: Sockets;
let now: number;

beforeEach(() => {
  scheduler = createScheduler({ shards: 0, clock: 'manual' });
  sockets = new Sockets();
  now = 0;
});
afterEach(async () => {
  sockets.close();
  await scheduler.close();
});

/** Lets so many ms pass, by steps. */
async function pass(time: number, step = time): Promise<void> {
  for (const end = now + time; now < end; ) {
    now = Math.min(end, now + step);
    await scheduler.advanceTo(now);
    await turn();
  }
}

/** What a peer is destroyed with. */
const endOf = (peer: Peer): Promise<SocketTimeoutError> =>
  new Promise((resolve) => {
    peer.on('error', resolve);
  });

/** Watches, and expects that both sides are cut by a kind after so many ms, and not one before. */
async function expectCut(
  kind: SocketTimeoutError['kind'],
  after: number,
  options: SocketTimeoutOptions,
  peers: readonly [Peer, Peer?],
): Promise<SocketTimeouts> {
  const told: unknown[] = [];
  const timeouts = socketTimeouts(scheduler, {
    ...options,
    onTimeout: (kind, { socket, upstream }) => told.push([kind, socket, upstream, socket.destroyed]),
  });
  const given = peers.filter((peer) => peer !== undefined);
  const ends = Promise.all(given.map(endOf));
  timeouts.watch(...peers);
  await pass(after - 1, after / 8);
  expect(given.map(({ destroyed }) => destroyed)).toEqual(given.map(() => false));
  await pass(1);
  for (const error of await ends) {
    expect(error).toBeInstanceOf(SocketTimeoutError);
    expect(error).toMatchObject({ code: 'ERR_SOCKET_TIMEOUT', kind, after });
    expect(error.message).toContain(`${after} ms`);
  }
  expect(told).toEqual([[kind, peers[0], peers[1], false]]);
  expect(scheduler.size).toBe(0);
  expect(timeouts.counts[kind as keyof SocketTimeouts['counts']]).toEqual({ watched: 0, timedOut: 1 });
  return timeouts;
}

/** A byte that has arrived. */
async function send(from: Socket, to: Socket): Promise<void> {
  const before = to.bytesRead;
  from.write('a');
  await until(() => to.bytesRead > before);
}

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
});

describe('idle', () => {
  test('of one socket, of a pair, of TLS, of sessions', async () => {
    const [one, client, server, secured, session] = [
      await sockets.net(),
      await sockets.net(),
      await sockets.net(),
      await sockets.tls(),
      await sockets.http2(),
    ];
    await expectCut('idle', 400, { idle: 400 }, [one.near]);
    await expectCut('idle', 400, { idle: 400 }, [client.near, server.far]);
    await expectCut('idle', 400, { idle: 400 }, [secured.near]);
    await expectCut('idle', 400, { idle: 400 }, [session.near]);
  });

  test.each(['the client', 'the upstream', 'written to the client'])(
    'a byte moves it, of whichever side: %s; a cut comes within a quarter more',
    async (whose) => {
      const [client, server] = [await sockets.net(), await sockets.net()];
      for (const socket of [client.near, client.far, server.near, server.far]) socket.resume();
      const timeouts = socketTimeouts(scheduler, { idle: 400 });
      timeouts.watch(client.near, server.far);
      for (let at = 0; at < 10; at++) {
        await pass(390, 65);
        if (whose === 'the client') await send(client.far, client.near);
        else if (whose === 'the upstream') await send(server.near, server.far);
        else await send(client.near, client.far);
      }
      expect(timeouts.counts.idle).toEqual({ watched: 1, timedOut: 0 });
      await pass(399, 57);
      expect(client.near.destroyed).toBe(false);
      await pass(101, 10);
      expect([client.near.destroyed, server.far.destroyed, scheduler.size]).toEqual([true, true, 0]);
    },
  );

  test('begins when both sides are open', async () => {
    const { near, far } = await sockets.net();
    const timeouts = socketTimeouts(scheduler, { idle: 400 });
    const server = (await import('node:net')).createServer();
    const port = await sockets.listen(server);
    let found: (error: null, address: string, family: number) => void = () => undefined;
    const { connect } = await import('node:net');
    const upstream = sockets.keep(
      connect({
        port,
        host: 'somewhere.invalid',
        autoSelectFamily: false,
        lookup: (_name, _options, callback) => {
          found = callback;
        },
      }),
    );
    timeouts.watch(near, upstream);
    await turn();
    await pass(2_000, 100);
    expect([near.destroyed, far.destroyed, timeouts.counts.idle.watched]).toEqual([false, false, 0]);
    found(null, '127.0.0.1', 4);
    await once(upstream, 'connect');
    expect(timeouts.counts.idle.watched).toBe(1);
    await pass(399, 57);
    expect(near.destroyed).toBe(false);
    await pass(1);
    expect([near.destroyed, upstream.destroyed]).toEqual([true, true]);
  });

  test('shrinks towards minIdle by the scale, at once, and back', async () => {
    const timeouts = socketTimeouts(scheduler, { idle: 4_000, minIdle: 800, lifetime: 4_000 });
    const [first, second] = [await sockets.net(), await sockets.net()];
    const end = endOf(first.near);
    timeouts.watch(first.near);
    await timeouts.setScale(0.25);
    await pass(1_599, 100);
    expect(first.near.destroyed).toBe(false);
    await pass(1);
    expect(await end).toMatchObject({ kind: 'idle', after: 1_600 });
    await timeouts.setScale(0);
    timeouts.watch(second.near);
    await timeouts.setScale(1);
    await pass(3_999, 500);
    expect(second.near.destroyed).toBe(false);
    await pass(1);
    expect(second.near.destroyed).toBe(true);
  });

  test('keeps a tenth of itself without minIdle', async () => {
    const timeouts = socketTimeouts(scheduler, { idle: 4_000 });
    const { near } = await sockets.net();
    const end = endOf(near);
    timeouts.watch(near);
    await timeouts.setScale(0);
    await pass(400, 50);
    expect(await end).toMatchObject({ kind: 'idle', after: 400 });
  });
});

describe('halfClose', () => {
  test('when the peer has ended', async () => {
    const { near, far } = await sockets.net();
    far.end();
    const timeouts = socketTimeouts(scheduler, { halfClose: 400, idle: 4_000 });
    timeouts.watch(near.resume());
    expect(timeouts.counts.halfClose.watched).toBe(0);
    await once(near, 'end');
    const end = endOf(near);
    await pass(399);
    expect(near.destroyed).toBe(false);
    await pass(1);
    expect(await end).toMatchObject({ kind: 'halfClose', after: 400 });
  });

  test.each(['the client', 'the upstream'])('when we have, towards %s', async (side) => {
    const [client, server] = [await sockets.net(), await sockets.net()];
    const timeouts = socketTimeouts(scheduler, { halfClose: 400 });
    timeouts.watch(client.near, server.far);
    const ending = side === 'the client' ? client.near : server.far;
    ending.end();
    await once(ending, 'finish');
    await pass(400);
    expect([client.near.destroyed, server.far.destroyed]).toEqual([true, true]);
    expect(timeouts.counts.halfClose).toEqual({ watched: 0, timedOut: 1 });
  });

  test('when one of a pair is gone, and the other is not', async () => {
    const [client, server] = [await sockets.net(), await sockets.net()];
    const timeouts = socketTimeouts(scheduler, { halfClose: 400 });
    timeouts.watch(client.near, server.far);
    server.far.destroy();
    await once(server.far, 'close');
    await pass(400);
    expect(client.near.destroyed).toBe(true);
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
  for (const kind of Object.keys(limits)) timeUp.call(watched, kind); // as by a turn between the loop's poll and its closing
  expect(told).toEqual([]);
  expect(Object.values(timeouts.counts).map(({ timedOut }) => timedOut)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(await timeouts.drain(0)).toEqual({ closed: 1, cut: 0 });
  timeouts.watch((await sockets.net()).near);
  expect(await timeouts.drain(0)).toEqual({ closed: 0, cut: 1 });
  expect(scheduler.size).toBe(0);
});
