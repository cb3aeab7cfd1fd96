import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Results } from './results.ts';

/** Results of the same suites on several releases of Node, by their first number: one file holds them all. */
export type ReleaseResults = Readonly<Record<string, Results>>;

export const releaseOf = ({ machine }: Results): string => String(Number.parseInt(machine.node.slice(1), 10));

/** Writes results into such a file, in the place of those of the same release. */
export function keepByRelease(file: string, results: Results): void {
  const others: ReleaseResults = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  // Keys that are whole numbers stand in their order.
  writeFileSync(file, `${JSON.stringify({ ...others, [releaseOf(results)]: results }, null, 2)}\n`);
}
