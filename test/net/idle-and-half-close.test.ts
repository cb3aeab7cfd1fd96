import { once } from 'node:events';
import { socketTimeouts } from 'shardwheel/net';
import { describe, expect, test } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';
import { endOf, expectCut, onManualClock, pass, scheduler, send, sockets } from './manual-clock.ts';

onManualClock();

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
