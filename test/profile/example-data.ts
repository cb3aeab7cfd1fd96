import type { ProfileData } from '../../src/extras/profile/profile-data.ts';
import type { Calibration } from '../../src/extras/profile/report-data.ts';

/** What a thread's recorder might have seen: ten seconds, a tenth of them busy, 100,000 timers set and cleared. */
export const exampleData = (changes: Partial<ProfileData> = {}): ProfileData => ({
  format: 1,
  process: { pid: 4711, thread: 0, title: 'app.js', node: 'v20.20.2', execPath: '/usr/bin/node' },
  state: 'ended',
  seconds: 10,
  busy: 1000,
  cpu: 1100,
  totals: { created: 100_000, cleared: 90_000, refreshed: 0, fired: 10_000 },
  kinds: { timeouts: 100_000, intervals: 0, promises: 0 },
  needlessClears: 0,
  live: 0,
  peak: { live: 5000, at: 3 },
  buckets: [],
  delays: [{ delay: 5000, created: 100_000, cleared: 90_000, refreshed: 0, fired: 10_000 }],
  differentDelays: 1,
  calls: { create: { samples: 900, ns: 500 }, clear: { samples: 900, ns: 100 }, refresh: { samples: 0, ns: 0 } },
  lifetimes: [0, 0, 0, 0, 100],
  passes: { count: 900, milliseconds: 50, longest: { milliseconds: 2, fired: 30, at: 4 } },
  lateness: { count: 10_000, p50: 0.5, p90: 1, p99: 2, p999: 3, max: 4 },
  latenessBuckets: [5000, 4000, 1000],
  early: { sampled: 100, early: 2, max: 0.4 },
  sites: [],
  siteSamples: 900,
  internal: { created: 0, refreshed: 0, fired: 0 },
  series: [],
  ...changes,
});

/** ns. shardwheel at a half of Node's costs, and firing at a quarter. */
export const exampleCosts: Calibration = {
  live: 5000,
  node: { young: 100, old: 200, refresh: 100, fire: 400 },
  shardwheel: { young: 20, old: 100, refresh: 50, fire: 100 },
};
