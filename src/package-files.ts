import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * Finds this package's files at run time. A bundler may have moved its code into another file, in another format, on another
 * machine; so no path stands in the code where a bundler would take it for its own, and several places are looked at:
 *
 *     beside this code                                  as installed
 *     in the package that this code's file can import   a bundle inside of a project
 *     in the one that the program's file can import     a bundle that knows its file no more, or that of the machine it was built on
 *     in the one that the working directory can import  a program that was told on the command line
 */
declare const __filename: unknown;

/** Not imported: webpack takes the calls of an imported one for requests of its own, and answers them by what it has bundled. */
const { createRequire } = process.getBuiltinModule('node:module');

/** What every build of the package has, below `dist`. */
const MARK = join('workers', 'entry.cjs');

/** URL of the file that this code stands in; undefined where a bundler has taken that from it. */
function ownFile(): string | undefined {
  const { url } = import.meta as Partial<ImportMeta>;
  if (typeof url === 'string') return url;
  return typeof __filename === 'string' ? pathToFileURL(__filename).href : undefined;
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

/** Where it has been looked for, for an error to say. */
export const searchedFolders = (): string[] => [
  ...new Set(Array.from(origins(), (origin) => dirname(fileURLToPath(origin)))),
];

/** The path of a package's main file, or of one of its files; undefined where it is not to be found. */
export function resolvePackage(specifier: string, from: readonly string[] = []): string | undefined {
  for (const origin of [...from, ...origins()]) {
    try {
      return createRequire(origin).resolve(specifier);
    } catch {
      // Not to be found from there.
    }
  }
  return undefined;
}

/** What `require` makes of a file, whatever bundler this code has gone through. */
export const requireFile = <T>(path: string): T => createRequire(path)(path);

let found: string | undefined;

/** The folder of the built package, `dist`; undefined where it is not to be found. */
export function builtFolder(): string | undefined {
  found ??= besideThisCode() ?? inPackages();
  return found;
}

function besideThisCode(): string | undefined {
  const own = ownFile();
  if (!own?.startsWith('file:')) return undefined;
  const folder = dirname(fileURLToPath(own));
  return ['..', join('..', '..')].map((up) => join(folder, up)).find((path) => existsSync(join(path, MARK)));
}

function inPackages(): string | undefined {
  const description = resolvePackage('shardwheel/package.json');
  if (description === undefined) return undefined;
  const folder = join(dirname(description), 'dist');
  return existsSync(join(folder, MARK)) ? folder : undefined;
}
