import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface RegistryBinary {
  /** The package and what of its versions: `node@24`. */
  readonly package: string;
  /** What prints the path of the program that runs it: a command of the package, and its arguments. */
  readonly where: readonly string[];
}

/** What npm's output says of why there is none, and how we say it. */
const reasons: readonly [RegExp, string][] = [
  [/ENOTCACHED/, "not in npm's cache, and the registry was not asked"],
  [/ETARGET|no matching version/i, 'no such version'],
  [/EBADPLATFORM|Unsupported platform/i, 'no build for this machine'],
  [/ENOTFOUND|ECONN|EAI_AGAIN|ETIMEDOUT/, 'no connection to the registry'],
  [/E404/, 'no such package'],
  [/GLIBC|Illegal instruction/i, 'its build does not run on this machine'],
];

/**
 * The path of a program that a package of the registry has; npm keeps it in its cache, outside of the project.
 * `offline`: only what is there already. Throws where there is none, or it does not start; the message says why.
 */
export async function registryBinary({ package: name, where }: RegistryBinary, offline = false): Promise<string> {
  const npm = [
    'exec',
    '--yes',
    '--loglevel=error',
    ...(offline ? ['--offline'] : []),
    `--package=${name}`,
    '--',
    ...where,
  ];
  try {
    const { stdout } = await promisify(execFile)('npm', npm, { encoding: 'utf8' });
    const path = stdout.trim().split('\n').at(-1);
    if (path) return path;
  } catch (error) {
    const text = `${(error as { stderr?: string }).stderr ?? ''}${String(error)}`;
    throw new Error(reasons.find(([pattern]) => pattern.test(text))?.[1] ?? 'no answer');
  }
  throw new Error('no answer');
}
