import { fileURLToPath } from 'node:url';
import { runNode } from '../../fixtures/child-process.ts';

/** How many programs run at a time. */
const WIDTH = 2;
/** ms until a program that does not end is killed: each ends within 10 s by itself. */
const LIMIT = 20_000;

interface ProgramEnd {
  /** null where the program was killed. */
  readonly code: number | null;
  /** What it has written, to stdout and to stderr. */
  readonly output: string;
}

const programs = new URL('programs/', import.meta.url);
const waiting: (() => void)[] = [];
let running = 0;

/** Runs a program, by its file, in a process of its own; waits while as many run as may. */
export async function runProgram(
  file: string,
  flags: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ProgramEnd> {
  if (running === WIDTH) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    const given = ['--no-warnings', ...flags, fileURLToPath(new URL(file, programs))];
    const { code, stdout, stderr } = await runNode(given, { env: { NODE_OPTIONS: '', ...env }, limit: LIMIT });
    return { code, output: stdout + stderr };
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}
