import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { socketTimeouts } from 'shardwheel/net';
import { expect, test } from 'vitest';
import { progressOf } from '../../src/extras/net/peer.ts';
import { turn, until } from '../fixtures/event-loop.ts';
import { onManualClock, pass as passBy, scheduler, sockets } from './manual-clock.ts';

const BIG = 50_000_000;

onManualClock();

/** By steps, as looks are taken in time. */
const pass = (time: number): Promise<void> => passBy(time, 25);

/** Resolves when the system has taken what it will of what is written, while nobody reads. */
async function standstill(socket: Socket): Promise<void> {
  for (let before = -1; progressOf(socket) !== before; await sleep(250)) before = progressOf(socket);
}

test.each(['net', 'tls'] as const)(
  'a big write to a slow reader is not cut while the system takes bytes: %s',
  async (kind) => {
    const { near, far } = await sockets[kind]();
    const timeouts = socketTimeouts(scheduler, { idle: 400 });
    let read = 0;
    far.on('data', ({ length }: Buffer) => {
      read += length;
      far.pause();
    });
    far.pause();
    const size = kind === 'net' ? BIG : BIG * 0.8;
    near.write(Buffer.alloc(size)); // one write: Node counts it at once
    timeouts.watch(near);
    let rounds = 0;
    while (near.writableLength > 0) {
      rounds += 1;
      // More than the buffers of both ends may hold back without a byte being taken.
      for (const enough = read + 8_000_000; read < enough && near.writableLength > 0; await turn()) far.resume();
      await pass(390);
      expect(near.destroyed).toBe(false);
    }
    expect(rounds).toBeGreaterThan(3);
    expect(timeouts.counts.idle).toEqual({ watched: 1, timedOut: 0 });
    await pass(500);
    expect(near.destroyed).toBe(true);
  },
);

test.each(['net', 'tls'] as const)('one whose reader never reads is cut, however much is written: %s', async (kind) => {
  const { near, far } = await sockets[kind]();
  const timeouts = socketTimeouts(scheduler, { idle: 400 });
  far.pause();
  timeouts.watch(near);
  near.write(Buffer.alloc(BIG));
  await standstill(near);
  for (let at = 0; at < 5; at++) {
    await pass(100);
    if (!near.destroyed) near.write('it waits');
  }
  expect(near.destroyed).toBe(true);
  expect(timeouts.counts.idle).toEqual({ watched: 0, timedOut: 1 });
});

test.each(['net', 'tls'] as const)('progress never goes back, whatever waits: %s', async (kind) => {
  const { near, far } = await sockets[kind]();
  far.pause();
  let before = progressOf(near);
  for (const size of [100, BIG, 100, BIG]) {
    near.write(Buffer.alloc(size));
    await turn();
    expect(progressOf(near)).toBeGreaterThanOrEqual(before);
    before = progressOf(near);
  }
  far.write('a');
  near.resume();
  await until(() => near.bytesRead === 1);
  expect(progressOf(near)).toBeGreaterThan(before);
});

test('bytes of a TLS record that is not whole yet count', async () => {
  const { near, far } = await sockets.tls();
  const timeouts = socketTimeouts(scheduler, { idle: 400 });
  near.resume();
  await sleep(20); // tickets
  timeouts.watch(near);
  const carrier = sockets.carrierOf(far);
  const head = Buffer.from('1703034000', 'hex'); // 16 kB are to come
  for (let at = 0; at < 10; at++) {
    const before = progressOf(near);
    carrier.write(at === 0 ? head : 'a');
    await until(() => progressOf(near) > before);
    await pass(390);
  }
  expect([near.destroyed, near.bytesRead]).toEqual([false, 0]);
});

test('an http server, whose parser takes the bytes from the socket, is watched alike', async () => {
  const { near, response } = await sockets.http(false);
  const timeouts = socketTimeouts(scheduler, { idle: 400, firstByte: 100 });
  timeouts.watch(near);
  for (let at = 0; at < 10; at++) {
    await pass(390);
    const before = progressOf(near);
    response.write('a');
    await until(() => progressOf(near) > before);
  }
  expect(near.destroyed).toBe(false);
  await pass(500);
  expect(near.destroyed).toBe(true);
});

test('watching starts no flow, and adds no listener for data', async () => {
  const { near, far } = await sockets.net();
  const timeouts = socketTimeouts(scheduler, { firstByte: 100, idle: 400, halfClose: 100, lifetime: 10_000 });
  timeouts.watch(near);
  far.write('a');
  await pass(50);
  expect(near.readableFlowing).toBe(null);
  expect(['data', 'readable'].map((name) => near.listenerCount(name))).toEqual([0, 0]);
});
