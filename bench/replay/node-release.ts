import { spawn } from 'node:child_process';
import { InvalidArgumentError } from 'commander';
import { registryBinary } from './registry-binary.ts';

/** Parses the flag that names a release of Node: 24, 24.21 or 24.21.0. */
export function nodeRelease(text: string): string {
  if (/^\d+(\.\d+){0,2}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a release of Node, such as 24 or 24.21.0.');
}

/** Whether this process is of that release. */
const isRunning = (release: string): boolean => `${process.versions.node}.`.startsWith(`${release}.`);

/** The path of a Node of that release: this one's, or the registry's `node` package. Throws if there is none. */
export async function nodeBinary(release: string, offline = false): Promise<string> {
  if (isRunning(release)) return process.execPath;
  return registryBinary({ package: `node@${release}`, where: ['node', '-p', 'process.execPath'] }, offline);
}

/**
 * Runs a program, a file with its arguments, on a release of Node, whose binary the registry's `node` package has, and
 * returns its exit code; undefined where this process is of that release, and can go on itself. The program's own
 * processes are of that release as well. Throws where there is no such release to be had.
 */
export async function onNode(release: string, program: readonly string[]): Promise<number | undefined> {
  if (isRunning(release)) return undefined;
  process.stderr.write(`Node ${release} from the registry …\n`);
  const binary = await nodeBinary(release).catch(({ message }: Error) => {
    throw new Error(`Node ${release} is not available: ${message}`);
  });
  const child = spawn(binary, program, { stdio: 'inherit' });
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
