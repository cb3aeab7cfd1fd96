// Counts garbage collections over a million steady-state operations, then samples who allocates in half a million more.
// On the built package: `node --expose-gc --max-semi-space-size=1 gc-count.mjs <subject>`. The young generation is
// small, so that even a few bytes per operation show.
import { Session } from 'node:inspector/promises';
import { PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { xorshift } from '../../dist/bench/replay/xorshift.js';

const OPERATIONS = 1_000_000;
const LIVE = 50_000;
const SLICE = 400;
const WINDOWS = 4;

let random = 42;
const draw = (range) => {
  random = xorshift(random);
  return ((random >>> 0) * (range / 2 ** 32)) | 0;
};

/** What is measured: prepares, and returns a slice of the steady state, and what ends it. */
const subjects = {
  async wheel() {
    const { createWheel } = await import('../../lib/wheel.js');
    const wheel = createWheel('default');
    const ids = new Float64Array(LIVE);
    for (let i = 0; i < LIVE; i++) ids[i] = wheel.schedule(1 + draw(60_000), i);
    let now = 0;
    const onFire = (timer) => {
      ids[timer] = wheel.schedule(now + 60_000, timer);
    };
    return {
      slice() {
        for (let i = 0; i < SLICE; i++) {
          const timer = draw(LIVE);
          wheel.cancel(ids[timer]);
          ids[timer] = wheel.schedule(now + 1 + draw(60_000), timer);
        }
        now += 1;
        wheel.advanceTo(now, onFire);
      },
    };
  },

  scheduler: () => scheduler({ shards: 2 }, 'replace'),
  'scheduler inline': () => scheduler({ shards: 0 }, 'replace'),
  'scheduler moves': () => scheduler({ shards: 2 }, 'move'),
};

async function scheduler(options, operation) {
  const { createScheduler } = await import('../../lib/index.js');
  const made = createScheduler(options);
  await made.ready;
  const ids = new Float64Array(LIVE);
  const onFire = () => {};
  for (let i = 0; i < LIVE; i++) ids[i] = made.schedule(i, 600_000 + draw(60_000), onFire, i);
  const operations = {
    replace(now) {
      const timer = draw(LIVE);
      made.cancel(ids[timer]);
      ids[timer] = made.schedule(timer, now + 600_000 + draw(60_000), onFire, timer);
    },
    move: (now) => made.reschedule(ids[draw(LIVE)], now + 600_000 + draw(60_000)),
  };
  const once = operations[operation];
  return {
    slice() {
      const now = made.now();
      for (let i = 0; i < SLICE; i++) once(now);
    },
    end: () => made.close(),
  };
}

const collections = [];
const observer = new PerformanceObserver((list) => collections.push(...list.getEntries()));
observer.observe({ entryTypes: ['gc'] });

const { slice, end } = await subjects[process.argv[2]]();
const turn = () => new Promise((resolve) => setImmediate(resolve));
const run = async (operations) => {
  for (let done = 0; done < operations; done += SLICE) {
    slice();
    // The scheduler's own turns have to come round; ten slices to one of them.
    if (done % (SLICE * 10) === 0) await turn();
  }
};

/** Collections during so many operations, after one that is asked for. */
async function countCollections() {
  await sleep(50);
  globalThis.gc();
  await sleep(50);
  const from = performance.now();
  await run(OPERATIONS);
  const to = performance.now();
  await sleep(50);
  return collections.filter(({ startTime }) => startTime >= from && startTime <= to).length;
}

await run(OPERATIONS / 2);
// What operations allocate is there in each window; a table that grows, or code that is compiled anew, in one.
let counted = Number.POSITIVE_INFINITY;
for (let window = 0; window < WINDOWS && counted > 0; window++) counted = Math.min(counted, await countCollections());
observer.disconnect();

/** Bytes allocated per operation by functions of the package, by name; those below a byte are left out. */
async function allocations() {
  const session = new Session();
  session.connect();
  await session.post('HeapProfiler.startSampling', {
    samplingInterval: 4096,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  await run(OPERATIONS / 2);
  const { profile } = await session.post('HeapProfiler.stopSampling');
  session.disconnect();
  const bytes = new Map();
  const visit = ({ callFrame: { functionName, url }, selfSize, children }) => {
    if (url.includes('/lib/')) bytes.set(functionName, (bytes.get(functionName) ?? 0) + selfSize);
    for (const child of children) visit(child);
  };
  visit(profile.head);
  const each = [...bytes].map(([name, size]) => [name, Math.round(size / (OPERATIONS / 2))]);
  return Object.fromEntries(each.filter(([, size]) => size > 0));
}

const total = (bytes) => Object.values(bytes).reduce((sum, size) => sum + size, 0);
let least = await allocations();
for (let window = 1; window < WINDOWS && total(least) > 0; window++) {
  const bytes = await allocations();
  if (total(bytes) < total(least)) least = bytes;
}
process.stdout.write(JSON.stringify({ counted, allocations: least }));
await end?.();
