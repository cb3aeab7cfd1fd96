import { lmdbStore } from 'shardwheel/durable';
import type { StoreKind } from './conformance/stores.ts';
import { newFolder } from './folder.ts';

let path: string;

/** Stores of LMDB, each in a folder of its own. */
export const lmdbKind: StoreKind = {
  create: () => {
    path = newFolder();
  },
  open: () => lmdbStore({ path }),
  destroy: () => undefined,
};
