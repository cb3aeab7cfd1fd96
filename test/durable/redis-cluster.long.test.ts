import * as bullmq from 'bullmq';
import { Cluster, type ClusterOptions } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { until } from '../fixtures/event-loop.ts';
import { all, note } from './conformance/stores.ts';

describe.skipIf(!hasRedis)('a Redis Cluster', () => {
  let server: RedisServer;
  beforeAll(async () => {
    // One server: it refuses a command whose keys are in several slots, as many servers do.
    server = await RedisServer.start('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
    const admin = server.connect();
    await admin.cluster('ADDSLOTSRANGE', 0, 16_383);
    await until(async () => `${await admin.cluster('INFO')}`.includes('cluster_state:ok'));
    admin.disconnect();
  });
  afterAll(() => server?.stop());

  function connect(options?: ClusterOptions): Cluster {
    const cluster = new Cluster([server.url], options).on('error', () => undefined);
    onTestFinished(() => cluster.disconnect());
    return cluster;
  }

  test.each<[string, { queue: string; prefix?: string; bullmq?: typeof bullmq }, ClusterOptions | undefined]>([
    ['the tag in the queue', { queue: '{timers}' }, undefined],
    ['the tag in the prefix', { queue: 'timers', prefix: '{app}', bullmq }, undefined],
    ['limits of time', { queue: '{limited}' }, { redisOptions: { commandTimeout: 200 } }],
  ])('%s: timers are scheduled, moved, cancelled, listed and delivered', async (_, place, options) => {
    const connection = connect(options);
    const open = () => openDurableTimers({ store: bullmqStore({ connection, ...place }), persistAfter: 50 });
    const [timers, other] = [await open(), await open()];
    onTestFinished(() => timers.close());
    onTestFinished(() => other.close());
    const seen = note(timers, ({ key, attempt }) => {
      if (key === 'fails' && attempt === 1) throw new Error('as the test wants it');
    });
    await timers.schedule('a', 'young', Date.now() + 1000);
    const scheduled = ['moved', 'cancelled', 'far', 'fails'];
    await Promise.all(scheduled.map((key) => other.schedule('a', key, Date.now() + 3_600_000)));
    expect((await all(timers.timers('a'))).map(({ key }) => key).sort()).toEqual([...scheduled, 'young'].sort());
    expect(await timers.cancel('a', 'cancelled')).toBe(true);
    expect(await other.reschedule('a', 'moved', Date.now() + 100)).toBe(true);
    expect(await other.reschedule('a', 'fails', Date.now())).toBe(true);
    await expect.poll(() => seen.length, { timeout: 20_000 }).toBe(4);
    expect(seen.map(({ key, attempt }) => `${key} ${attempt}`).sort()).toEqual([
      'fails 1',
      'fails 2',
      'moved 1',
      'young 1',
    ]);
    expect(await timers.count()).toBe(1);
    const keys = await connection.nodes('master')[0].keys('*far*');
    expect(keys.filter((key) => key.startsWith(`${place.prefix ?? 'bull'}:${place.queue}:`))).not.toEqual([]);
  });
});
