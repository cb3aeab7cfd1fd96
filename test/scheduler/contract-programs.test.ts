import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { runPrograms } from './contract-programs.ts';

const OPERATIONS = 12_000;

test(`random programs over the whole contract do what a list of timers would, seed ${SEED}`, async () => {
  expect(await runPrograms(SEED, 0, OPERATIONS)).toBeGreaterThanOrEqual(OPERATIONS);
});
