import type { Runnable } from '../../async-context/context-keeper.ts';

/**
 * The slot of a timer while it is live: it waits, or is due and has not run. A number below 0 once it has ended:
 * another for each, as two timers are never equal. Only `HomeTimers` writes it.
 */
export const SLOT = Symbol('slot');
/** Whether it holds the process while it is live. Only `HomeTimers` writes it then. */
export const REFED = Symbol('refed');
/** Called when its client is closed before it was due. */
export const HANDED_BACK = Symbol('handedBack');

/** A timer that lives in its thread. It runs when it is due, and throws what its function throws. */
export interface HomeTimer extends Runnable {
  [SLOT]: number;
  [REFED]: boolean;
  [HANDED_BACK](): void;
  /** The function that it calls, under the name of Node's timeouts. */
  readonly _onTimeout: unknown;
  /** In ms between the calls of an interval. */
  readonly _repeat?: number | null;
}
