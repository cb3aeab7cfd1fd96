import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The package itself: there its own entries resolve, and the libraries that it is held against. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** ms after which a process is killed. */
const PATIENCE = 120_000;
/** What would load something else before it, or from elsewhere. */
const withoutOthers = { NODE_OPTIONS: undefined, NODE_COMPILE_CACHE: undefined };

export type Figures = Record<string, number>;

/** Runs Node with these arguments, and answers with what the process has written: one JSON object of figures. */
export async function figuresOfProcess(argv: readonly string[]): Promise<Figures> {
  const { stdout } = await promisify(execFile)(process.execPath, argv, {
    cwd: ROOT,
    env: { ...process.env, ...withoutOthers },
    encoding: 'utf8',
    timeout: PATIENCE,
    killSignal: 'SIGKILL',
  });
  return JSON.parse(stdout);
}

/** The same of a program of this folder, by its name. */
export const figuresOfProgram = (name: string, argv: readonly string[], flags: readonly string[] = []) =>
  figuresOfProcess([
    ...flags,
    fileURLToPath(new URL(`./${name}${import.meta.url.slice(-3)}`, import.meta.url)),
    ...argv,
  ]);
