// Entry of a process that sets one timer with what `argv[2]` names, its first, and writes how late it came.
import { writeSync } from 'node:fs';

/** ms. */
const DELAY = 20;

type Set = (callback: () => void) => unknown;

/** What sets it; whatever is imported or made before is not in the figures. */
const setters: Readonly<Record<string, () => Promise<Set>>> = {
  scheduleAfter: async () => {
    const { createScheduler } = await import('shardwheel');
    const scheduler = createScheduler();
    return (callback) => scheduler.scheduleAfter(1, DELAY, callback);
  },
  'createScheduler, scheduleAfter': async () => {
    const { createScheduler } = await import('shardwheel');
    return (callback) => createScheduler().scheduleAfter(1, DELAY, callback);
  },
  'shardwheel/timers': async () => {
    const { setTimeout } = await import('shardwheel/timers');
    return (callback) => setTimeout(callback, DELAY);
  },
  'node:timers': async () => {
    const { setTimeout } = await import('node:timers');
    return (callback) => setTimeout(callback, DELAY);
  },
};

const set = await setters[process.argv[2]]();
const start = performance.now();
set(() => writeSync(1, JSON.stringify({ late: performance.now() - start - DELAY, call })));
const call = performance.now() - start;
