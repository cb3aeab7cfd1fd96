import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Piscina } from 'piscina';
import { InvalidConfigError, MissingFileError } from '../errors.ts';
import { builtFolder, requireFile, resolvePackage, searchedFolders } from '../package-files.ts';

/** What a shard's thread is started with. */
export interface ThreadFiles {
  /** URL of what the pool's thread runs. */
  readonly worker: string;
  /** Path of what is loaded before Node asks for the working directory: see there. Undefined where that is not to be had. */
  readonly preload: string | undefined;
  /** Loaded from outside of any bundle: it starts threads from a file of its own. */
  readonly Pool: typeof Piscina;
}

const loaded = new Map<string | undefined, ThreadFiles>();

/**
 * Finds the files and loads the pool, which takes some 10 ms: so a scheduler does that as it is made, and not when it starts a
 * thread under load, and one without threads never does. `workerUrl`: as {@link resolveWorkerUrl} returns it. Throws
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

/** Of a URL or path the URL. Throws InvalidConfigError. */
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
