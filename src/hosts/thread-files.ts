import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Piscina } from 'piscina';
import { InvalidConfigError, MissingFileError } from '../errors.ts';
import { builtFolder, requireFile, resolvePackage, searchedFolders } from '../package-files.ts';

/** The files that start a shard's thread. */
export interface ThreadFiles {
  /** URL of the file that the pool's thread runs. */
  readonly worker: string;
  /** Path of the file that is loaded before Node reads the working directory: see there. Undefined if it is not found. */
  readonly preload: string | undefined;
  /** Loaded from outside any bundle: it starts threads from its own file. */
  readonly Pool: typeof Piscina;
}

const loaded = new Map<string | undefined, ThreadFiles>();

/**
 * Finds the files and loads the pool, which takes some 10 ms. So a scheduler does this when it is created, not when it starts a
 * thread under load; a scheduler without threads never does. `workerUrl`: as {@link resolveWorkerUrl} returns it. Throws
 * MissingFileError.
 */
export function loadThreadFiles(workerUrl: string | undefined): ThreadFiles {
  const known = loaded.get(workerUrl);
  if (known !== undefined) return known;
  const folder = builtFolder();
  const inFolder = (name: string): string | undefined => folder && join(folder, 'workers', name);
  const own = inFolder('entry.cjs');
  const worker = workerUrl ?? (own && pathToFileURL(own).href);
  if (worker === undefined) throw MissingFileError.worker(searchedFolders());
  const path = resolvePackage('piscina', own === undefined ? [worker] : [own, worker]);
  if (path === undefined) throw MissingFileError.piscina(searchedFolders());
  const { Piscina: Pool } = requireFile<typeof import('piscina')>(path);
  const files = { worker, preload: inFolder('working-directory.cjs'), Pool };
  loaded.set(workerUrl, files);
  return files;
}

/** Returns the URL of a URL or path. Throws InvalidConfigError. */
export function resolveWorkerUrl(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const url = value instanceof URL ? value : urlOf(value);
  if (url?.protocol !== 'file:') {
    throw new InvalidConfigError('options.workerUrl', "must be a URL of 'file:', or an absolute path", value);
  }
  if (!existsSync(fileURLToPath(url))) {
    throw new InvalidConfigError('options.workerUrl', 'must be a file that is there', url.href);
  }
  return url.href;
}

function urlOf(value: unknown): URL | undefined {
  if (typeof value !== 'string') return undefined;
  if (/^(\/|\\|[a-z]:[\\/])/i.test(value)) return pathToFileURL(value);
  return URL.canParse(value) ? new URL(value) : undefined;
}
