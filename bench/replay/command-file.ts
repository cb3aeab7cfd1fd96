import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** This package's own folder. */
export const packageFolder = dirname(createRequire(import.meta.url).resolve('shardwheel/package.json'));

/**
 * The command line: one file, which is also what every process and thread runs that a command starts. The first
 * argument says as what. So the commands of a checkout and the benches run what a user has installed.
 */
export const commandFile = join(packageFolder, 'lib/cli.js');

/** What a process or thread of a command can be. Each takes one argument. */
export type Part = 'replay-process' | 'loop-thread' | 'run-process' | 'work-process' | 'work-clients' | 'timer-costs';

/** The arguments of `commandFile` for such a part. */
export const asPart = (part: Part, argument: string): string[] => [`as:${part}`, argument];
