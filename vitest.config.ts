import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isExhaustive } from './test/fixtures/depth.ts';

/** Stryker runs the tests that reach a mutant, again and again: the short ones, but for those that read sources. */
const isMutated = process.env.STRYKER_MUTATOR_WORKER !== undefined;

/** The file of an entry: as built, or its source. */
const entry = (name: string) =>
  fileURLToPath(new URL(isMutated ? `./src/entries/${name}.ts` : `./lib/${name}.js`, import.meta.url));

/** They take minutes, so they begin first, and the others run beside them. */
const longest = /test\/(models\/|shard\/(interleavings|preemption)|package\/guarantees-on-runtimes|smoke\/bench)/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) => longest.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/**
 * Suites that take more than two seconds: they run whole programs (the bench, the replay, the soak, the examples, packages, other
 * runtimes), or end, hang and block threads, or try very many cases.
 */
const longSuites = 'test/**/*.long.test.ts';

/** The random suites for minutes instead of seconds, the exhaustive ones to their full depth. */
const isSlow = process.env.SHARDWHEEL_SLOW !== undefined;

/** Short suites that become long ones. */
const deeper = [
  ...(isExhaustive ? ['test/shard/local-lane.test.ts'] : []),
  ...(isSlow ? ['test/wheel/differential.test.ts'] : []),
];

const long = {
  extends: true as const,
  test: { name: 'long', include: [longSuites, ...deeper] },
};

// Tests of the public face import the package by its name and so run what users run, `lib`. Tests of single parts import their sources.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^shardwheel$/, replacement: entry('index') },
      { find: /^shardwheel\/timers\/promises$/, replacement: entry('timers-promises') },
      { find: /^shardwheel\/(\w+)$/, replacement: entry('$1') },
    ],
  },
  test: {
    testTimeout: isSlow ? 3_600_000 : 120_000,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'short',
          // Half of their CPU would go into loading the same modules for each file anew.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            longSuites,
            ...(isMutated ? ['test/*.test.ts', 'test/{docs,durable}/**'] : []),
          ],
          globalSetup: 'test/durable/redis-notice.ts',
        },
      },
      ...(isMutated ? [] : [long]),
    ],
  },
});
