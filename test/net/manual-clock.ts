import type { Socket } from 'node:net';
import { createScheduler, type Scheduler } from 'shardwheel';
import {
  type Peer,
  SocketTimeoutError,
  type SocketTimeoutOptions,
  type SocketTimeouts,
  socketTimeouts,
} from 'shardwheel/net';
import { afterEach, beforeEach, expect } from 'vitest';
import { turn, until } from '../fixtures/event-loop.ts';
import { Sockets } from './sockets.mjs';

/** Of the test that runs. */
export let scheduler: Scheduler;
export let sockets: Sockets;
let now: number;

/** Gives each test of the file a scheduler on a manual clock, and sockets. */
export function onManualClock(): void {
  beforeEach(() => {
    scheduler = createScheduler({ shards: 0, clock: 'manual' });
    sockets = new Sockets();
    now = 0;
  });
  afterEach(async () => {
    sockets.close();
    await scheduler.close();
  });
}

/** Lets so many ms pass, by steps. */
export async function pass(time: number, step = time): Promise<void> {
  for (const end = now + time; now < end; ) {
    now = Math.min(end, now + step);
    await scheduler.advanceTo(now);
    await turn();
  }
}

/** What a peer is destroyed with. */
export const endOf = (peer: Peer): Promise<SocketTimeoutError> =>
  new Promise((resolve) => {
    peer.on('error', resolve);
  });

/** Watches, and expects that both sides are cut by a kind after so many ms, and not one before. */
export async function expectCut(
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
export async function send(from: Socket, to: Socket): Promise<void> {
  const before = to.bytesRead;
  from.write('a');
  await until(() => to.bytesRead > before);
}
