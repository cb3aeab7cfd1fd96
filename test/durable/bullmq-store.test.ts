import type { Redis } from 'ioredis';
import { bullmqStore } from 'shardwheel/durable';
import { afterAll, beforeAll, describe } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/durable/redis-server.ts';
import { testStore } from './conformance.ts';

let server: RedisServer;
let connection: Redis;
let made = 0;

describe.skipIf(!hasRedis)('Redis', () => {
  beforeAll(async () => {
    server = await RedisServer.start();
    connection = server.connect();
  });
  afterAll(async () => {
    connection?.disconnect();
    await server?.stop();
  });
  testStore('bullmqStore', {
    create: () => {
      made += 1;
    },
    open: () => bullmqStore({ connection, queue: `timers-${process.pid}-${made}`, stalledAfter: 1000 }),
    destroy: async () => {
      const keys = await connection.keys(`bull:timers-${process.pid}-${made}:*`);
      if (keys.length > 0) await connection.del(...keys);
    },
    patience: 5000,
  });
});
