// `npm run mutation` breaks one expression at a time in a copy of the repository, and runs the short tests that reach it: what no test
// notices is shown. Hours for all of it; `npm run mutation -- --mutate src/wheel/occupancy.ts` for one file. Threads of their own run
// what is built, without the mutants, so that what only runs there shows as a survivor.
export default {
  mutate: ['src/{lane,shard,client,wheel}/**/*.ts'],
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  disableTypeChecks: false, // the tests that read sources would see its marks
  tsconfigFile: 'none', // Stryker would rewrite it by TypeScript's former API
  reporters: ['clear-text', 'progress-append-only', 'html'],
  htmlReporter: { fileName: 'reports/mutation.html' },
};
