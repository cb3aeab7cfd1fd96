import { InvalidArgumentError, InvalidConfigError } from '../../errors.ts';
import { requireMilliseconds, requireOptions } from '../../known-options.ts';
import { QueueLink } from './bullmq/queue-link.ts';
import { QueueStore } from './bullmq/queue-store.ts';
import type { RedisConnection } from './bullmq/redis-connection.ts';
import type { DurableStore } from './durable-store.ts';

export interface BullmqStoreOptions {
  /**
   * A client of ioredis, `Redis` or `Cluster`, made by the caller, whose settings the store's own connections have, but
   * for limits of time and `keyPrefix`: `timeout` limits calls. It stays as it is, and need not be connected.
   */
  connection: RedisConnection;
  /**
   * The name of the queue in BullMQ. It is for these timers alone. In a Cluster it, or `prefix`, has a hash tag:
   * `'{timers}'`.
   */
  queue: string;
  /** What BullMQ's keys in Redis begin with. Default 'bull'. */
  prefix?: string;
  /**
   * The module `bullmq`, as the program imports it, whole (`import * as bullmq`): where it is not found by its name, as
   * in bundles and single executables. Default: the installed package.
   */
  bullmq?: BullmqModule;
  /**
   * ms without a sign of life, from 1000 to 3,600,000, after which a process counts as dead and what it had under way
   * is delivered again: BullMQ's `lockDuration` and `stalledInterval`. A process whose event loop is blocked for longer
   * counts as dead too. Default 30,000.
   */
  stalledAfter?: number;
  /** ms, from 100 to 600,000, after which a call that Redis has not answered rejects. Default 10,000. */
  timeout?: number;
}

/** What this package uses of `bullmq`. */
export interface BullmqModule {
  readonly Queue: unknown;
  readonly Worker: unknown;
  readonly DelayedError: unknown;
}

/**
 * Keeps timers in Redis or Valkey, as delayed jobs of BullMQ: for any number of machines. Needs the packages `bullmq`
 * and `ioredis`. What `schedule` has confirmed is as safe as Redis is set to keep it: see docs/durable.md. Throws
 * InvalidArgumentError, InvalidConfigError.
 */
export function bullmqStore(options: BullmqStoreOptions): DurableStore {
  requireOptions(options, known, 'options', 'must be an object with a connection and a queue');
  const { connection, queue, prefix = 'bull', bullmq, stalledAfter = 30_000, timeout = 10_000 } = options;
  requireConnection(connection);
  if (typeof queue !== 'string' || queue === '' || queue.includes(':')) {
    throw new InvalidArgumentError('options.queue', "must be a name without ':'", queue);
  }
  if (typeof prefix !== 'string' || prefix === '') {
    throw new InvalidArgumentError('options.prefix', 'must be a text that is not empty', prefix);
  }
  if (connection.isCluster && !hasHashTag(`${prefix}:${queue}:`)) {
    const requirement = "must have a hash tag in a Redis Cluster, as all keys have to be in one slot: '{timers}'";
    throw new InvalidConfigError('options.queue', requirement, queue);
  }
  if (bullmq !== undefined) requireModule(bullmq);
  requireMilliseconds('options.stalledAfter', stalledAfter, 1000, 3_600_000);
  requireMilliseconds('options.timeout', timeout, 100, 600_000);
  return new QueueStore(new QueueLink({ connection, queue, prefix, stalledAfter, timeout }), bullmq);
}

const known: Record<keyof BullmqStoreOptions, 0> = {
  connection: 0,
  queue: 0,
  prefix: 0,
  bullmq: 0,
  stalledAfter: 0,
  timeout: 0,
};

function requireConnection(connection: Partial<RedisConnection> | undefined): void {
  if (typeof connection?.duplicate !== 'function') {
    const requirement = "must be a client of ioredis: new Redis('redis://…')";
    throw new InvalidArgumentError('options.connection', requirement, connection);
  }
  const { keyPrefix } = connection.options ?? {};
  if (keyPrefix) {
    const requirement = 'must be empty, as BullMQ knows none: options.prefix does the same';
    throw new InvalidConfigError('options.connection.options.keyPrefix', requirement, keyPrefix);
  }
}

function requireModule(bullmq: Partial<BullmqModule>): void {
  const { Queue, Worker, DelayedError } = bullmq ?? {};
  if ([Queue, Worker, DelayedError].every((part) => typeof part === 'function')) return;
  throw new InvalidArgumentError(
    'options.bullmq',
    "must be the module bullmq, as 'import * as bullmq' gives it",
    bullmq,
  );
}

/** Whether keys that begin so are in one slot: Redis hashes what is in their first braces, unless that is nothing. */
function hasHashTag(beginning: string): boolean {
  const opening = beginning.indexOf('{');
  return opening >= 0 && beginning.indexOf('}', opening) > opening + 1;
}
