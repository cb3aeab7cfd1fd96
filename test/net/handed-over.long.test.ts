import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { socketTimeouts } from 'shardwheel/net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onManualClock, pass, scheduler, sockets } from './manual-clock.ts';

/** Keeps each socket that it is given, and says 'taken' to its other end. */
const TAKER = `
  const taken = [];
  process.on('message', (_, socket) => {
    taken.push(socket);
    socket.on('error', () => undefined);
    socket.write('taken');
  });`;

let taker: ChildProcess;

beforeAll(() => {
  taker = spawn(process.execPath, ['--eval', TAKER], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
});
afterAll(() => {
  taker.kill();
});

onManualClock();

/** A connection whose near side is accepted by a server, and errors that end that side. */
async function accept() {
  const server = createServer();
  const port = await sockets.listen(server);
  const accepted = once(server, 'connection');
  const far = sockets.keep(connect(port, '127.0.0.1')).setEncoding('utf8');
  const [near] = (await accepted) as [Socket];
  const errors: unknown[] = [];
  near.on('error', (error) => errors.push(error));
  return { near: sockets.keep(near), far, errors };
}

/** Sends a socket to another process, which writes to its other end. */
async function handOver({ near, far }: { near: Socket; far: Socket }): Promise<void> {
  const said = once(far, 'data');
  taker.send('take', near);
  expect(await said).toEqual(['taken']);
  expect([near.destroyed, near.pending]).toEqual([false, true]);
}

test.each(['firstByte', 'idle', 'lifetime'] as const)('one that another process has is not cut: %s', async (kind) => {
  const told: unknown[] = [];
  const timeouts = socketTimeouts(scheduler, { [kind]: 400, onTimeout: (kind) => told.push(kind) });
  const connection = await accept();
  timeouts.watch(connection.near);
  await handOver(connection);
  expect(timeouts.counts[kind].watched).toBe(1);
  await pass(1_000, 100);
  expect(timeouts.counts[kind]).toEqual({ watched: 0, timedOut: 0 });
  expect([told, connection.errors, connection.near.destroyed]).toEqual([[], [], false]);
  expect(connection.far.readableEnded).toBe(false);
  expect(scheduler.size).toBe(0);
});

test('with an upstream it takes the whole connection out of the watch', async () => {
  const timeouts = socketTimeouts(scheduler, { idle: 400 });
  const connection = await accept();
  const upstream = await sockets.net();
  timeouts.watch(connection.near, upstream.far);
  await handOver(connection);
  await pass(1_000, 100);
  expect(timeouts.counts.idle).toEqual({ watched: 0, timedOut: 0 });
  expect([connection.errors, connection.near.destroyed, upstream.far.destroyed]).toEqual([[], false, false]);
});

test.each([0, 10_000])('a drain lets go of it: within %i', async (within) => {
  const told: unknown[] = [];
  const timeouts = socketTimeouts(scheduler, { onTimeout: (kind) => told.push(kind) });
  const connection = await accept();
  timeouts.watch(connection.near);
  await handOver(connection);
  expect(await timeouts.drain(within)).toEqual({ closed: 1, cut: 0 });
  expect([told, connection.errors, connection.near.destroyed]).toEqual([[], [], false]);
});

test('one that has never been connected is still cut', async () => {
  const timeouts = socketTimeouts(scheduler, { connect: 400 });
  const { near } = await sockets.net();
  const later = sockets.keep(new (near.constructor as typeof Socket)());
  timeouts.watch(later);
  await pass(400);
  expect([later.destroyed, timeouts.counts.connect.timedOut]).toEqual([true, 1]);
});
