// `npm run mutation` breaks one expression at a time in a copy of the repository, and runs the short tests of these
// rooms that reach it (vitest.config.ts): what no test notices is shown. Days for all of it: SHARDWHEEL_MUTATED=0.05 takes
// a twentieth of it, at random; for one file `npm run mutation -- --mutate src/wheel/occupancy.ts`. Threads of their own
// run what is built, without the mutants, so that what only runs there shows as a survivor. SHARDWHEEL_SEED=42 makes two
// runs alike. CONTRIBUTING.md has the scores.
export default {
  mutate: ['src/{lane,shard,client,wheel}/**/*.ts'],
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner', './tools/build/mutation-sample.mjs'],
  ignorers: ['sample'],
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  concurrency: 2,
  dryRunTimeoutMinutes: 60, // of a busy machine
  thresholds: { high: 90, low: 70, break: 59 }, // each file that was measured
  disableTypeChecks: false, // the tests that read sources would see its marks
  tsconfigFile: 'none', // Stryker would rewrite it by TypeScript's former API
  reporters: ['clear-text', 'progress-append-only', 'html'],
  htmlReporter: { fileName: 'reports/mutation.html' },
};
