import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { createScheduler } from 'shardwheel';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { ConnectionLoad, RATE } from './connection-load.ts';
import { RedisServer } from './redis-server.ts';
import { BULLMQ, type StoredSubject, storedSubjects, withoutRedis } from './stored-subjects.ts';

/** ms of load before anything is counted, until about as many timers end as begin; and ms that are counted. */
const WARM_UP = 12_000;
const COUNTED = 8000;

/** Durable timers under the replay's lifetimes. */
export const connections: Suite = {
  name: 'durable connections',
  title: `Durable timers: ${RATE.toLocaleString('en-US')} of the replay's connections a second`,
  codes: ['durable'],
  about:
    'Timers for connect, idle, each request and TIME-WAIT, with the lifetimes of the replay, in real time. Counted for ' +
    `${COUNTED / 1000} s after ${WARM_UP / 1000} s. Redis keeps everything in memory (no append-only file), on the same machine; LMDB ` +
    'writes to the disk before a call resolves. A write is a record that is added, moved, taken or removed. Lateness: of the timers that ' +
    'fired, by the wall clock. A subject that takes fewer connections shows fewer calls.',
  base: BULLMQ,
  subjects: storedSubjects.map(({ name, note }) => ({ name, note })),
  figures: [
    { key: 'writes', title: 'writes per timer', unit: '' },
    { key: 'cpu', title: 'CPU of this process, per timer', unit: 'µs' },
    { key: 'redis', title: 'CPU of Redis, per timer', unit: 'µs' },
    { key: 'calls', title: 'calls per second', unit: '/s', moreIsBetter: true },
    { key: 'p50', title: 'late, median', unit: 'ms' },
    { key: 'p99', title: 'late, 99 %', unit: 'ms' },
  ],
  absentees: () => withoutRedis(storedSubjects),
  run: measure,
};

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const { on, create } = storedSubjects.find((known) => known.name === name) as StoredSubject;
  const path = mkdtempSync(join(tmpdir(), 'shardwheel-bench-'));
  const server = on === 'Redis' ? await RedisServer.start('--databases', '1') : undefined;
  const connection = server?.connect();
  const waits = createScheduler({ shards: 0 });
  try {
    let load: ConnectionLoad | undefined;
    const subject = await create({ path, connection })((key) => load?.delivered(key));
    load = new ConnectionLoad(subject, waits);
    const running = load.run();
    await sleep(quick ? 300 : WARM_UP);
    const before = {
      calls: load.calls,
      timers: load.timers,
      writes: await subject.writes(),
      cpu: process.cpuUsage(),
      redis: await redisCpu(connection),
    };
    load.latenesses.length = 0;
    const begun = performance.now();
    await sleep(quick ? 700 : COUNTED);
    const seconds = (performance.now() - begun) / 1000;
    const { user, system } = process.cpuUsage(before.cpu);
    const calls = load.calls - before.calls;
    const writes = (await subject.writes()) - before.writes;
    const redis = (await redisCpu(connection)) - before.redis;
    const timers = load.timers - before.timers;
    load.end();
    await running;
    await subject.close();
    const late = load.latenesses.sort((one, other) => one - other);
    if (late.length === 0 && !quick) throw new Error('no timer has fired');
    if (late[0] < 0) throw new Error(`a timer was ${-late[0]} ms early`);
    const share = (part: number): number => late[Math.min(late.length - 1, Math.floor(late.length * part))] ?? 0;
    return {
      figures: {
        writes: writes / timers,
        cpu: (user + system) / timers,
        redis: redis / timers,
        calls: calls / seconds,
        p50: share(0.5),
        p99: share(0.99),
      },
      checksums: {},
    };
  } finally {
    await waits.close();
    connection?.disconnect();
    await server?.stop();
    rmSync(path, { recursive: true, force: true });
  }
}

/** CPU that the server has taken so far, in µs. */
async function redisCpu(connection: Redis | undefined): Promise<number> {
  const text = (await connection?.info('cpu')) ?? '';
  const seconds = (name: string): number => Number(new RegExp(`^used_cpu_${name}:([\\d.]+)`, 'm').exec(text)?.[1] ?? 0);
  return 1e6 * (seconds('user') + seconds('sys'));
}
