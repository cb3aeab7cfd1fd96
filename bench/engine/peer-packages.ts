import { readFileSync } from 'node:fs';
import { type Comparison, subjectsIn } from './comparison.ts';

/** The packages behind suites and subjects that have one of these words in their names. */
const packagesOf: readonly (readonly [word: string, ...packages: string[]])[] = [
  ['BullMQ', 'bullmq', 'ioredis'],
  ['LMDB', 'lmdb'],
  ['node-schedule', 'node-schedule'],
  ['retimer', 'retimer'],
  ['timeout-refresh', 'timeout-refresh'],
  ['undici', 'undici'],
  ['lru-cache', 'lru-cache'],
  ['ttlcache', '@isaacs/ttlcache'],
  ['flatqueue', 'flatqueue'],
  ['timer-wheel', 'timer-wheel'],
  ['MQTT', 'aedes'],
  ['WebSocket', 'ws'],
];

/** Versions by package. */
export type Versions = Readonly<Record<string, string>>;

/**
 * Those of the packages behind what has these names, as they are installed; one that is not is left out. `root`: the
 * project's.
 */
export function installedPeers(names: readonly string[], root: URL): Versions {
  const versions = packagesBehind(names).flatMap((name): [string, string][] => {
    try {
      const { version } = JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, root), 'utf8'));
      return [[name, version]];
    } catch {
      return [];
    }
  });
  return Object.fromEntries(versions);
}

/** In words: those of the packages behind the subjects of a comparison. Empty where none is known. */
export function describePeers(comparison: Comparison, versions: Versions = {}): string {
  const known = packagesBehind([comparison.title, ...subjectsIn(comparison)]).filter((name) =>
    Object.hasOwn(versions, name),
  );
  return known.map((name) => `${name} ${versions[name]}`).join(', ');
}

const packagesBehind = (names: readonly string[]): string[] =>
  packagesOf.filter(([word]) => names.some((name) => name.includes(word))).flatMap(([, ...packages]) => packages);
