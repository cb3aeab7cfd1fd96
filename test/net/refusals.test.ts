import { createServer as createHttpServer } from 'node:http';
import { connect, Socket } from 'node:net';
import { createScheduler } from 'shardwheel';
import { type SocketTimeoutOptions, socketTimeouts } from 'shardwheel/net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { turn, until } from '../fixtures/event-loop.ts';
import { Sockets } from './sockets.mjs';

let sockets: Sockets;
beforeEach(() => {
  sockets = new Sockets();
});
afterEach(() => sockets.close());

const HOUR = 3_600_000;
const all = { connect: HOUR, secure: HOUR, firstByte: HOUR, idle: HOUR, halfClose: HOUR, lifetime: HOUR };

describe('an option', () => {
  const CONFIG = { code: 'ERR_INVALID_CONFIG' };
  const ARGUMENT = { code: 'ERR_INVALID_ARG_TYPE' };
  const kinds = Object.keys(all);
  const bad = [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e15, '5', null, 5n, {}];

  test.each(kinds)('%s is a number of ms in bounds, and shown where it is not', async (kind) => {
    await using scheduler = createScheduler({ shards: 0 });
    for (const value of bad) {
      let error: Error | undefined;
      try {
        socketTimeouts(scheduler, { [kind]: value });
      } catch (thrown) {
        error = thrown as Error;
      }
      expect(error, `${String(value)}`).toMatchObject({
        code: expect.stringMatching(/^ERR_INVALID_CONFIG$/),
      });
      expect(error?.message).toContain(`options.${kind}`);
      expect(error?.message).toContain(typeof value === 'object' ? '' : `${value}`);
    }
    expect(() => socketTimeouts(scheduler, { [kind]: 1.5 })).not.toThrow();
    expect(() => socketTimeouts(scheduler, { [kind]: undefined })).not.toThrow();
  });

  test.each<[string, unknown, object]>([
    ['an unknown name', { conect: 5 }, CONFIG],
    ['no options', undefined, {}],
    ['minIdle without idle', { minIdle: 5 }, CONFIG],
    ['minIdle beyond idle', { idle: 5, minIdle: 6 }, CONFIG],
    ['minIdle of 0', { idle: 5, minIdle: 0 }, CONFIG],
    ['onTimeout that is no function', { onTimeout: 'log' }, ARGUMENT],
  ])('%s is refused', async (_, options, error) => {
    await using scheduler = createScheduler({ shards: 0 });
    expect(() => socketTimeouts(scheduler, options as SocketTimeoutOptions)).toThrow(expect.objectContaining(error));
    expect(() => socketTimeouts(scheduler, { idle: 1 })).not.toThrow(); // no label was left with other options
  });

  test('42 with all kinds fit in a scheduler, and the next is refused: it has no label left', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const made = Array.from({ length: 42 }, () => socketTimeouts(scheduler, all));
    const { near } = await sockets.net();
    const last = made.at(-1);
    last?.watch(near);
    expect(last?.counts.idle.watched).toBe(1);
    expect(made[0].counts.idle.watched).toBe(0);
    const refusal = { ...ARGUMENT, message: expect.stringMatching(/label must be one of the first 254 labels, .*-43/) };
    expect(() => socketTimeouts(scheduler, all)).toThrow(expect.objectContaining(refusal));
    expect(last?.counts.idle.watched).toBe(1);
    near.destroy();
  });

  test('that is refused has no label made', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const before = (await scheduler.stats()).labels;
    expect(() => socketTimeouts(scheduler, { connect: 5, idle: -1 })).toThrow();
    expect((await scheduler.stats()).labels).toEqual(before);
  });

  test.each([undefined, null, {}, 5, 'scheduler'])('what is no scheduler is refused: %s', (scheduler) => {
    expect(() => socketTimeouts(scheduler as never, {})).toThrow(expect.objectContaining(ARGUMENT));
  });
});

describe('watch', () => {
  test.each([undefined, null, 5, 'socket', {}, new Set(), createHttpServer()])(
    'refuses what is no socket: %s',
    async (peer) => {
      await using scheduler = createScheduler({ shards: 0 });
      const timeouts = socketTimeouts(scheduler, all);
      const refused = expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' });
      expect(() => timeouts.watch(peer as never)).toThrow(refused);
      if (peer !== undefined) expect(() => timeouts.watch(sockets.connecting(), peer as never)).toThrow(refused);
      expect(scheduler.size).toBe(0);
    },
  );

  test('refuses a socket that is watched, whoever watches it, and one as both sides; after release it is taken', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const [timeouts, others] = [socketTimeouts(scheduler, all), socketTimeouts(scheduler, all)];
    const [first, second] = [sockets.connecting(), sockets.connecting()];
    const watched = timeouts.watch(first);
    const { size } = scheduler;
    const refused = expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' });
    expect(() => timeouts.watch(first)).toThrow(refused);
    expect(() => others.watch(first)).toThrow(refused);
    expect(() => timeouts.watch(second, first)).toThrow(refused);
    expect(() => timeouts.watch(second, second)).toThrow(refused);
    expect([scheduler.size, second.listenerCount('close')]).toEqual([size, 0]);
    watched.release();
    expect(scheduler.size).toBe(0);
    timeouts.watch(second, first);
    expect(watched).toMatchObject({ socket: first, upstream: undefined });
  });

  test('of sockets that are destroyed already leaves nothing', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const timeouts = socketTimeouts(scheduler, all);
    const { near } = await sockets.net();
    near.destroy();
    timeouts.watch(near);
    expect([scheduler.size, near.listenerCount('end')]).toEqual([0, near.listenerCount('end')]);
    const other = await sockets.net();
    const again = await sockets.net();
    again.near.destroy();
    timeouts.watch(other.near, again.near);
    expect(timeouts.counts.halfClose.watched).toBe(1);
    other.near.destroy();
    await until(() => scheduler.size === 0);
  });
});

