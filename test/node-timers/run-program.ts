import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** How many programs run at a time. */
const WIDTH = 2;
/** ms until a program that does not end is killed: each ends within 10 s by itself. */
const LIMIT = 20_000;

export interface ProgramEnd {
  /** null where the program was killed. */
  readonly code: number | null;
  /** What it has written, to stdout and to stderr. */
  readonly output: string;
}

const programs = new URL('programs/', import.meta.url);
const waiting: (() => void)[] = [];
let running = 0;

/** Runs a program, by its file, in a process of its own; waits while as many run as may. */
export async function runProgram(file: string, flags: readonly string[], env: NodeJS.ProcessEnv = {}) {
  if (running === WIDTH) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  try {
    return await run(fileURLToPath(new URL(file, programs)), flags, env);
  } finally {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  }
}

function run(path: string, flags: readonly string[], env: NodeJS.ProcessEnv): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['--no-warnings', ...flags, path],
      { env: { ...process.env, NODE_OPTIONS: '', ...env }, timeout: LIMIT, killSignal: 'SIGKILL' },
      (_error, stdout, stderr) => resolve({ code: child.exitCode, output: stdout + stderr }),
    );
  });
}
