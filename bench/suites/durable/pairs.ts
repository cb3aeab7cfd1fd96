import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import type { DurableSubject } from './durable-subject.ts';
import { RedisServer } from './redis-server.ts';
import { BULLMQ, type StoredSubject, storedSubjects, withoutRedis } from './stored-subjects.ts';

/** Pairs under way at a time. */
const AT_A_TIME = 1000;
/** ms of pairs before any are counted, and while they are. */
const WARM_UP = 2000;
const COUNTED = 4000;
/** ms until the timers would be due. */
const DELAY = 60_000;

/** To schedule and cancel, as fast as the store takes it. */
export const pairs: Suite = {
  name: 'durable pairs',
  title: 'Durable timers: schedule, then cancel',
  codes: ['durable'],
  about:
    `${AT_A_TIME.toLocaleString('en-US')} pairs at a time, each of a key of its own, for ${COUNTED / 1000} s after ${WARM_UP / 1000} s; the ` +
    'cancel begins when the schedule has resolved. ' +
    'The same Redis and the same disk as with the connections.',
  base: BULLMQ,
  subjects: storedSubjects.map(({ name, note }) => ({ name, note })),
  figures: [
    { key: 'time', title: 'time per pair', unit: 'µs' },
    { key: 'pairs', title: 'pairs per second', unit: '/s', moreIsBetter: true },
    { key: 'cpu', title: 'CPU of this process, per pair', unit: 'µs' },
  ],
  absentees: () => withoutRedis(storedSubjects),
  run: measure,
};

/** Resolves with the number of pairs. */
async function run(subject: DurableSubject, from: number, ms: number): Promise<number> {
  let next = from;
  const end = performance.now() + ms;
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      while (performance.now() < end) {
        const key = `session-${next++}`;
        await subject.schedule(key, DELAY);
        await subject.cancel(key);
      }
    }),
  );
  return next - from;
}

async function measure(name: string, { quick }: Scale): Promise<Measurement> {
  const { on, create } = storedSubjects.find((known) => known.name === name) as StoredSubject;
  const path = mkdtempSync(join(tmpdir(), 'shardwheel-bench-'));
  const server = on === 'Redis' ? await RedisServer.start('--databases', '1') : undefined;
  const connection = server?.connect();
  const part = quick ? 0.05 : 1;
  try {
    const subject = await create({ path, connection })(() => undefined);
    const warm = await run(subject, 0, WARM_UP * part);
    const cpu = process.cpuUsage();
    const begun = performance.now();
    const count = await run(subject, warm, COUNTED * part);
    const seconds = (performance.now() - begun) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    await subject.close();
    const figures = { time: (1e6 * seconds) / count, pairs: count / seconds, cpu: (user + system) / count };
    return { figures, checksums: {} };
  } finally {
    connection?.disconnect();
    await server?.stop();
    rmSync(path, { recursive: true, force: true });
  }
}
