import type { TimerId } from '../timer-id.ts';

/**
 * What runs when `close()` hands a timer back, by the timer's callback, which is one function for all timers of a kind. So
 * timers of this package's own (bounded waits, timeouts of a face) need no list of those that wait, and cost nothing before.
 */
const listeners = new Map<unknown, (argument: never) => void>();

/** When a timer with this callback is handed back, `listener` gets its argument. For callbacks that live as long as the module. */
export function onHandBack<A>(callback: (argument: A, id: TimerId) => void, listener: (argument: A) => void): void {
  listeners.set(callback, listener as (argument: never) => void);
}

/** Whether timers with this callback have a listener. */
export const isToldWhenHandedBack = (callback: unknown): boolean => listeners.has(callback);

export function reportHandBack(callback: unknown, argument: unknown): void {
  listeners.get(callback)?.(argument as never);
}
