import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasRedis, RedisServer } from '../../bench/durable/redis-server.ts';
import { xorshift } from '../../bench/xorshift.ts';
import { SEED } from '../fixtures/draws.ts';
import { killAtRandom } from './kill-run.ts';

const KILLS = process.env.SHARDWHEEL_SLOW === undefined ? 40 : 200;
/** In ms. Of BullMQ's workers one knows when the next job is due; if it dies, the others look after a second. */
const PAUSES = { lmdb: 300, bullmq: 800 };

async function run(store: readonly [kind: 'lmdb' | 'bullmq', where: string], processes: number): Promise<void> {
  let state = SEED + processes;
  const random = (): number => {
    state = xorshift(state);
    return (state >>> 0) / 2 ** 32;
  };
  const report = await killAtRandom(store, { kills: KILLS, processes, pauses: PAUSES[store[0]], random });
  if (process.env.REPORT !== undefined)
    process.stdout.write(`${store[0]}, ${processes} at a time: ${JSON.stringify(report)}\n`);
  expect(report.faults.slice(0, 10), report.faults.slice(0, 10).join('\n')).toEqual([]);
  expect(report.confirmed).toBeGreaterThan(KILLS * 5);
  expect(report.delivered).toBeGreaterThan(KILLS * 5);
  expect(report.cancelled).toBeGreaterThan(KILLS);
  // Of several workers, BullMQ may prefer those that are not to be killed.
  if (store[0] === 'lmdb' || processes === 1) expect(report.repeated).toBeGreaterThan(0);
}

describe(`LMDB: processes killed at random moments lose, double and hasten nothing, seed ${SEED}`, () => {
  let path: string;
  beforeAll(() => {
    path = mkdtempSync(join(tmpdir(), 'shardwheel-killed-'));
  });
  afterAll(() => rmSync(path, { recursive: true, force: true }));

  for (const processes of [1, 2, 3]) {
    test(`${processes} at a time`, () => run(['lmdb', join(path, `${processes}`)], processes));
  }
});

describe.skipIf(!hasRedis)(
  `BullMQ: processes killed at random moments lose, double and hasten nothing, seed ${SEED}`,
  () => {
    let server: RedisServer;
    for (const processes of [1, 2, 3]) {
      test(`${processes} at a time`, async () => {
        server = await RedisServer.start('--databases', '1');
        try {
          await run(['bullmq', server.url], processes);
        } finally {
          await server.stop();
        }
      });
    }
  },
);
