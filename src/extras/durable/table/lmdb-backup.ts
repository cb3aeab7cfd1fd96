import { dirname, join, resolve } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { makeFolder } from '../../../make-folder.ts';
import { process } from '../../../process.ts';
import { lmdbError } from './lmdb-errors.ts';
import { newIdentity } from './thread-identity.ts';

const { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } = process.getBuiltinModule('node:fs');

/** Databases that tell of the processes that have a store open: a copy has none. */
const OF_PROCESSES = ['members', 'leaders'];

/**
 * Copies a store that is open, as it is at one moment, into a folder that is empty or not there: all of it, or nothing.
 * The engine copies in a thread of its own, by what one reader sees, without the lock for writing and without pages
 * that are free.
 */
export async function copyStore(
  root: RootDatabase,
  path: string,
  openAt: (path: string) => RootDatabase,
): Promise<void> {
  let partial: string | undefined;
  try {
    const target = resolve(path);
    if (existsSync(target) && readdirSync(target).length > 0) throw new Error('ENOTEMPTY: the folder has files');
    makeFolder(dirname(target));
    partial = `${target}.${newIdentity()}`;
    mkdirSync(partial);
    await root.backup(partial, true);
    const copy = openAt(partial);
    try {
      for (const name of OF_PROCESSES) await copy.openDB(name, {}).clearAsync();
    } finally {
      await copy.close();
    }
    rmSync(join(partial, 'lock.mdb'), { force: true });
    if (existsSync(target)) rmdirSync(target);
    renameSync(partial, target);
  } catch (error) {
    if (partial !== undefined) rmSync(partial, { recursive: true, force: true });
    throw lmdbError(path, error);
  }
}
