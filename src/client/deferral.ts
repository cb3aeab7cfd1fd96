import type { Context } from '../async-context/context-keeper.ts';
import { onHandBack } from './hand-back.ts';

export const DELIVERED = Symbol('delivered');
export const PLACED = Symbol('placed');
export const HANDED_BACK = Symbol('handedBack');

/**
 * A timer whose callback does not run while fired records are taken, but when the turn has taken them all: in an order of
 * its own, say. Such a timer has `callLater` for a callback, and itself for an argument.
 */
export interface DeferredTimer {
  /** What it calls in the end, under the name that Node's timeouts have for it. */
  readonly _onTimeout: unknown;
  /** It has been delivered. `tick`: its due tick. Must not throw, nor run anything of the program. */
  [DELIVERED](context: Context, tick: number): void;
  /** It waits under another handle from here on: see `Nursery`. Must not throw. */
  [PLACED](handle: number): void;
  /** The scheduler was closed while it waited. */
  [HANDED_BACK](): void;
}

/** The callback of every deferred timer; `Delivery` knows it, and does not call it. */
export const callLater = (timer: DeferredTimer): void => timer[DELIVERED](undefined, 0);

onHandBack(callLater, (timer) => timer[HANDED_BACK]());

/** What runs at the end of a turn in which deferred timers were delivered. */
export interface DeferredRun {
  /** Throws what a callback, or a tick of the program, throws: the rest runs in the next turn. Returns whether some is left. */
  run(): boolean;
}

/** Runs that wait for the end of the present turn, or of the next. */
export class DeferredRuns {
  private readonly waiting: DeferredRun[] = [];

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(run: DeferredRun): void {
    this.waiting.push(run);
  }

  /** Runs each once; those with something left, or that throw, wait on. Returns whether any does. Throws what a run throws. */
  run(): boolean {
    const { waiting } = this;
    for (let count = waiting.length; count > 0; count--) {
      const run = waiting.shift() as DeferredRun;
      let isLeft = true;
      try {
        isLeft = run.run();
      } finally {
        if (isLeft) waiting.push(run);
      }
    }
    return waiting.length > 0;
  }
}
