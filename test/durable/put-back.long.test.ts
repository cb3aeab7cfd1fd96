import type { Redis } from 'ioredis';
import { bullmqStore, type DurableTimers, openDurableTimers } from 'shardwheel/durable';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { latch, pause } from './conformance/stores.ts';

const COUNT = 20;
/**
 * Redis commands in the second after the first, those of scripts included: some 140, as the intervals at which a timer
 * is offered grow by a fifth. One that is put back in vain circles at 5,000 a second and more.
 */
const MOST_PER_TIMER = 200;
/** Of a worker that waits, and this test. */
const MOST_AT_REST = 100;

const keys = Array.from({ length: COUNT }, (_, at) => `k${at}`);

describe.skipIf(!hasRedis)('what BullMQ offers to a process that has no handler for it', () => {
  let server: RedisServer;
  let connection: Redis;
  let made = 0;
  beforeAll(async () => {
    server = await RedisServer.start('--hz', '10'); // an argument: a server of its own, as its commands are counted
    connection = server.connect();
  });
  afterAll(async () => {
    connection?.disconnect();
    await server?.stop();
  });

  const queueOfTest = (): string => `put-back-${process.pid}-${made}`;

  /** Handles only 'y'. */
  async function start(): Promise<DurableTimers> {
    made += 1;
    const timers = await openDurableTimers({ store: bullmqStore({ connection, queue: queueOfTest() }) });
    onTestFinished(() => timers.close());
    timers.on('error', (error) => expect.unreachable(`${error}`));
    timers.handle('y', () => undefined);
    return timers;
  }

  async function commandsInASecond(): Promise<number> {
    const processed = async () => Number(/total_commands_processed:(\d+)/.exec(await connection.info('stats'))?.[1]);
    const before = await processed();
    await pause(1000);
    return (await processed()) - before;
  }

  /** Redis comes to rest, and stays there. */
  async function expectRest(most: number): Promise<void> {
    await expect.poll(commandsInASecond, { timeout: 10_000 }).toBeLessThan(most);
    expect(await commandsInASecond()).toBeLessThan(most);
  }

  const keyOf = async (key: string): Promise<string> =>
    `bull:${queueOfTest()}:${await connection.get(`bull:${queueOfTest()}:de:x/${key}`)}`;

  test.each([1, COUNT])(
    '%i overdue timers: Redis has little to do, and each is delivered in the end',
    async (count) => {
      const timers = await start();
      const asked = keys.slice(0, count);
      await Promise.all(asked.map((key) => timers.schedule('x', key, Date.now())));
      await pause(1000);
      await expectRest(MOST_AT_REST + count * MOST_PER_TIMER);
      expect(await timers.count()).toBe(count);
      const seen = new Set<string>();
      timers.handle('x', (_, { key }) => seen.add(key));
      await expect.poll(() => seen.size, { timeout: 15_000 }).toBe(count);
    },
  );

  test('after all are cancelled none is counted, and Redis is at rest', async () => {
    const timers = await start();
    for (let round = 0; round < 10; round++) {
      await Promise.all(keys.map((key) => timers.schedule('x', key, Date.now())));
      await pause(Math.random() * 20);
      expect(await Promise.all(keys.map((key) => timers.cancel('x', key)))).toEqual(keys.map(() => true));
    }
    await expect.poll(() => timers.count(), { timeout: 5000 }).toBe(0);
    await expectRest(MOST_AT_REST);
  });

  test('one that was cancelled while a worker had it is completed by whoever is offered it', async () => {
    const timers = await start();
    await timers.schedule('x', 'k', Date.now());
    const job = await keyOf('k');
    await connection.hset(job, 'swState', 'ended'); // as a cancel does then
    await expect.poll(() => connection.exists(job), { timeout: 5000 }).toBe(0);
    expect(await timers.count()).toBe(0);
    await expectRest(MOST_AT_REST);
  });

  test('one that was scheduled anew while a worker had it makes room for what comes after it', async () => {
    const timers = await start();
    await timers.schedule('x', 'k', Date.now(), 'old');
    const job = await keyOf('k');
    const deadline = Date.now() + 300_000;
    const [opts, id] = [(await connection.hget(job, 'opts')) as string, `x/k/next`];
    const data = JSON.stringify({ key: 'k', deadline, due: deadline, attempts: 0 });
    const next = { name: 'x', data, opts: JSON.stringify({ ...JSON.parse(opts), delay: 0 }), jid: id };
    await connection.hset(`bull:${queueOfTest()}:dn:x/k`, next); // as `schedule` does then
    await expect.poll(() => connection.exists(job), { timeout: 5000 }).toBe(0);
    await expect.poll(() => connection.exists(`bull:${queueOfTest()}:${id}`), { timeout: 5000 }).toBe(1);
    expect(await timers.count()).toBe(1);
    expect(await timers.get('x', 'k')).toMatchObject({ deadline });
    await expectRest(MOST_AT_REST);
  });

  test('those that wait for a handler of their name, and are cancelled, are gone before it is free', async () => {
    const timers = await start();
    const { opened, open } = latch();
    timers.handle('x', () => opened, { concurrency: 1 });
    await timers.schedule('x', 'long', Date.now());
    await pause(300);
    await Promise.all(keys.map((key) => timers.schedule('x', key, Date.now())));
    await pause(300);
    expect(await Promise.all(keys.map((key) => timers.cancel('x', key)))).toEqual(keys.map(() => true));
    await expect.poll(() => timers.count(), { timeout: 5000 }).toBe(0);
    await expectRest(MOST_AT_REST);
    open();
  });
});
