import { dirname } from 'node:path';
import { process } from './process.ts';

const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs');

/**
 * Makes a folder, and those above it; one that another process makes meanwhile is as good. Node's own `recursive`, like
 * lmdb's, tries for ever where a file system allows none.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  const above = dirname(path);
  if (above !== path) makeFolder(above);
  try {
    mkdirSync(path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
}
