import { clock, SampledTimes } from './call-times.ts';
import type { NodeTimeout } from './node-lists.ts';

export type Create = (callback: unknown, delay: unknown) => NodeTimeout;
export type Clear = (handle: unknown) => void;
export type Refresh = (this: NodeTimeout) => unknown;

// One function for each, so that V8 compiles each as it compiles a program's own calls: with Node's function in it.

export function timedCreate(times: SampledTimes, create: Create, callback: unknown, delay: unknown): NodeTimeout {
  const first = clock();
  const second = clock();
  const timer = create(callback, delay);
  times.add(first, second, clock());
  return timer;
}

export function timedClear(times: SampledTimes, clear: Clear, handle: unknown): void {
  const first = clock();
  const second = clock();
  clear(handle);
  times.add(first, second, clock());
}

export function timedRefresh(times: SampledTimes, refresh: Refresh, timer: NodeTimeout): void {
  const first = clock();
  const second = clock();
  refresh.call(timer);
  times.add(first, second, clock());
}

const ROUNDS = 4000;
const FAR = 2 ** 31 - 3;
const nothing = (): void => undefined;

/**
 * Has V8 compile the three, which run too seldom for that by themselves: as interpreted code they would take some times as long
 * as what they time. Takes a few ms.
 */
export function warmUpTimedCalls(create: Create, clear: Clear, refresh: Refresh): void {
  const times = new SampledTimes();
  for (let round = 0; round < ROUNDS; round++) {
    const timer = timedCreate(times, create, nothing, FAR);
    timedRefresh(times, refresh, timer);
    timedClear(times, clear, timer);
  }
}
