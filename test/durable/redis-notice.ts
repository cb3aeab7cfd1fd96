import { hasRedis } from '../../bench/suites/durable/redis-server.ts';

/** Called when all tests have run: says which have not. */
export function teardown(): void {
  if (hasRedis) return;
  process.stdout.write(
    '\nNot run: the suites of BullMQ. There is no redis-server on the PATH, and REDIS_URL is not set.\n',
  );
}
