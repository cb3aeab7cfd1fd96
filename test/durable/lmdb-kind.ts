import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'shardwheel/durable';
import type { StoreKind } from './conformance/stores.ts';

let path: string;

/** Stores of LMDB, each in a folder of its own. */
export const lmdbKind: StoreKind = {
  create: () => {
    path = mkdtempSync(join(tmpdir(), 'shardwheel-lmdb-'));
  },
  open: () => lmdbStore({ path }),
  destroy: () => rmSync(path, { recursive: true, force: true }),
  patience: 5000,
};
