import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { MessagePort } from 'node:worker_threads';
import type { Endpoint } from 'comlink';
import { InvalidConfigError, MissingFileError } from '../errors.ts';
import { builtFolder, requireFile, resolvePackage, searchedFolders } from '../package-files.ts';
import { process } from '../process.ts';
import { withoutOpeningStreams } from './unopened-streams.ts';

const { closeSync, existsSync, openSync } = process.getBuiltinModule('node:fs');

/** The files that start a shard's thread and speak with it. */
export interface ThreadFiles {
  /** URL of the file that the pool's thread runs. */
  readonly worker: string;
  /**
   * Paths of the files that are loaded before Node reads the working directory. Yarn's own where it has installed
   * without `node_modules` (Plug'n'Play): without it Node finds no package's file. Then `working-directory.cjs`, if it
   * is found: see there.
   */
  readonly preloads: readonly string[];
  /** Paths of the libraries. They are loaded from outside any bundle: the pool starts threads from its own file. */
  readonly piscina: string;
  readonly comlink: string;
  readonly endpoint: string;
}

/** comlink's adapter for the ports of `node:worker_threads`. */
const ENDPOINT = 'comlink/dist/umd/node-adapter.js';

const found = new Map<string | undefined, ThreadFiles>();

/**
 * What the system says where it lets this process open no file: then whatever is looked for seems to be missing.
 * Undefined where it lets it.
 */
export function refusalToOpen(): Error | undefined {
  try {
    closeSync(openSync(process.execPath, 'r'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM') return error as Error;
  }
  return undefined;
}

/**
 * Finds the files, and loads none of them. `workerUrl`: as {@link resolveWorkerUrl} returns it. Throws
 * MissingFileError, or the system's error where no file can be opened. Takes some 0.3 ms, once.
 */
export function findThreadFiles(workerUrl: string | undefined): ThreadFiles {
  const known = found.get(workerUrl);
  if (known !== undefined) return known;
  const folder = builtFolder();
  const inFolder = (name: string): string | undefined => folder && join(folder, name);
  const own = inFolder('worker.cjs');
  const worker = workerUrl ?? (own && pathToFileURL(own).href);
  if (worker === undefined) throw refusalToOpen() ?? MissingFileError.worker(searchedFolders());
  const library = (name: string, file = name): string => {
    const path = resolvePackage(file, own === undefined ? [worker] : [own, worker]);
    if (path === undefined) throw refusalToOpen() ?? MissingFileError.ofPackage(name, searchedFolders());
    return path;
  };
  const files = {
    worker,
    preloads: [
      process.versions.pnp === undefined ? undefined : resolvePackage('pnpapi'),
      inFolder('working-directory.cjs'),
    ].filter((path) => path !== undefined),
    piscina: library('piscina'),
    comlink: library('comlink'),
    endpoint: library('comlink', ENDPOINT),
  };
  found.set(workerUrl, files);
  return files;
}

let loaded: ReturnType<typeof libraries> | undefined;

/**
 * Loads the libraries, once, which takes some 10 ms: in the call that wants the first thread, and never before. Not
 * later either: Jest loads nothing for a test that has ended.
 */
export function loadThreadLibraries(files: ThreadFiles) {
  loaded ??= withoutOpeningStreams(() => libraries(files));
  return loaded;
}

const libraries = ({ piscina, comlink, endpoint }: ThreadFiles) => ({
  Pool: requireFile<typeof import('piscina')>(piscina).Piscina,
  wrap: requireFile<typeof import('comlink')>(comlink).wrap,
  nodeEndpoint: requireFile<(port: MessagePort) => Endpoint>(endpoint),
});

/** Returns the URL of a URL or path. Throws InvalidConfigError. */
export function resolveWorkerUrl(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const url = urlOf(value);
  if (url?.protocol !== 'file:') {
    throw new InvalidConfigError('options.thread.workerUrl', "must be a URL of 'file:', or an absolute path", value);
  }
  if (!existsSync(fileURLToPath(url))) {
    throw new InvalidConfigError('options.thread.workerUrl', 'must be a file that is there', url.href);
  }
  return url.href;
}

function isUrl(value: unknown): value is URL {
  try {
    return value instanceof URL;
  } catch {
    return false; // a proxy of the program
  }
}

function urlOf(value: unknown): URL | undefined {
  if (isUrl(value)) return value;
  if (typeof value !== 'string') return undefined;
  if (/^(\/|\\|[a-z]:[\\/])/i.test(value)) return pathToFileURL(value);
  return URL.canParse(value) ? new URL(value) : undefined;
}
