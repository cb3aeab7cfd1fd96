import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { ReleaseResults, Results } from './results.ts';
import { readReleases, releasesText } from './results-file.ts';

export const releaseOf = ({ machine }: Results): string => String(Number.parseInt(machine.node.slice(1), 10));

/** Writes results into such a file, in the place of those of the same release. */
export function keepByRelease(file: string, results: Results): void {
  const others: ReleaseResults = existsSync(file) ? readReleases(readFileSync(file, 'utf8')) : {};
  // Keys that are whole numbers stand in their order.
  writeFileSync(file, releasesText({ ...others, [releaseOf(results)]: results }));
}
