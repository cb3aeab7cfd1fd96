import type { Redis } from 'ioredis';
import { bullmqStore, openDurableTimers } from 'shardwheel/durable';
import { describe, expect, test } from 'vitest';
import { hasRedis } from '../../bench/suites/durable/redis-server.ts';
import { testStore } from './conformance.ts';
import { suiteWithRedis } from './suite-with-redis.ts';

let connection: Redis;
let made = 0;

describe.skipIf(!hasRedis)('Redis', () => {
  suiteWithRedis((own) => {
    connection = own;
  });
  testStore('bullmqStore', {
    givesAway: true,
    create: () => {
      made += 1;
    },
    open: () => bullmqStore({ connection, queue: `timers-${process.pid}-${made}`, stalledAfter: 10_000 }),
    destroy: async () => {
      const keys = await connection.keys(`bull:timers-${process.pid}-${made}:*`);
      if (keys.length > 0) await connection.del(...keys);
    },
  });

  test('timers that are cancelled, or delivered, leave nothing of their own in Redis', async () => {
    const queue = `traces-${process.pid}`;
    const timers = await openDurableTimers({ store: bullmqStore({ connection, queue }) });
    try {
      await timers.schedule('a', 'far', Date.now() + 1_000_000, 'payload');
      await timers.schedule('a', 'due', Date.now());
      expect([await timers.cancel('a', 'far'), await timers.cancel('a', 'due')]).toEqual([true, true]);
      const seen: string[] = [];
      timers.handle('a', (_, { key }) => seen.push(key));
      await timers.schedule('a', 'delivered', Date.now());
      await expect.poll(() => connection.keys(`bull:${queue}:*delivered*`), { timeout: 5000 }).toEqual([]);
      expect(seen).toEqual(['delivered']);
      expect(await connection.keys(`bull:${queue}:*a/*`)).toEqual([]);
      for (const set of ['delayed', 'failed', 'completed']) {
        expect(await connection.zcard(`bull:${queue}:${set}`)).toBe(0);
      }
      for (const list of ['wait', 'active']) expect(await connection.llen(`bull:${queue}:${list}`)).toBe(0);
    } finally {
      await timers.close();
    }
  });

  test('a retry that is due before its job has been let go does not wait until that counts as stalled', async () => {
    const store = () => bullmqStore({ connection, queue: `retries-${process.pid}`, stalledAfter: 30_000 });
    const retry = { attempts: 20, delay: 1, maxDelay: 1 };
    const both = [
      await openDurableTimers({ store: store(), retry }),
      await openDurableTimers({ store: store(), retry }),
    ];
    try {
      let delivered = 0;
      for (const timers of both) {
        timers.handle('a', (_, { attempt }) => {
          if (attempt < retry.attempts) throw new Error('as the test wants it');
          delivered += 1;
        });
      }
      const keys = Array.from({ length: 300 }, (_, at) => `k${at}`);
      await Promise.all(keys.map((key) => both[0].schedule('a', key, Date.now())));
      await expect.poll(() => delivered, { timeout: 20_000 }).toBe(keys.length);
    } finally {
      for (const timers of both) await timers.close();
    }
  });
});
