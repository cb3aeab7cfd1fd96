import { spawn, spawnSync } from 'node:child_process';
import process from 'node:process';
import { InvalidArgumentError } from 'commander';

/** Parses the flag that names a release of Node: 24, 24.21 or 24.21.0. */
export function nodeRelease(text: string): string {
  if (/^\d+(\.\d+){0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a release of Node, such as 24 or 24.21.0.');
}

/** Whether this process is of that release. */
const isRunning = (release: string): boolean => `${process.versions.node}.`.startsWith(`${release}.`);

/**
 * Runs a script with its arguments on a release of Node, whose binary the registry's `node` package has, and returns its
 * exit code; undefined where this process is of that release, and can go on itself. The script's own processes are of that
 * release as well. Throws where there is no such release to be had.
 */
export async function onNode(release: string, script: string, argv: readonly string[]): Promise<number | undefined> {
  if (isRunning(release)) return undefined;
  process.stderr.write(`Node ${release} from the registry …\n`);
  const npm = [
    'exec',
    '--yes',
    '--loglevel=error',
    `--package=node@${release}`,
    '--',
    'node',
    '-p',
    'process.execPath',
  ];
  const found = spawnSync('npm', npm, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const binary = found.stdout?.trim().split('\n').at(-1);
  if (found.status !== 0 || !binary) {
    const why =
      found.error?.message ??
      found.stderr
        .trim()
        .split('\n')
        .find((line) => /no matching version|ENOTFOUND|ECONN|E404/i.test(line)) ??
      'no answer';
    throw new Error(`Node ${release} is not to be had: ${why}`);
  }
  const child = spawn(binary, [script, ...argv], { stdio: 'inherit' });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', pass).on('SIGTERM', pass);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** The arguments without a flag and its value. */
export const without = (flag: string, argv: readonly string[]): string[] =>
  argv.filter((word, at) => word !== flag && argv[at - 1] !== flag && !word.startsWith(`${flag}=`));
