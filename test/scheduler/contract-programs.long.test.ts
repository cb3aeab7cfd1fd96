import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { runPrograms } from './contract-programs.ts';

const isSlow = process.env.SHARDWHEEL_SLOW === '1';

/** With a thread an operation takes five times as long, since each stop of the clock is a question and an answer. */
test.each<[shards: number, operations: number]>([
  [0, isSlow ? 2e7 : 2e5],
  [1, isSlow ? 1e6 : 2e4],
  [2, isSlow ? 1e6 : 2e4],
])(
  `random programs over the whole contract, crashes included: shards %i, %i operations, seed ${SEED}`,
  async (shards, operations) => {
    expect(await runPrograms(SEED, shards, operations)).toBeGreaterThanOrEqual(operations);
  },
);
