// The drop-in timers beside Node's own, in turn: node --expose-gc dist/bench/drop-in-timers/main.js [live timeouts] [rounds]
import * as node from 'node:timers';
import * as shardwheel from 'shardwheel/timers';
import { SEED, scaled, scaleFor, xorshift } from '../xorshift.ts';

const live = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 5);
const batch = Math.max(1, Math.floor(live / 5));

/** ms; far enough that none fires. */
const NEAREST = 60_000;
const SPREAD = 600_000;

interface Sample {
  /** ns per operation */
  clearAndSet: number;
  refresh: number;
  /** ns per timer of `batch` that are set and fire together */
  fire: number;
  /** bytes of heap per live timeout; the scheduler's tables, some 40 bytes a timer, are not of the heap */
  memory: number;
}

const idle = (): void => {};
const turn = () => new Promise<void>((resolve) => void setImmediate(resolve));

const clockOf = (count: number, work: () => void): number => {
  const began = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - began) / count;
};

async function sample(timers: shardwheel.Timers): Promise<Sample> {
  let state = SEED;
  const below = (end: number): number => {
    state = xorshift(state);
    return scaled(state, scaleFor(end));
  };
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const timeouts = Array.from({ length: live }, () => timers.setTimeout(idle, NEAREST + below(SPREAD)));
  globalThis.gc?.();
  const memory = (process.memoryUsage().heapUsed - before) / live;
  await turn();
  const clearAndSet = clockOf(batch, () => {
    for (let i = 0; i < batch; i++) {
      const at = below(live);
      timers.clearTimeout(timeouts[at]);
      timeouts[at] = timers.setTimeout(idle, NEAREST + below(SPREAD));
    }
  });
  await turn();
  const refresh = clockOf(batch, () => {
    for (let i = 0; i < batch; i++) timeouts[below(live)].refresh();
  });
  for (const timeout of timeouts) timers.clearTimeout(timeout);
  await turn();
  const began = process.hrtime.bigint();
  let left = batch;
  await new Promise<void>((resolve) => {
    const fired = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (let i = 0; i < batch; i++) timers.setTimeout(fired, 1);
  });
  return { clearAndSet, refresh, fire: Number(process.hrtime.bigint() - began) / batch, memory };
}

const subjects = { 'node:timers': node, 'shardwheel/timers': shardwheel } as const;
await shardwheel.promises.setTimeout(1); // its shard is up
for (const [name, timers] of Object.entries(subjects)) {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await sample(timers));
  const median = (key: keyof Sample) => samples.map((each) => each[key]).sort((one, other) => one - other)[rounds >> 1];
  const show = (key: keyof Sample) => median(key).toFixed(0);
  console.log(
    `${name}: ${live} live: clear + set ${show('clearAndSet')} ns, refresh ${show('refresh')} ns, ` +
      `set and fire ${show('fire')} ns, ${samples[0].memory.toFixed(0)} bytes of heap each`,
  );
}