describe('without room', () => {
  test('watch throws, and leaves nothing', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 64 });
    const timeouts = socketTimeouts(scheduler, all);
    const { near } = await sockets.net();
    const listeners = near.eventNames().map((name) => near.listenerCount(name));
    const full = { code: 'ERR_CAPACITY_EXCEEDED' };
    const fillers: number[] = [];
    expect(() => {
      for (;;) fillers.push(scheduler.scheduleAfter(0, HOUR));
    }).toThrow(expect.objectContaining(full));
    for (let free = 0; free < 3; free++) {
      expect(() => timeouts.watch(near)).toThrow(expect.objectContaining(full));
      expect(scheduler.size).toBe(fillers.length);
      expect(near.eventNames().map((name) => near.listenerCount(name))).toEqual(listeners);
      expect(Object.values(timeouts.counts).every(({ watched }) => watched === 0)).toBe(true);
      if (free < 2) scheduler.cancel(fillers.pop()!);
    }
    scheduler.cancel(fillers.pop()!);
    timeouts.watch(near); // lifetime, firstByte, idle
    expect(scheduler.size).toBe(fillers.length + 3);
  });

  test('for a later timer the connection is ended with the error: none goes on unwatched', async () => {
    await using scheduler = createScheduler({ shards: 0, capacity: 64 });
    const timeouts = socketTimeouts(scheduler, { halfClose: HOUR, lifetime: HOUR });
    const { near } = await sockets.net();
    timeouts.watch(near);
    try {
      for (;;) scheduler.scheduleAfter(0, HOUR);
    } catch {}
    const { size } = scheduler;
    const error = new Promise((resolve) => near.on('error', resolve));
    near.end();
    expect(await error).toMatchObject({ code: 'ERR_CAPACITY_EXCEEDED' });
    expect([near.destroyed, scheduler.size]).toEqual([true, size - 1]);
  });
});

describe('after the scheduler is closed', () => {
  test.each(['end', 'destroy'] as const)('a connection goes on, and %s as it likes', async (way) => {
    const scheduler = createScheduler({ shards: 0 });
    const timeouts = socketTimeouts(scheduler, { ...all, idle: 4 });
    const { near, far } = await sockets.net();
    timeouts.watch(near.resume());
    await scheduler.close();
    far.write('a');
    await until(() => near.bytesRead === 1);
    expect(near.destroyed).toBe(false);
    if (way === 'end') {
      near.end();
      far.resume().end();
    } else near.destroy();
    const errors: Error[] = [];
    near.on('error', (error) => errors.push(error));
    await until(() => near.closed);
    await turn();
    expect(errors).toEqual([]);
    expect(Object.values(timeouts.counts).every(({ watched }) => watched === 0)).toBe(true);
  });

  test('watch and drain are refused', async () => {
    const scheduler = createScheduler({ shards: 0 });
    const timeouts = socketTimeouts(scheduler, all);
    const { near } = await sockets.net();
    timeouts.watch(near);
    await scheduler.close();
    const closed = { code: 'ERR_SCHEDULER_CLOSED' };
    const other = sockets.keep(connect({ port: 9, host: 'nowhere.invalid', lookup: () => undefined }));
    expect(() => timeouts.watch(other)).toThrow(expect.objectContaining(closed));
    expect(other.listenerCount('close')).toBe(0);
    await expect(timeouts.drain(1_000)).rejects.toMatchObject(closed);
  });
});

describe('setScale and drain', () => {
  test('refuse what is out of bounds', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const timeouts = socketTimeouts(scheduler, { idle: 5 });
    const without = socketTimeouts(scheduler, { lifetime: 5 });
    for (const factor of [-0.1, 1.1, Number.NaN, '1'])
      await expect(timeouts.setScale(factor as number)).rejects.toMatchObject({
        code: expect.stringMatching(/^ERR_INVALID/),
      });
    await expect(without.setScale(1)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    for (const within of [-1, Number.NaN, '5', undefined])
      await expect(timeouts.drain(within as number)).rejects.toMatchObject({
        code: expect.stringMatching(/^ERR_INVALID/),
      });
    for (const server of [null, {}, 5, new Socket()])
      await expect(timeouts.drain(0, server as never)).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
    expect(await timeouts.drain(0)).toEqual({ closed: 0, cut: 0 });
    expect(await timeouts.drain(Number.POSITIVE_INFINITY)).toEqual({ closed: 0, cut: 0 });
  });
});
