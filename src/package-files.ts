import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { process } from './process.ts';

const { existsSync } = process.getBuiltinModule('node:fs');

/**
 * Finds this package's files at run time. A bundler may have moved the code into another file, in another format, on
 * another machine. So the code contains no path that a bundler would resolve, and it looks in several places:
 *
 *     beside this code                              as installed
 *     in the package that this code's file imports  a bundle within a project
 *     in the one that the program's file imports    a bundle that does not know its file, or has another machine's
 *     in the one that the working directory has     a program given on the command line
 */
declare const __filename: unknown;

/**
 * Not imported: webpack would treat calls of an imported one as requests of its own, and answer them from its bundle.
 */
const { createRequire } = process.getBuiltinModule('node:module');

/** A file that every build of the package has, in `lib`. */
const MARK = 'worker.cjs';

/** URL of this code's file; undefined if a bundler has removed it. */
function ownFile(): string | undefined {
  const { url } = import.meta as Partial<ImportMeta>;
  if (typeof url === 'string') return url;
  return typeof __filename === 'string' ? pathToFileURL(__filename).href : undefined;
}

/** Whether this code runs as CommonJS: its other files must, too. */
export function isCommonJs(): boolean {
  const { url } = import.meta as Partial<ImportMeta>; // written as `import.meta.url`, the build would fill it in
  return typeof url !== 'string';
}

/** Files, as URLs, from which packages are looked for, the nearest to this code first. */
function* origins(): Generator<string> {
  const own = ownFile();
  if (own?.startsWith('file:')) yield own;
  const [, script] = process.argv;
  if (script !== undefined) yield pathToFileURL(script).href;
  try {
    yield pathToFileURL(join(process.cwd(), 'index.js')).href;
  } catch {
    // The working directory has been deleted.
  }
}

/** The folders that were searched, for an error. */
export const searchedFolders = (): string[] => [
  ...new Set(Array.from(origins(), (origin) => dirname(fileURLToPath(origin)))),
];

/** The path of a package's main file, or of one of its files; undefined if it is not found. */
export function resolvePackage(specifier: string, from: readonly string[] = []): string | undefined {
  for (const origin of [...from, ...origins()]) {
    try {
      return createRequire(origin).resolve(specifier);
    } catch {
      // Not found from there.
    }
  }
  return undefined;
}

/** Loads a file by `require`, whatever bundler has processed this code. */
export const requireFile = <T>(path: string): T => createRequire(path)(path);

let found: string | undefined;

/** The folder of the built package, `lib`; undefined if it is not found. */
export function builtFolder(): string | undefined {
  found ??= besideThisCode() ?? inPackages();
  return found;
}

function besideThisCode(): string | undefined {
  const own = ownFile();
  if (!own?.startsWith('file:')) return undefined;
  const folder = dirname(fileURLToPath(own));
  return [folder, dirname(folder)].find((path) => existsSync(join(path, MARK)));
}

function inPackages(): string | undefined {
  const description = resolvePackage('shardwheel/package.json');
  if (description === undefined) return undefined;
  const folder = join(dirname(description), 'lib');
  return existsSync(join(folder, MARK)) ? folder : undefined;
}
