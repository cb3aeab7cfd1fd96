import { type Ended, type RunOptions, runNode } from '../fixtures/child-process.ts';

/** Runs `shardwheel` with these arguments. */
export const runCommand = (argv: readonly string[], options: RunOptions = {}): Promise<Ended> =>
  runNode(['lib/cli.js', ...argv], options);
