import { createRequire } from 'node:module';
import type { FireSink, WheelSubject } from './wheel-subject.ts';

interface FastTimer {
  clear(): void;
}

/** What undici keeps its timeouts with; no part of its public face. */
interface Module {
  setFastTimeout(callback: (timer: number) => void, delay: number, timer: number): FastTimer;
  clearFastTimeout(timer: FastTimer): void;
  reset(): void;
}

/** ms between its ticks. */
export const FAST_TICK = 499;

const module: Module = createRequire(import.meta.url)('undici/lib/util/timers.js');

/**
 * undici's fast timers on a virtual clock: an array that each tick walks through from end to end. A timer counts from
 * the tick before the one that first sees it, and so is up to a tick early: it is asked for that much later. Up to two
 * ticks late.
 */
export class FastTimers implements WheelSubject {
  private readonly handles: (FastTimer | undefined)[];
  private readonly onFire: (timer: number) => void;
  private readonly tick: () => void;
  private now = 0;
  private nextTick = FAST_TICK;

  constructor(capacity: number, sink: FireSink) {
    this.handles = new Array<FastTimer | undefined>(capacity).fill(undefined);
    this.onFire = (timer) => sink.fired(timer);
    module.reset();
    this.tick = takeTick();
  }

  schedule(timer: number, deadline: number): void {
    this.handles[timer] = module.setFastTimeout(this.onFire, deadline - this.now + FAST_TICK, timer);
  }

  cancel(timer: number): void {
    module.clearFastTimeout(this.handles[timer]!);
  }

  advanceTo(now: number): void {
    for (; this.nextTick <= now; this.nextTick += FAST_TICK) this.tick();
    this.now = now;
  }
}

/** Its tick, which it hands to the timer of Node's that it makes for its first: here it gets one that never comes. */
function takeTick(): () => void {
  const { setTimeout } = globalThis;
  let tick: (() => void) | undefined;
  const never = { refresh: () => never, unref: () => never };
  globalThis.setTimeout = ((callback: () => void) => {
    tick = callback;
    return never;
  }) as never;
  const first = module.setFastTimeout(() => undefined, 2 * FAST_TICK, 0);
  globalThis.setTimeout = setTimeout;
  module.clearFastTimeout(first);
  if (tick === undefined) throw new Error('undici has set no timer for its ticks');
  return tick;
}
