import { join } from 'node:path';
import { process } from '../../../process.ts';
import { DurableStoreError } from '../durable-error.ts';

/**
 * The two pages at the begin of LMDB's file, of which the one with the greater transaction holds:
 *
 *     byte    24 magic   48 page size   144 last page in use   152 transaction
 */
const MAGIC = 0xbeefc0de;
const MAGIC_AT = 24;
const PAGE_SIZE_AT = 48;
const LAST_PAGE_AT = 144;
const TRANSACTION_AT = 152;
const HEAD = 160;

/**
 * Rejects with DurableStoreError if the store's file is no LMDB file, or is shorter than it says. LMDB maps the file
 * without looking: such a file would end the process by a signal. What is damaged within is not found here.
 */
export async function checkFile(path: string): Promise<void> {
  const { open } = process.getBuiltinModule('node:fs/promises');
  const file = await open(join(path, 'data.mdb')).catch(() => undefined); // none yet, or LMDB says why
  if (file === undefined) return;
  try {
    if ((await file.stat()).size === 0) return;
    const head = async (at: number): Promise<Buffer> => (await file.read(Buffer.alloc(HEAD), 0, HEAD, at)).buffer;
    const first = await head(0);
    const pageSize = first.readUInt32LE(PAGE_SIZE_AT);
    const isPage = pageSize >= 512 && pageSize <= 65_536;
    const second = isPage ? await head(pageSize) : first;
    if (!isPage || [first, second].some((page) => page.readUInt32LE(MAGIC_AT) !== MAGIC)) {
      throw damaged(path, 'its file data.mdb is not of LMDB');
    }
    const [last] = [first, second].sort((one, other) =>
      Number(other.readBigUInt64LE(TRANSACTION_AT) - one.readBigUInt64LE(TRANSACTION_AT)),
    );
    const length = (Number(last.readBigUInt64LE(LAST_PAGE_AT)) + 1) * pageSize;
    // after the pages: another process may be writing, and the file grows before they do
    const { size } = await file.stat();
    if (size < length) throw damaged(path, `its file data.mdb has ${size} bytes of ${length}`);
  } finally {
    await file.close();
  }
}

const damaged = (path: string, why: string): DurableStoreError =>
  new DurableStoreError('ERR_STORE_CORRUPT', `The LMDB store ${path} is damaged, or is not a store: ${why}`);
