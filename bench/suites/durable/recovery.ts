import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { settledMemory } from '../faces/settled-memory.ts';
import {
  type Recoverable,
  recoverBullmq,
  recoverNodeSchedule,
  recoverShardwheelOnBullmq,
  recoverShardwheelOnLmdb,
} from './recoverables.ts';
import { RedisServer } from './redis-server.ts';
import { withoutRedis } from './stored-subjects.ts';

/** ms for which deliveries are counted. */
const COUNTED = 5000;
/** ms between two readings of the heap. */
const READING = 20;

const LMDB = 'shardwheel on LMDB';
const NODE_SCHEDULE = 'node-schedule, records in LMDB';

interface Subject {
  readonly name: string;
  readonly on: 'Redis' | 'LMDB';
  readonly create: (place: { readonly path: string; readonly connection: Redis | undefined }) => Recoverable;
}

const subjects: readonly Subject[] = [
  { name: 'BullMQ alone', on: 'Redis', create: ({ connection }) => recoverBullmq(connection as Redis) },
  {
    name: 'shardwheel on BullMQ',
    on: 'Redis',
    create: ({ connection }) => recoverShardwheelOnBullmq(connection as Redis),
  },
  { name: NODE_SCHEDULE, on: 'LMDB', create: ({ path }) => recoverNodeSchedule(path) },
  { name: LMDB, on: 'LMDB', create: ({ path }) => recoverShardwheelOnLmdb(path) },
];

const suite = (name: string, timers: number, names: readonly string[], base: string): Suite => ({
  name,
  title: `Durable timers: ${timers.toLocaleString('en-US')} that came due while nothing ran`,
  codes: ['durable'],
  about:
    'All are stored and overdue when the store is opened. From then on: the time to the first delivery; for five seconds the longest ' +
    'block of the event loop, the deliveries per second, and the highest heap beyond that of before. Bytes: of the file, or of Redis.',
  base,
  subjects: names.map((name) => ({ name })),
  figures: [
    { key: 'first', title: 'first delivery after', unit: 'ms' },
    { key: 'block', title: 'longest block', unit: 'ms' },
    { key: 'heap', title: 'heap', unit: 'MB' },
    { key: 'rate', title: 'delivered per second', unit: '/s', moreIsBetter: true },
    { key: 'bytes', title: 'store, per timer', unit: 'B' },
  ],
  absentees: () => withoutRedis(subjects),
  run: (subject, scale) => measure(subject, timers, scale),
});

export const recovery = suite(
  'durable recovery',
  100_000,
  subjects.map(({ name }) => name),
  'BullMQ alone',
);
export const million = suite('durable million', 1_000_000, [NODE_SCHEDULE, LMDB], NODE_SCHEDULE);

async function measure(name: string, timers: number, { quick }: Scale): Promise<Measurement> {
  const { on, create } = subjects.find((known) => known.name === name) as Subject;
  const path = mkdtempSync(join(tmpdir(), 'shardwheel-bench-'));
  const server = on === 'Redis' ? await RedisServer.start('--databases', '1') : undefined;
  const connection = server?.connect();
  const count = quick ? timers / 100 : timers;
  try {
    const recoverable = create({ path, connection });
    await recoverable.fill(count);
    const size = connection === undefined ? statSync(join(path, 'data.mdb')).size : await usedMemory(connection);
    const { heap: before } = await settledMemory();

    const delays = monitorEventLoopDelay({ resolution: 1 });
    let peak = before;
    const reading = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed);
    }, READING);
    delays.enable();
    await sleep(READING); // its first reading has none before it
    const begun = performance.now();
    let first = 0;
    let delivered = 0;
    const subject = await recoverable.open(() => {
      if (delivered === 0) first = performance.now() - begun;
      delivered += 1;
    });
    do await sleep(READING);
    while (delivered < count && performance.now() - begun < COUNTED);
    const seconds = (performance.now() - begun) / 1000;
    delays.disable();
    clearInterval(reading);
    if (delivered === 0) throw new Error('nothing was delivered');
    const figures = {
      first,
      block: delays.max / 1e6,
      heap: (peak - before) / 1e6,
      rate: delivered / seconds,
      bytes: size / count,
    };
    await subject.close();
    return { figures, checksums: {} };
  } finally {
    connection?.disconnect();
    await server?.stop();
    rmSync(path, { recursive: true, force: true });
  }
}

async function usedMemory(connection: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await connection.info('memory'))?.[1]);
}
