import { Redis, type RedisOptions } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { note, pause } from './conformance/stores.ts';

const COUNT = 15;
/** ms between two timers: not the rhythm in which Redis looks for sleeps that are over. */
const APART = 137;

const limits: RedisOptions[] = [
  {},
  ...[50, 200, 500, 1000].map((commandTimeout) => ({ commandTimeout })),
  { socketTimeout: 700 },
  { commandTimeout: 50, socketTimeout: 100, blockingTimeout: 60, maxRetriesPerRequest: 1 },
  { enableOfflineQueue: false, lazyConnect: true, autoResendUnfulfilledCommands: false, stringNumbers: true },
];

describe.skipIf(!hasRedis)('the client that the caller has made for other commands', () => {
  let server: RedisServer;
  beforeAll(async () => {
    // it looks for sleeps that are over once a second, in place of ten times
    server = await RedisServer.start('--hz', '1');
  });
  afterAll(() => server?.stop());

  test.each(limits.map((options, at) => [JSON.stringify(options), options, at] as const))(
    '%s: each timer is delivered, and in time',
    async (_, options, at) => {
      const connection = new Redis(server.url, options).on('error', () => undefined);
      onTestFinished(() => connection.disconnect());
      const store = bullmqStore({ connection, queue: `limits-${process.pid}-${at}` });
      const timers = await openDurableTimers({ store });
      onTestFinished(() => timers.close());
      const errors: Error[] = [];
      timers.on('error', (error) => errors.push(error));
      const late: number[] = [];
      const seen = note(timers, ({ key }) => late.push(Date.now() - Number(key)));
      const first = Date.now() + 300;
      const due = Array.from({ length: COUNT }, (_, index) => first + index * APART);
      await Promise.all(due.map((time) => timers.schedule('a', `${time}`, time)));
      await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(COUNT);
      const [median, most] = [COUNT >> 1, COUNT - 1].map((index) => late.sort((one, other) => one - other)[index]);
      process.stdout.write(`late, with ${JSON.stringify(options)}: ${median} ms, at most ${most}\n`);
      expect(median).toBeLessThan(300);
      expect(errors).toEqual([]);
    },
    30_000,
  );

  test('a process that takes nothing: what is overdue is counted', async () => {
    const connection = new Redis(server.url);
    onTestFinished(() => connection.disconnect());
    const timers = await openDurableTimers({
      store: bullmqStore({ connection, queue: `overdue-${process.pid}` }),
    });
    onTestFinished(() => timers.close());
    await timers.schedule('a', 'soon', Date.now() + 50);
    await timers.schedule('a', 'far', Date.now() + 1e6);
    await timers.schedule('a', 'now', Date.now());
    await pause(100);
    expect((await timers.stats()).store).toMatchObject({ stored: 3, overdue: 2 });
    const seen = note(timers);
    await expect.poll(() => seen.length, { timeout: 5000 }).toBe(2);
    await expect
      .poll(async () => (await timers.stats()).store, { timeout: 5000 })
      .toMatchObject({
        stored: 1,
        overdue: 0,
      });
  });
});
