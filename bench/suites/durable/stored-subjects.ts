import type { Redis } from 'ioredis';
import type { CreateDurable } from './durable-subject.ts';
import { hasRedis } from './redis-server.ts';
import { bullmqAlone, nodeScheduleOnLmdb, onBullmq, onLmdb, pollingRedis } from './subjects.ts';

/** ms for which a timer is young, where it may be. */
const YOUTH = 5000;

export const BULLMQ = 'BullMQ alone';
const YOUNG_BULLMQ = 'shardwheel on BullMQ, young timers';

export interface StoredSubject {
  readonly name: string;
  readonly note: string;
  readonly on: 'Redis' | 'LMDB';
  readonly create: (place: { readonly path: string; readonly connection: Redis | undefined }) => CreateDurable;
}

/** Whatever keeps timers in a store. */
export const storedSubjects: readonly StoredSubject[] = [
  {
    name: BULLMQ,
    note: 'delayed jobs: add, changeDelay, remove, and a worker',
    on: 'Redis',
    create: ({ connection }) => bullmqAlone(connection as Redis),
  },
  {
    name: 'polling Redis',
    note: 'as agenda does: a record and a due time, looked for every 100 ms, and claimed',
    on: 'Redis',
    create: ({ connection }) => pollingRedis(connection as Redis),
  },
  {
    name: 'shardwheel on BullMQ',
    note: 'every timer is stored at once',
    on: 'Redis',
    create: ({ connection }) => onBullmq(connection as Redis, 0),
  },
  {
    name: YOUNG_BULLMQ,
    note: `persistAfter: ${YOUTH} ms`,
    on: 'Redis',
    create: ({ connection }) => onBullmq(connection as Redis, YOUTH),
  },
  {
    name: 'node-schedule, records in LMDB',
    note: 'its jobs in memory, and a record of each, on disk before the call resolves',
    on: 'LMDB',
    create: ({ path }) => nodeScheduleOnLmdb(path),
  },
  {
    name: 'shardwheel on LMDB',
    note: 'every timer is on disk before the call resolves',
    on: 'LMDB',
    create: ({ path }) => onLmdb(path, 0),
  },
  {
    name: 'shardwheel on LMDB, young timers',
    note: `persistAfter: ${YOUTH} ms`,
    on: 'LMDB',
    create: ({ path }) => onLmdb(path, YOUTH),
  },
];

/** Why those on Redis cannot be measured here, if they cannot. */
export const withoutRedis = async (
  subjects: readonly { readonly name: string; readonly on: 'Redis' | 'LMDB' }[],
): Promise<Record<string, string>> =>
  hasRedis
    ? {}
    : Object.fromEntries(
        subjects.filter(({ on }) => on === 'Redis').map(({ name }) => [name, 'there is no redis-server on the PATH']),
      );
