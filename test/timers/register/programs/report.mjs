// What a program of real packages hands back: its own checks, and how many timers the face has set for it meanwhile.
import { isMainThread } from 'node:worker_threads';
import { scheduled } from './probe.mjs';

export function report(checks) {
  process.stdout.write(JSON.stringify({ checks, scheduled: isMainThread ? scheduled() : undefined }));
}

/** Runs `each` for 0 .. count - 1, `width` at a time. */
export async function inParallel(count, width, each) {
  let next = 0;
  const runner = async () => {
    for (let n = next++; n < count; n = next++) await each(n);
  };
  await Promise.all(Array.from({ length: width }, runner));
}

/** How often each of the names has been counted. */
export class Tally {
  counts = {};

  add(name) {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}
