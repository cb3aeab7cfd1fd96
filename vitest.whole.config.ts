import base from './vitest.config.ts';

/** Suites that run whole programs for a while: the bench, other runtimes, the soak, packages. `.ci/run` and `test:slow` run them. */
export const wholePrograms = [
  'test/bench/runtimes.test.ts',
  'test/bench/smoke.test.ts',
  'test/register/packages.test.ts',
  'test/soak/soak.test.ts',
];

export default { ...base, test: { ...base.test, include: wholePrograms } };
