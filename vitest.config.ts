import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const built = (path: string) => fileURLToPath(new URL(`./lib/${path}`, import.meta.url));

/** The models take minutes on one core, so they begin first, and the others run beside them. */
class ModelsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isModel = ({ moduleId }: TestSpecification) => moduleId.includes('test/models/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isModel), ...sorted.filter((file) => !isModel(file))];
  }
}

/**
 * Suites that take more than two seconds: they run whole programs (the bench, the replay, the soak, the examples, packages, other
 * runtimes), or end, hang and block threads, or try very many cases.
 */
const longSuites = 'test/**/*.long.test.ts';

/** The random suites for minutes instead of seconds, the exhaustive ones to their full depth. */
const isSlow = process.env.SHARDWHEEL_SLOW !== undefined;

/** Stryker runs the tests that reach a mutant, again and again: the short ones, but for those that read sources. */
const isMutated = process.env.STRYKER_MUTATOR_WORKER !== undefined;

const long = {
  extends: true as const,
  test: { name: 'long', include: [longSuites, ...(isSlow ? ['test/wheel/differential.test.ts'] : [])] },
};

// Tests of the public face import the package by its name and so run what users run, `lib`. Tests of single parts import their sources.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^shardwheel$/, replacement: built('index.js') },
      { find: /^shardwheel\/timers\/promises$/, replacement: built('timers-promises.js') },
      { find: /^shardwheel\/(\w+)$/, replacement: built('$1.js') },
    ],
  },
  test: {
    testTimeout: isSlow ? 3_600_000 : 120_000,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: ModelsFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'short',
          // Half of their CPU would go into loading the same modules for each file anew.
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, longSuites, ...(isMutated ? ['test/*.test.ts', 'test/docs/**'] : [])],
          globalSetup: 'test/durable/redis-notice.ts',
        },
      },
      ...(isMutated ? [] : [long]),
    ],
  },
});
