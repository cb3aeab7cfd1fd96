import { judge } from '../targets.ts';
import type { Comparison } from './comparison.ts';
import { installedPeers } from './peer-packages.ts';
import { Progress } from './progress.ts';
import { machine, type Results } from './results.ts';
import { runSuite } from './rounds.ts';
import type { Suite } from './suite.ts';

interface MeasureOptions {
  readonly suites: readonly Suite[];
  readonly rounds: number;
  readonly quick: boolean;
  /** What was asked for, as it could be asked for again. */
  readonly command: string;
  readonly remark?: string;
  readonly signal: AbortSignal;
  /** Told after each suite. */
  readonly onSuite?: (suite: Suite, comparison: Comparison) => void;
}

/** Measures the suites one after the other, and says on stderr which. */
export async function measureSuites(options: MeasureOptions): Promise<Results> {
  const { suites, rounds, quick, command, remark, signal, onSuite } = options;
  const date = new Date();
  const comparisons: Comparison[] = [];
  const progress = new Progress(process.stderr);
  try {
    for (const suite of suites) {
      const onProgress = progress.update.bind(progress);
      const comparison = await runSuite(suite, { rounds, scale: { quick }, signal, onProgress });
      progress.clear();
      onSuite?.(suite, comparison);
      comparisons.push(comparison);
    }
  } finally {
    progress.end();
  }
  const seconds = Math.round((Date.now() - date.getTime()) / 1000);
  const targets = judge(comparisons);
  const names = suites.flatMap(({ title, subjects }) => [title, ...subjects.map(({ name }) => name)]);
  const packages = installedPeers(names, new URL('../../../', import.meta.url));
  return {
    date: date.toISOString(),
    command,
    machine: machine(),
    ...(Object.keys(packages).length > 0 && { packages }),
    ...(remark !== undefined && { remark }),
    rounds,
    quick,
    seconds,
    comparisons,
    targets,
  };
}
