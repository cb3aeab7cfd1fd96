import base from './vitest.config.ts';

/** The random suites again, for minutes instead of seconds, and refusals that last: `npm run test:slow`. They look at SHARDWHEEL_SLOW. */
export default {
  ...base,
  test: {
    ...base.test,
    include: [
      'test/wheel/random-scripts.test.ts',
      'test/scheduler/model.test.ts',
      'test/timers/fuzz.test.ts',
      'test/faults/refused-resources.test.ts',
    ],
    env: { SHARDWHEEL_SLOW: '1' },
    testTimeout: 3_600_000,
  },
};
