import type { Context } from '../async-context/context-keeper.ts';
import { onHandBack } from './hand-back.ts';

export const DELIVERED = Symbol('delivered');
export const PLACED = Symbol('placed');
export const HANDED_BACK = Symbol('handedBack');

/**
 * A timer whose callback runs only when the turn has taken all fired records, for example in a different order. Its callback is
 * `callLater`, its argument the timer itself.
 */
export interface DeferredTimer {
  /** The function that it calls in the end, under the name of Node's timeouts. */
  readonly _onTimeout: unknown;
  /** Called when it is delivered. `tick`: its due tick. Must not throw, nor run any code of the program. */
  [DELIVERED](context: Context, tick: number): void;
  /** Called when its handle changes: see `Nursery`. Must not throw. */
  [PLACED](handle: number): void;
  /** Called when the scheduler is closed while it waits. */
  [HANDED_BACK](): void;
}

/** The callback of every deferred timer. `Delivery` recognises it and does not call it. */
export const callLater = (timer: DeferredTimer): void => timer[DELIVERED](undefined, 0);

onHandBack(callLater, (timer) => timer[HANDED_BACK]());

/** Runs at the end of a turn that delivered deferred timers. */
export interface DeferredRun {
  /**
   * Returns whether some callbacks are left. Throws what a callback, or a tick of the program, throws; the rest then runs in the
   * next turn.
   */
  run(): boolean;
}

/** The runs that wait for the end of the present turn, or of the next. */
export class DeferredRuns {
  private readonly waiting: DeferredRun[] = [];

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  add(run: DeferredRun): void {
    this.waiting.push(run);
  }

  /**
   * Runs each once; those with something left, or that throw, go on waiting. Returns whether any does. Throws what a run throws.
   */
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
