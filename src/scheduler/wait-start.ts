import { requireSignal } from '../abort-watch.ts';
import { requireOptions } from '../known-options.ts';
import { RENAMED_WAIT_OPTIONS } from '../renamed.ts';
import { awaited, type Waiter } from '../waiter.ts';
import { requireOpen } from './require-open.ts';
import { placementOf, type WorkerHint } from './timer-group.ts';
import { clientOf, labelOr, type TimerLabel } from './timer-label.ts';

export interface WaitOptions {
  /** Aborting it ends the wait; its reason is the cause of the AbortError. Default: none. */
  signal?: AbortSignal;
  /** Places the timer, or the group whose end is the end of the wait. Default: the shards in turn. */
  workerHint?: WorkerHint;
  /** With which the timer is started. Default: none. */
  label?: TimerLabel;
}

const WAIT_OPTIONS = { signal: 0, workerHint: 0, label: 0 } satisfies Record<keyof WaitOptions, 0>;

/** The deadline of a wait without a limit, in ms. */
const NEVER = Number.MAX_VALUE;

let turn = 0;
/** Spreads timers without a hint over the shards. @internal */
const nextHint = (): number => {
  turn = (turn + 1) | 0;
  return turn;
};

/** With what a wait begins. @internal */
export interface WaitStart {
  readonly starts: TimerLabel;
  readonly workerHint: WorkerHint;
  readonly signal: AbortSignal | undefined;
}

/**
 * Checks the options of a call, each of which it reads once. Throws InvalidArgumentError, InvalidConfigError,
 * SchedulerClosedError. @internal
 */
export function checkedStart(call: string, plain: TimerLabel, options: WaitOptions = {}): WaitStart {
  requireOptions(options, WAIT_OPTIONS, 'options', undefined, RENAMED_WAIT_OPTIONS);
  const { workerHint = nextHint(), label, signal } = options;
  requireSignal(signal);
  const starts = labelOr(plain, label);
  const client = clientOf(plain);
  placementOf(workerHint, client);
  requireOpen(client, call); // last, since the options may have run code of the program
  return { starts, workerHint, signal };
}

/**
 * Starts a waiter's timer; if it is refused, nothing is left of it. Throws CapacityExceededError, AllocationError.
 * @internal
 */
export function begin(waiter: Waiter, { starts, workerHint }: WaitStart, delay: number): void {
  try {
    if (delay === Number.POSITIVE_INFINITY) starts.schedule(workerHint, NEVER, awaited, waiter);
    else starts.scheduleAfter(workerHint, delay, awaited, waiter);
  } catch (error) {
    waiter.leave();
    throw error;
  }
}
