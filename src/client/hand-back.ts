import type { TimerId } from '../timer-id.ts';

/**
 * The listeners for timers that `close()` hands back, by the timer's callback, which is one function for all timers of a kind. So
 * this package's own timers (bounded waits, drop-in timeouts) need no list of those that wait, and cost nothing before.
 */
const listeners = new Map<unknown, (argument: never) => void>();

/**
 * Registers a listener: when a timer with this callback is handed back, it gets the timer's argument. For callbacks that live as
 * long as the module.
 */
export function onHandBack<A>(callback: (argument: A, id: TimerId) => void, listener: (argument: A) => void): void {
  listeners.set(callback, listener as (argument: never) => void);
}

/** Whether timers with this callback have a listener. */
export const isToldWhenHandedBack = (callback: unknown): boolean => listeners.has(callback);

export function reportHandBack(callback: unknown, argument: unknown): void {
  listeners.get(callback)?.(argument as never);
}
