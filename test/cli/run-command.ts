import { type ChildProcess, execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('../../lib/cli.js', import.meta.url));

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  env?: NodeJS.ProcessEnv;
  /** Called when the process is there. */
  onStart?(child: ChildProcess): void;
}

/** Runs `shardwheel` with these arguments. */
export const runCommand = (argv: readonly string[], { env, onStart }: CommandOptions = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout: 60_000 };
    const child = execFile(process.execPath, [script, ...argv], options, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
    onStart?.(child);
  });
