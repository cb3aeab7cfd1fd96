import type { TimerCallback } from './client-lane.ts';

/**
 * Who has to know when `close()` hands a timer back: by its callback, which is one function for all timers of a kind. So
 * timers of this package's own (bounded waits, timeouts of a face) need no list of those that wait, and pay for being told
 * only then.
 */
const hearers = new Map<unknown, (argument: never) => void>();

/** When timers with this callback are handed back, `hear` gets their arguments. For callbacks that live as long as the module. */
export function hearOfHandBack<A>(callback: TimerCallback<A>, hear: (argument: A) => void): void {
  hearers.set(callback, hear as (argument: never) => void);
}

export function tellOfHandBack(callback: unknown, argument: unknown): void {
  hearers.get(callback)?.(argument as never);
}
