import type { Redis } from 'ioredis';
import { afterAll, beforeAll } from 'vitest';
import { RedisServer } from '../../bench/suites/durable/redis-server.ts';

/** Starts a Redis for the tests of a suite, and stops it after them. */
export function suiteWithRedis(started: (connection: Redis) => void): void {
  let server: RedisServer | undefined;
  let connection: Redis | undefined;
  beforeAll(async () => {
    server = await RedisServer.start();
    connection = server.connect();
    started(connection);
  });
  afterAll(async () => {
    connection?.disconnect();
    await server?.stop();
  });
}
