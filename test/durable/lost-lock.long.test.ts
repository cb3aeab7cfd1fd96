import { Redis } from 'ioredis';
import { bullmqStore, type DurableOptions, type DurableTimers, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { latch, note, nothingMore, pause, type Seen } from './conformance/stores.ts';
import { SlowWire } from './slow-wire.ts';

/** ms after which another worker takes a job over, and for which an answer is held up. */
const STALLED_AFTER = 2000;
const HOLD_UP = 6000;

interface Process {
  readonly timers: DurableTimers;
  readonly connection: Redis;
  readonly errors: { code?: string; message: string }[];
  readonly seen: Seen[];
}

describe.skipIf(!hasRedis)('a worker that Redis does not reach in time', () => {
  let server: RedisServer;
  let wire: SlowWire;
  let admin: Redis;
  const processes: Process[] = [];

  beforeEach(async () => {
    server = await RedisServer.start('--databases', '1');
    wire = await SlowWire.to(server.url, HOLD_UP);
    admin = server.connect();
  });

  afterEach(async () => {
    for (const { timers } of processes) await timers.close();
    for (const { connection } of processes.splice(0)) connection.disconnect();
    admin.disconnect();
    wire.close();
    await server.stop();
  });

  async function start(
    url: string,
    options: Partial<DurableOptions> = {},
    work = (): unknown => 0,
    stalledAfter = STALLED_AFTER,
  ): Promise<Process> {
    const connection = new Redis(url, { maxRetriesPerRequest: null });
    const store = bullmqStore({ connection, queue: 'lost-lock', stalledAfter });
    const timers = await openDurableTimers({ store, retry: { delay: 20 }, ...options });
    const errors: Process['errors'] = [];
    timers.on('error', (error) => errors.push(error));
    const process = { timers, connection, errors, seen: note(timers, work) };
    processes.push(process);
    return process;
  }

  const soon = (isSo: () => boolean | Promise<boolean>): Promise<void> =>
    expect.poll(isSo, { timeout: 20_000 }).toBe(true);

  /** The key of the only lock. */
  const lock = async (): Promise<string> => (await admin.keys('*:lock'))[0];

  test('begins nothing that another has been given meanwhile', async () => {
    wire.holdUp = 'processedOn'; // what a worker takes
    const slow = await start(wire.url);
    await slow.timers.schedule('a', 'taken', Date.now());
    await soon(() => wire.held === 1);
    const other = await start(server.url);
    await soon(() => other.seen.length === 1);
    wire.holdUp = undefined;
    await pause(HOLD_UP);
    expect([slow.seen, slow.errors, other.errors]).toEqual([[], [], []]);
    expect(other.seen).toMatchObject([{ key: 'taken' }]);
    await slow.timers.schedule('a', 'after', Date.now());
    await soon(() => slow.seen.length + other.seen.length === 2);
  });

  test('begins what is late, and still its own', async () => {
    wire.holdUp = 'processedOn';
    let left = 0;
    const slow = await start(wire.url, {}, async () => {
      left = await admin.pttl(await lock());
    });
    await slow.timers.schedule('a', 'late', Date.now());
    await soon(() => wire.held === 1);
    wire.holdUp = undefined;
    await admin.pexpire(await lock(), 60_000);
    await soon(() => slow.seen.length === 1);
    await nothingMore();
    expect(left, 'the attempt begins with a new lock').toBeLessThanOrEqual(STALLED_AFTER);
    expect(slow.seen).toMatchObject([{ key: 'late', attempt: 1 }]);
    expect(slow.errors).toEqual([]);
  });

  test('hears of it if its handler runs while another is given the timer', async () => {
    const { opened, open } = latch();
    const slow = await start(server.url, { concurrency: 1 }, () => opened);
    await slow.timers.schedule('a', 'taken', Date.now());
    await soon(() => slow.seen.length === 1);
    const other = await start(server.url);
    await admin.del(await lock());
    await soon(() => other.seen.length === 1);
    open();
    await soon(() => slow.errors.length > 0);
    await nothingMore();
    expect(new Set(slow.errors.map(({ code }) => code))).toEqual(new Set(['ERR_STORE_LOCK_LOST']));
    const message = /^The queue lost-lock took a timer from this worker while its handler ran: /;
    expect(slow.errors[0].message).toMatch(message);
    expect([slow.seen.length, other.seen.length, other.errors.length]).toEqual([1, 1, 0]);
  });

  test.each([
    ['its lock is gone', async () => void (await admin.del(await lock()))],
    ['Redis does not answer for as long as its lock holds', async () => wire.pause()],
  ])('aborts the signal of its handler: %s', async (_, lose) => {
    const longer = 2 * STALLED_AFTER; // than a busy machine keeps this process, or Redis, from renewing it
    const worker = await start(wire.url, {}, undefined, longer);
    const codes: string[] = [];
    const { opened, open } = latch();
    worker.timers.handle('signalled', (_, { signal }) => {
      signal.addEventListener('abort', () => codes.push(signal.reason.code));
      codes.push('begun');
      return opened;
    });
    await worker.timers.schedule('signalled', 'k', Date.now());
    await soon(() => codes.length === 1);
    await pause(2 * longer);
    expect(codes, 'the lock is renewed').toEqual(['begun']);
    await lose();
    await soon(() => codes.length === 2);
    expect(codes).toEqual(['begun', 'ERR_STORE_LOCK_LOST']);
    wire.resume();
    open();
  });

  for (const outcome of ['resolves', 'rejects']) {
    test(`goes on with the handler that runs if it is given the timer again; it ${outcome}`, async () => {
      const { opened, open } = latch();
      let isFirst = true;
      const one = await start(server.url, {}, async () => {
        await opened;
        const fails = isFirst && outcome === 'rejects';
        isFirst = false;
        if (fails) throw new Error('as the test wants it');
      });
      await one.timers.schedule('a', 'again', Date.now());
      await soon(() => one.seen.length === 1);
      const first = await lock();
      const token = await admin.get(first);
      await admin.del(first);
      await soon(async () => ![null, token].includes(await admin.get(first)));
      await pause(1500); // for the worker to hear of it; errors are told once a second
      const told = one.errors.length;
      open();
      await soon(async () => (await one.timers.get('a', 'again')) === undefined);
      await nothingMore();
      const attempts = one.seen.map(({ attempt }) => attempt);
      expect(attempts).toEqual(outcome === 'resolves' ? [1] : [1, 2]);
      expect(one.errors.filter(({ code }) => code !== 'ERR_STORE_LOCK_LOST')).toEqual([]);
      expect(one.errors.slice(told)).toEqual([]);
    });
  }
});
