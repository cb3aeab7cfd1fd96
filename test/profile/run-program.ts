import { runNode } from '../fixtures/child-process.ts';

/** Runs a program, by its path; its exit code, and what it has written to stdout and to stderr. */
export async function runProgram(path: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const ended = await runNode(['--no-warnings', ...flags, path], { env: { NODE_OPTIONS: '', ...env }, limit: 20_000 });
  return { code: ended.code, output: ended.stdout + ended.stderr };
}
