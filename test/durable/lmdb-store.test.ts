import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lmdbStore } from 'shardwheel/durable';
import { testStore } from './conformance.ts';

let path: string;
testStore('lmdbStore', {
  create: () => {
    path = mkdtempSync(join(tmpdir(), 'shardwheel-lmdb-'));
  },
  open: () => lmdbStore({ path }),
  destroy: () => rmSync(path, { recursive: true, force: true }),
  patience: 5000,
});
