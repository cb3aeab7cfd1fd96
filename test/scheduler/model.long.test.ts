import fc from 'fast-check';
import { createScheduler } from 'shardwheel';
import { expect, test, vi } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { action, options } from './model-actions.ts';
import { ModelPair } from './model-pair.ts';

const CAPACITY = 24;
/** ms; ten minutes in `npm run test:slow`. */
const TIME = process.env.SHARDWHEEL_SLOW === '1' ? 600_000 : 6_000;

vi.setConfig({ testTimeout: TIME + 120_000 });

test(`any sequence of calls, crashes included, does what a sorted array would, seed ${SEED}`, async () => {
  const runs = { inline: 0, onThreads: 0, closedHalfWay: 0, actions: 0 };
  const limits = { numRuns: 1_000_000_000, interruptAfterTimeLimit: TIME, markInterruptAsFailure: false };
  await fc.assert(
    fc.asyncProperty(
      options,
      fc.array(action, { minLength: 1, maxLength: 60, size: 'max' }),
      async (chosen, actions) => {
        const inlineAfter = { deaths: 3, within: 60_000 };
        await using scheduler = createScheduler({
          clock: 'manual',
          capacity: CAPACITY,
          thread: { inlineAfter },
          ...chosen,
        });
        const pair = new ModelPair(scheduler, chosen.tick, CAPACITY);
        for (const each of actions) {
          await pair.run(each);
          expect(pair.faults).toEqual([]);
          runs.actions += 1;
          if (pair.closing !== undefined) break;
        }
        if (pair.closing !== undefined) runs.closedHalfWay += 1;
        await pair.end();
        expect(pair.faults).toEqual([]);
        if (chosen.shards === 0) runs.inline += 1;
        else runs.onThreads += 1;
      },
    ),
    { seed: SEED, ...limits },
  );
  process.stdout.write(`  ${JSON.stringify(runs)}\n`);
  expect(runs.inline).toBeGreaterThan(20);
  expect(runs.actions).toBeGreaterThan(500);
});
