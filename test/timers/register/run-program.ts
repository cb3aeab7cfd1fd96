import { type Ended, runNode as run } from '../../fixtures/child-process.ts';

export const programs = './test/timers/register/programs';

/** What a whole program is moved by. */
export const REGISTER = ['--import', 'shardwheel/register'] as const;

export interface Run {
  /** Node's own, before the program. */
  readonly flags?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs Node with these arguments: the wheel from the first timer, for the programs tell by a timer whose it is. */
export const runNode = (given: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
  run(given, { env: { NODE_OPTIONS: '', SHARDWHEEL_TIMERS: 'always', ...env } });

/**
 * Runs a program of `test/timers/register/programs`; returns what it has printed, a line of JSON. Throws where it
 * fails.
 */
export async function runProgram(name: string, { flags = [], env }: Run = {}): Promise<unknown> {
  const ended = await runNode(['--no-deprecation', ...flags, `${programs}/${name}`], env);
  if (ended.code !== 0 || ended.stderr !== '') {
    throw new Error(`${name} ended with ${ended.code}\n${ended.stdout}\n${ended.stderr}`);
  }
  return JSON.parse(ended.stdout);
}
