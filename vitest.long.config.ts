import { BaseSequencer, type TestSpecification } from 'vitest/node';
import base from './vitest.config.ts';

/**
 * Suites that take more than two seconds, by their names: they run whole programs (the bench, the replay, the soak, the examples,
 * packages, other runtimes), or end, hang and block threads, or try very many cases. `.ci/run` and `npm run test:slow` run them.
 */
export const longSuites = 'test/**/*.long.test.ts';

/** The models take minutes on one core, so they begin first, and the others run beside them. */
class ModelsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isModel = ({ moduleId }: TestSpecification) => moduleId.includes('test/models/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isModel), ...sorted.filter((file) => !isModel(file))];
  }
}

export default { ...base, test: { ...base.test, include: [longSuites], sequence: { sequencer: ModelsFirst } } };
