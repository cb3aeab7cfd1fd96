import type { Coordinator } from '../assembly/coordinator.ts';
import type { Client } from '../client/client.ts';
import { InvalidArgumentError, SchedulerClosedError } from '../errors.ts';
import { showClasses, unlessOfOtherCopy } from './other-copies.ts';

/** The parts of a scheduler, for code of this package that starts other kinds of timers, and for tests. @internal */
export interface Internals {
  readonly client: Client;
  readonly coordinator: Coordinator;
}

const known = new WeakMap<object, Internals>();

/** Called by a scheduler's constructor. @internal */
export function setInternals(scheduler: object, internals: Internals): void {
  known.set(scheduler, internals);
  showClasses();
}

/** Throws InvalidArgumentError if the argument is not a scheduler. @internal */
export function internalsOf(scheduler: object): Internals {
  const internals = typeof scheduler === 'object' && scheduler !== null ? known.get(scheduler) : undefined;
  if (internals !== undefined) return internals;
  throw new InvalidArgumentError('scheduler', unlessOfOtherCopy(scheduler, 'must be a Scheduler'), scheduler);
}

/** Throws SchedulerClosedError, with the name of the call. V8: known booleans */
export function requireOpen(client: Client, call: string): void {
  if (client.isClosed === true) throwClosed(call);
}

/** @internal */
export function throwClosed(call: string): never {
  throw new SchedulerClosedError(call);
}
