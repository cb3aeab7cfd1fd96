import { InvalidArgumentError } from '../errors.ts';
import type { Client } from './client.ts';
import type { Scheduler } from './scheduler.ts';
import type { TimerBook } from './timer-book.ts';

/** What a scheduler shows to those above it that make timers of another kind, and to nobody else. */
export interface Insides {
  readonly client: Client;
  readonly book: TimerBook;
  /** Callbacks run in the context of the call that set their timer. */
  readonly keepsContexts: boolean;
}

const shown = new WeakMap<Scheduler, Insides>();

export function reveal(scheduler: Scheduler, insides: Insides): void {
  shown.set(scheduler, insides);
}

/** Throws InvalidArgumentError for what is no scheduler. */
export function insidesOf(scheduler: Scheduler): Insides {
  const insides = shown.get(scheduler);
  if (insides === undefined) throw new InvalidArgumentError('scheduler', 'must be a Scheduler', scheduler);
  return insides;
}
