import { testStore } from './conformance.ts';
import { lmdbKind } from './lmdb-kind.ts';

testStore('lmdbStore', lmdbKind, 'beginnings');
