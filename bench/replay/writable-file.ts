import { accessSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { UsageError } from './command-line.ts';

/** Why a file cannot be written; undefined if it can. */
function obstacle(path: string): string | undefined {
  if (path === '') return 'it has no name';
  try {
    accessSync(dirname(path), constants.W_OK);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return 'it is a folder';
    if (found !== undefined) accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Parses a flag's file that is written at the end of what may take long, and is refused before. */
export function writableFile(path: string): string {
  const why = obstacle(path);
  if (why === undefined) return path;
  throw new InvalidArgumentError(`It cannot be written: ${why}.`);
}

/** The same of a file that no flag names. Throws `UsageError`. */
export function requireWritable(path: string): void {
  const why = obstacle(path);
  if (why !== undefined) throw new UsageError(`${path} cannot be written: ${why}`);
}
