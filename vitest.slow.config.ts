import base from './vitest.config.ts';

/** The suites that need minutes: `npm run test:slow`. */
export default {
  ...base,
  test: { ...base.test, include: ['test/slow/**/*.test.ts'], exclude: [], testTimeout: 3_600_000 },
};
