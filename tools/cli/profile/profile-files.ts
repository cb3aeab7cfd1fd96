import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationsOf } from '../../../src/extras/profile/delay-counts.ts';
import type { ProfileData } from '../../../src/extras/profile/profile-data.ts';

/** What the threads of a program have written into a folder, those with most timer operations first. */
export function readProfiles(folder: string): ProfileData[] {
  const found = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => profileIn(join(folder, name)));
  return found.sort((one, other) => operationsOf(other.totals) - operationsOf(one.totals));
}

/** Returns nothing for any other file. */
function profileIn(path: string): ProfileData[] {
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isLike(example, data) && (data as ProfileData).format === example.format ? [data as ProfileData] : [];
  } catch {
    return []; // not JSON, or gone by now
  }
}

const counts = { created: 0, cleared: 0, refreshed: 0, fired: 0 };
const times = { samples: 0, ns: 0 };

/** Each part that a recorder writes, and of each list one row. */
const example: ProfileData = {
  format: 1,
  process: { pid: 0, thread: 0, title: '', node: '', execPath: '' },
  state: 'ended',
  seconds: 0,
  busy: 0,
  cpu: 0,
  totals: counts,
  kinds: { timeouts: 0, intervals: 0, promises: 0 },
  needlessClears: 0,
  live: 0,
  peak: { live: 0, at: 0 },
  buckets: [{ from: 0, ...counts }],
  delays: [{ delay: 0, ...counts }],
  differentDelays: 0,
  calls: { create: times, clear: times, refresh: times },
  lifetimes: [0],
  passes: { count: 0, milliseconds: 0, longest: { milliseconds: 0, fired: 0, at: 0 } },
  lateness: { count: 0, p50: 0, p90: 0, p99: 0, p999: 0, max: 0 },
  latenessBuckets: [0],
  early: { sampled: 0, early: 0, max: 0 },
  sites: [{ site: '', name: '', from: '', delay: 0, samples: 0, ...counts }],
  siteSamples: 0,
  internal: { created: 0, refreshed: 0, fired: 0 },
  series: [{ at: 0, live: 0, pass: 0, busy: 0, ...counts }],
};

/** Whether a value has all parts of a model, each of the same type, and in lists only such rows. */
function isLike(model: unknown, value: unknown): boolean {
  if (Array.isArray(model)) return Array.isArray(value) && value.every((row) => isLike(model[0], row));
  if (typeof model !== 'object' || model === null) return typeof value === typeof model;
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(model).every(([name, part]) => isLike(part, Reflect.get(value, name)));
}
