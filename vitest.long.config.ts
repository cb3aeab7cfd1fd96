import base from './vitest.config.ts';

/**
 * Suites that take more than two seconds, by their names: they run whole programs (the bench, the replay, the soak, the examples,
 * packages, other runtimes), or end, hang and block threads, or try very many cases. `.ci/run` and `npm run test:slow` run them.
 */
export const longSuites = 'test/**/*.long.test.ts';

export default { ...base, test: { ...base.test, include: [longSuites] } };
