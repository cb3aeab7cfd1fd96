import { configDefaults } from 'vitest/config';
import base from './vitest.config.ts';
import { longSuites } from './vitest.long.config.ts';

/** `npm test`: everything but the suites that take long. */
export default {
  ...base,
  test: {
    ...base.test,
    exclude: [...configDefaults.exclude, longSuites],
    globalSetup: 'test/durable/redis-notice.ts',
  },
};
