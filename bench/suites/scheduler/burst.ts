import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement, Scale, Suite } from '../../engine/suite.ts';
import { createSubject, NODE, nodeEntry, SHARDWHEEL, shardwheelEntry, start } from './subjects.ts';

/**
 * ms before they are due at which the event loop begins to be watched, and after which waiting for them is given up.
 */
const WATCH = 20;
const PATIENCE = 20_000;

const nothing = (): void => undefined;

/** (e) A stampede: a million timers of one millisecond. */
export const burst: Suite = {
  name: 'scheduler burst',
  title: 'Scheduler: 1 M timers due in the same millisecond',
  codes: ['e'],
  about:
    'All are asked for in one turn, for one time. From then on the event loop turns without pause (setImmediate), and ' +
    'the longest turn is the block; the last is counted from the time that all were due.',
  base: NODE,
  subjects: [nodeEntry, { name: SHARDWHEEL, note: shardwheelEntry.note }],
  figures: [
    { key: 'block', title: 'longest block', unit: 'ms' },
    { key: 'last', title: 'time to the last', unit: 'ms' },
  ],
  run: measure,
};

async function measure(name: string, scale: Scale): Promise<Measurement> {
  const count = scale.quick ? 5000 : 1_000_000;
  const delay = scale.quick ? 150 : 4000;
  const fired = new Uint8Array(count).fill(0);
  const last = new Float64Array(1);
  let left = count;
  const subject = createSubject(name, count, (timer) => {
    fired[timer]++;
    last[0] = performance.now();
    left--;
  });
  await subject.ready;
  await sleep(100);
  subject.beginSlice();
  const due = performance.now() + delay;
  for (let timer = 0; timer < count; timer++) start(subject, timer, delay);
  globalThis.gc?.();
  await sleep(due - WATCH - performance.now());
  const block = await longestTurn(() => left > 0 && performance.now() < due + PATIENCE);
  await subject.close(nothing, nothing);
  const wrong = fired.reduce((sum, times) => sum + (times === 1 ? 0 : 1), 0);
  if (wrong > 0) throw new Error(`${wrong} of ${count} timers did not fire, or fired twice`);
  return { figures: { block, last: last[0] - due }, checksums: { fired: count } };
}

function longestTurn(goesOn: () => boolean): Promise<number> {
  return new Promise((resolve) => {
    let longest = 0;
    let last = performance.now();
    const turn = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (goesOn()) setImmediate(turn);
      else resolve(longest);
    };
    setImmediate(turn);
  });
}
