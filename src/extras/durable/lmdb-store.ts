import { resolve } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { InvalidArgumentError } from '../../errors.ts';
import { requireMilliseconds, requireOptions } from '../../known-options.ts';
import { makeFolder } from '../../make-folder.ts';
import { process } from '../../process.ts';
import { DurableStoreError } from './durable-error.ts';
import type { DurableStore } from './durable-store.ts';
import { Patience } from './patience.ts';
import { loadPackage } from './store-package.ts';
import { LmdbCommits } from './table/lmdb-commits.ts';
import { lmdbError } from './table/lmdb-errors.ts';
import { checkFile } from './table/lmdb-file.ts';
import { LmdbGate } from './table/lmdb-gate.ts';
import { LmdbTable } from './table/lmdb-table.ts';
import { TableStore } from './table/table-store.ts';

const { accessSync, constants, statSync } = process.getBuiltinModule('node:fs');

export interface LmdbStoreOptions {
  /**
   * The folder of the store. It is created if there is none. A folder has one store, which any number of processes may
   * open.
   */
  path: string;
  /**
   * ms that a call may take. After that it rejects with ERR_STORE_UNREACHABLE, and what it asked for may be done later:
   * another process holds the lock of the store and stands still, or the disk does not write. Default 10,000.
   */
  timeout?: number;
  /**
   * The function `open` of the package `lmdb`, imported by the program, where packages are not found by their names, as
   * in bundles and single executables. Default: that of the installed package.
   */
  open?: (...parameters: never[]) => unknown;
}

type Open = typeof import('lmdb').open;

/** The version of what is in the databases. */
const SCHEMA = 2;
/** Threads, of all processes, that may have the store open: a line of cache of its lock file each. */
const MAX_THREADS = 1000;
const SETTINGS = {
  maxDbs: 8,
  maxReaders: MAX_THREADS,
  noSubdir: false,
  encoding: 'msgpack',
  // Else lmdb makes a promise for each turn of the event loop, which rejects unhandled if the commit fails.
  eventTurnBatching: false,
  // Else a commit resolves before it is on disk, and the promise for that never settles if a later commit fails.
  overlappingSync: false,
} as const;

/**
 * Keeps timers in LMDB, in a folder of this machine: for any number of processes of one pid namespace. Needs the
 * package `lmdb`. What `schedule` has confirmed is on disk. Throws InvalidArgumentError, InvalidConfigError.
 */
export function lmdbStore(options: LmdbStoreOptions): DurableStore {
  const known = { path: 0, timeout: 0, open: 0 } satisfies Record<keyof LmdbStoreOptions, 0>;
  requireOptions(options, known, 'options', 'must be an object with a path');
  const { path, timeout = 10_000, open } = options;
  if (typeof path !== 'string' || path === '') {
    throw new InvalidArgumentError('options.path', 'must be the path of a folder', path);
  }
  requireMilliseconds('options.timeout', timeout, 100, 600_000);
  if (open !== undefined && typeof open !== 'function') {
    throw new InvalidArgumentError('options.open', 'must be the function `open` of the package lmdb', open);
  }
  const why = ': another process holds its lock, or the disk does not write';
  const patience = new Patience(timeout, `The LMDB store ${path}`, why);
  return new TableStore('lmdb', () => openTable(path, open as Open | undefined, patience), patience);
}

async function openTable(given: string, givenOpen: Open | undefined, patience: Patience): Promise<LmdbTable> {
  const open = givenOpen ?? loadPackage<typeof import('lmdb')>('lmdbStore', 'lmdb').open;
  const openAt = (path: string): RootDatabase => open({ path, ...SETTINGS });
  let gate: LmdbGate | undefined;
  let root: RootDatabase | undefined;
  let path = given;
  try {
    path = resolve(given); // the working directory may change
    makeFolder(path);
    if (!statSync(path).isDirectory()) throw new Error(`ENOTDIR: not a folder, open '${path}'`);
    accessSync(path, constants.W_OK);
    gate = new LmdbGate(path);
    const openRoot = async (): Promise<RootDatabase> => {
      await checkFile(path);
      return openAt(path);
    };
    const opened = await gate.opened(openRoot, patience);
    root = opened;
    const commits = new LmdbCommits(opened, gate, path);
    // Also shows that the lock of the file is free: to open its databases this thread waits for that. Writes where
    // there is none.
    await patience.bounded(commits.addIf(opened, 'schema', undefined, () => void opened.put('schema', SCHEMA)));
    opened.resetReadTxn();
    const found: unknown = opened.get('schema');
    if (found !== SCHEMA) throw DurableStoreError.otherVersion(path, found, SCHEMA);
    return await gate.committed(async () => new LmdbTable(commits, openAt));
  } catch (error) {
    gate?.close();
    void root?.close(); // it may wait for another process's lock
    throw lmdbError(path, error);
  }
}
