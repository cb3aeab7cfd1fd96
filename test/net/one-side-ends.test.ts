import { once } from 'node:events';
import type { Socket } from 'node:net';
import { socketTimeouts } from 'shardwheel/net';
import { describe, expect, test } from 'vitest';
import { onManualClock, pass, scheduler, sockets } from './manual-clock.ts';

onManualClock();

const ALL = { connect: 5000, idle: 400, halfClose: 1000 };

async function closed(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const hasClosed = once(socket, 'close');
  socket.destroy();
  await hasClosed;
}

describe('while one side of a pair is open, it is idle or not, however the other has ended', () => {
  const upstreams: Record<string, () => Promise<Socket>> = {
    open: async () => (await sockets.net()).far,
    connecting: async () => sockets.connecting(),
    destroyed: async () => {
      const { far } = await sockets.net();
      await closed(far);
      return far;
    },
  };

  test.each(['open', 'connecting', 'destroyed'])('an upstream that is %s', async (state) => {
    const { near } = await sockets.net();
    const upstream = await upstreams[state]();
    const timeouts = socketTimeouts(scheduler, ALL);
    timeouts.watch(near, upstream);
    await closed(upstream);
    expect(timeouts.counts).toMatchObject({ idle: { watched: 1 }, halfClose: { watched: 1 } });
    await pass(400, 100);
    expect([near.destroyed, timeouts.counts.idle.timedOut, scheduler.size]).toEqual([true, 1, 0]);
  });

  test('a client that goes while its upstream connects', async () => {
    const { near } = await sockets.net();
    const upstream = sockets.connecting();
    const timeouts = socketTimeouts(scheduler, ALL);
    timeouts.watch(near, upstream);
    await closed(near);
    expect(timeouts.counts).toMatchObject({ connect: { watched: 1 }, idle: { watched: 0 }, halfClose: { watched: 1 } });
    await pass(1000, 100);
    expect([upstream.destroyed, scheduler.size]).toEqual([true, 0]);
  });
});

test.each(['connect', 'secure'] as const)(
  'a side whose %s has failed cuts the other no more, though its time comes before its event',
  async (step) => {
    const { near } = await sockets.net();
    const upstream = step === 'connect' ? sockets.connecting() : (await sockets.clientOfSilence()).near;
    const told: unknown[] = [];
    const timeouts = socketTimeouts(scheduler, { [step]: 500, onTimeout: (kind) => told.push(kind) });
    timeouts.watch(near, upstream);
    await pass(499);
    expect(timeouts.counts[step].watched).toBe(1);
    const hasClosed = once(upstream, 'close');
    const hold = upstream._destroy;
    let destroyed: () => void = () => undefined;
    upstream._destroy = (error, callback) => {
      destroyed = () => hold.call(upstream, error, callback);
    };
    upstream.destroy();
    await pass(1);
    destroyed();
    await hasClosed;
    expect([near.destroyed, told, timeouts.counts[step]]).toEqual([false, [], { watched: 0, timedOut: 0 }]);
  },
);

test.each(['read to its end', 'ended'])('a socket that was %s when it is watched is waited for', async (how) => {
  const { near, far } = await sockets.net();
  if (how === 'ended') {
    near.end();
    await once(near, 'finish');
  } else {
    far.end('a');
    await once(near.resume(), 'end');
  }
  expect(near.destroyed).toBe(false);
  const timeouts = socketTimeouts(scheduler, ALL);
  const watched = timeouts.watch(near);
  expect(timeouts.counts.halfClose.watched).toBe(1);
  watched.release();
  timeouts.watch(near, (await sockets.net()).far);
  expect(timeouts.counts.halfClose.watched).toBe(1);
});
