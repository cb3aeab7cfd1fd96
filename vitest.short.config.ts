import { configDefaults } from 'vitest/config';
import base from './vitest.config.ts';
import { wholePrograms } from './vitest.whole.config.ts';

/** `npm test`: everything but the suites that run whole programs. */
export default { ...base, test: { ...base.test, exclude: [...configDefaults.exclude, ...wholePrograms] } };
