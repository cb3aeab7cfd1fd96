import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { xorshift } from '../../bench/replay/xorshift.ts';
import { hasRedis, RedisServer } from '../../bench/suites/durable/redis-server.ts';
import { SEED } from '../fixtures/draws.ts';
import { newFolder } from './folder.ts';
import { killAtRandom } from './kill-run.ts';

/** s of load on each store; `SHARDWHEEL_ORACLE=600` runs it for longer. */
const SECONDS = Number(process.env.SHARDWHEEL_ORACLE ?? 40);
/** In ms. Of BullMQ's workers one knows when the next job is due; if it dies, the others look after a second. */
const PAUSES = { lmdb: 300, bullmq: 800 };
/** How many processes have the store at a time, and for how many ms their timers are in memory alone. */
const RUNS: [processes: number, persistAfter: number][] = [
  [1, 0],
  [2, 0],
  [3, 400],
  [5, 0],
  [5, 400],
];

async function run(
  store: readonly [kind: 'lmdb' | 'bullmq', where: string],
  processes: number,
  persistAfter: number,
): Promise<void> {
  let state = SEED + processes + persistAfter;
  const random = (): number => {
    state = xorshift(state);
    return (state >>> 0) / 2 ** 32;
  };
  const end = performance.now() + (SECONDS / RUNS.length) * 1000;
  const until = (ends: number): boolean => ends >= processes && performance.now() > end;
  const pauses = PAUSES[store[0]];
  const report = await killAtRandom(store, { until, processes, pauses, persistAfter, random });
  if (process.env.REPORT !== undefined)
    process.stdout.write(`${store[0]}, ${processes} at a time, ${persistAfter}: ${JSON.stringify(report)}\n`);
  expect(report.faults.slice(0, 10), report.faults.slice(0, 10).join('\n')).toEqual([]);
  for (const seen of ['kills', 'confirmed', 'delivered', 'cancelled', 'repeated'] as const) {
    expect(report[seen], seen).toBeGreaterThan(0);
  }
}

describe(`LMDB: processes that are killed, closed and stopped at random lose, double and hasten nothing, seed ${SEED}`, () => {
  test.each(RUNS)('%i at a time, persistAfter %i', (processes, persistAfter) =>
    run(['lmdb', join(newFolder(), 'timers')], processes, persistAfter),
  );
});

describe.skipIf(!hasRedis)(
  `BullMQ: processes that are killed, closed and stopped at random lose, double and hasten nothing, seed ${SEED}`,
  () => {
    test.each(RUNS)('%i at a time, persistAfter %i', async (processes, persistAfter) => {
      const server = await RedisServer.start('--databases', '1');
      try {
        await run(['bullmq', server.url], processes, persistAfter);
      } finally {
        await server.stop();
      }
    });
  },
);
