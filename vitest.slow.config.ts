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
    include: [longSuites, 'test/wheel/differential.test.ts'],
    env: { SHARDWHEEL_SLOW: '1' },
    testTimeout: 3_600_000,
  },
};
