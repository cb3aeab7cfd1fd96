import { process } from '../../../process.ts';
import { messageOf } from '../../../show.ts';
import { DurableStoreError, type StoreMeanings } from '../durable-error.ts';

const { statfsSync } = process.getBuiltinModule('node:fs');

const damaged =
  /MDB_(INVALID|CORRUPTED|PAGE_NOTFOUND|PANIC|BAD_TXN)|not an LMDB file|Invalid argument|MessagePack|end of buffer/i;
/** Codes of LMDB and of the system, by what they mean to the caller. */
const meanings: StoreMeanings = [
  ['ERR_STORE_CORRUPT', damaged, 'is damaged, or is not a store'],
  ['ERR_STORE_VERSION', /MDB_VERSION_MISMATCH/i, 'was written by another version of LMDB'],
  ['ERR_STORE_FULL', /MDB_MAP_FULL|ENOSPC|EFBIG|EDQUOT|No space left|File too large|quota/i, 'is full'],
  ['ERR_STORE_FULL', /MDB_READERS_FULL/, `has no place for a further process`],
  ['ERR_STORE_READ_ONLY', /ERR_ACCESS_DENIED/, 'is denied to this process (--allow-fs-read, --allow-fs-write)'],
  ['ERR_STORE_READ_ONLY', /EROFS|EACCES|EPERM|ENOENT|Read-only|Permission denied|not permitted/i, 'cannot be written'],
  ['ERR_STORE_FAILED', /ENOTEMPTY/, 'must be an empty folder, or none yet'],
  ['ERR_STORE_FAILED', /EEXIST|ENOTDIR|EISDIR/, 'must be a folder'],
];

const fullDisk: StoreMeanings = [['ERR_STORE_FULL', /./, 'is full']];
/** Fewer free bytes than LMDB extends its file by. */
const MIN_FREE_BYTES = 2 ** 20;

/**
 * What lmdb says where LMDB gives it no transaction: a process of another pid namespace has this one's id, and so its
 * lock.
 */
const noTransaction = /of null \(reading 'address'\)/;

/** The error that a failed commit is due to: lmdb's own error has it in a promise, which rejects with it. */
export async function causeOf(error: unknown): Promise<unknown> {
  const { commitError } = error as { commitError?: unknown };
  if (!(commitError instanceof Promise)) return error;
  return commitError.then(() => error).catch((cause: unknown) => cause);
}

/** What an error of LMDB means. `path` is the store's. */
export function lmdbError(path: string, cause: unknown): DurableStoreError {
  if (cause instanceof DurableStoreError) return cause;
  const said = textOf(cause);
  if (noTransaction.test(said)) return DurableStoreError.foreign(path, cause);
  // LMDB calls a write that was cut short, as on a full disk, an input/output error.
  const isFull = /Input\/output error|EIO/.test(said) && hasFewFree(path);
  return DurableStoreError.of(`The LMDB store ${path}`, isFull ? fullDisk : meanings, said, cause);
}

function hasFewFree(path: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize < MIN_FREE_BYTES;
  } catch {
    return false; // the folder is gone, which the error itself says
  }
}

function textOf(cause: unknown): string {
  const said = messageOf(cause);
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === 'string' && !said.startsWith(code) ? `${code}: ${said}` : said;
}
