import { InvalidArgumentError } from '../errors.ts';
import { requireMilliseconds, requireOptions } from '../known-options.ts';
import { QueueLink } from './bullmq/queue-link.ts';
import { QueueStore } from './bullmq/queue-store.ts';
import type { RedisConnection } from './bullmq/redis-connection.ts';
import type { DurableStore } from './durable-store.ts';

export interface BullmqStoreOptions {
  /**
   * A client of ioredis, made by the caller, whose settings the store's own connections have, but for limits of time and `keyPrefix`:
   * `timeout` limits calls. It stays as it is, and need not be connected.
   */
  connection: RedisConnection;
  /** The name of the queue in BullMQ. It is for these timers alone. */
  queue: string;
  /**
   * ms without a sign of life, from 1000 to 3,600,000, after which a process counts as dead and what it had under way is delivered
   * again: BullMQ's `lockDuration` and `stalledInterval`. A process whose event loop is blocked for longer counts as dead too.
   * Default 30,000.
   */
  stalledAfter?: number;
  /** ms, from 100 to 600,000, after which a call that Redis has not answered rejects. Default 10,000. */
  timeout?: number;
}

/**
 * Keeps timers in Redis or Valkey, as delayed jobs of BullMQ: for any number of machines. Needs the packages `bullmq` and
 * `ioredis`. What `schedule` has confirmed is as safe as Redis is set to keep it: see docs/durable.md. Throws InvalidArgumentError,
 * InvalidConfigError.
 */
export function bullmqStore(options: BullmqStoreOptions): DurableStore {
  const known = { connection: 0, queue: 0, stalledAfter: 0, timeout: 0 } satisfies Record<keyof BullmqStoreOptions, 0>;
  requireOptions(options, known, 'options', 'must be an object with a connection and a queue');
  const { connection, queue, stalledAfter = 30_000, timeout = 10_000 } = options;
  if (typeof (connection as Partial<RedisConnection> | undefined)?.duplicate !== 'function') {
    const requirement = "must be a client of ioredis: new Redis('redis://…')";
    throw new InvalidArgumentError('options.connection', requirement, connection);
  }
  if (typeof queue !== 'string' || queue === '' || queue.includes(':')) {
    throw new InvalidArgumentError('options.queue', "must be a name without ':'", queue);
  }
  requireMilliseconds('options.stalledAfter', stalledAfter, 1000, 3_600_000);
  requireMilliseconds('options.timeout', timeout, 100, 600_000);
  return new QueueStore(new QueueLink(connection, queue, stalledAfter, timeout));
}
