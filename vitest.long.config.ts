import base from './vitest.config.ts';

/**
 * Suites that take long: they run whole programs (the bench, the replay, the soak, the examples, packages, other runtimes, Node's
 * own tests), or end, hang, block and refuse threads and wait for what becomes of it. `.ci/run` and `test:slow` run them.
 */
export const longSuites = [
  'test/bench/runtimes.test.ts',
  'test/bench/smoke.test.ts',
  'test/installed/bundlers.test.ts',
  'test/installed/command-line.test.ts',
  'test/installed/jest.test.ts',
  'test/installed/declarations.test.ts',
  'test/cli/watch.test.ts',
  'test/dashboard/browser.test.ts',
  'test/dashboard/server.test.ts',
  'test/examples/run-examples.test.ts',
  'test/faults/clock.test.ts',
  'test/faults/close.test.ts',
  'test/faults/deaths.test.ts',
  'test/faults/hangs.test.ts',
  'test/faults/refused-resources.test.ts',
  'test/lane/stress.test.ts',
  'test/node-timers/node-timers.test.ts',
  'test/profile/node-timers.test.ts',
  'test/profile/page.test.ts',
  'test/profile/processes.test.ts',
  'test/profile/profile.test.ts',
  'test/register/packages.test.ts',
  'test/replay/replay.test.ts',
  'test/soak/soak.test.ts',
  'test/threads/auto-shards.test.ts',
  'test/timers/exit-fuzz.test.ts',
];

export default { ...base, test: { ...base.test, include: longSuites } };
