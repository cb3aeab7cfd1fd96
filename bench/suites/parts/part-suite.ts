import { Bench } from 'tinybench';
import type { Suite } from '../../engine/suite.ts';

/** Operations per call of a kernel: enough that the call and the clock around it do not count. */
export const OPERATIONS = 1000;

/** Performs OPERATIONS operations; returns a number that depends on every one of them. */
export type Kernel = () => number;

export interface PartSuiteOptions {
  readonly name: string;
  readonly title: string;
  readonly codes: readonly string[];
  readonly about: string;
  readonly base: string;
  /** Created in each process. */
  readonly kernels: Readonly<Record<string, () => Kernel>>;
  /** Whether all kernels come to the same result; else each only to its own, time after time. */
  readonly agrees: boolean;
}

/** A suite of operations that cost a few nanoseconds: what one call takes, by tinybench. */
export function partSuite({ name, title, codes, about, base, kernels, agrees }: PartSuiteOptions): Suite {
  return {
    name,
    title,
    codes,
    about: `${about} Median call of tinybench, by ${OPERATIONS} operations in it.`,
    base,
    subjects: Object.keys(kernels).map((subject) => ({ name: subject })),
    figures: [{ key: 'each', title: 'each', unit: 'ns' }],
    async run(subject, { quick }) {
      const kernel = kernels[subject]();
      const expected = kernel();
      let wrong = 0;
      const bench = new Bench({ time: quick ? 2 : 300, warmupTime: quick ? 2 : 100 });
      bench.add(subject, () => {
        if (kernel() !== expected) wrong++;
      });
      const [task] = await bench.run();
      if (wrong > 0) throw new Error(`${subject} came to another result ${wrong} times`);
      if (!('latency' in task.result)) throw new Error(`${subject} was not measured: ${task.result.state}`);
      const figures = { each: (task.result.latency.p50 * 1e6) / OPERATIONS };
      return { figures, checksums: { [agrees ? 'result' : `result of ${subject}`]: expected } };
    },
  };
}
