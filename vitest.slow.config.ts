import base from './vitest.config.ts';
import { longSuites } from './vitest.long.config.ts';

/**
 * `npm run test:slow`: the random suites again, for minutes instead of seconds, the exhaustive ones to their full depth, and
 * refusals that last. They look at SHARDWHEEL_SLOW. And the other suites that take long.
 */
export default {
  ...base,
  test: {
    ...base.test,
    include: [
      ...longSuites,
      'test/shard/interleavings.test.ts',
      'test/shard/preemption.test.ts',
      'test/wheel/random-scripts.test.ts',
      'test/wheel/differential.test.ts',
      'test/scheduler/model.test.ts',
      'test/timers/fuzz.test.ts',
      'test/clients/fuzz.test.ts',
      'test/clients/given-back.test.ts',
    ],
    env: { SHARDWHEEL_SLOW: '1' },
    testTimeout: 3_600_000,
  },
};
