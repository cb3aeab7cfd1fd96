import type { EventEmitter } from 'node:events';
import { throwUncaught } from './async-context/run-ticks.ts';
import { emitWarning } from './unfaked.ts';

/** What has 'error' listeners: they are told of the error, and what of theirs it came from. */
type ErrorEmitter = Pick<EventEmitter<{ error: [error: unknown, source?: object] }>, 'listenerCount' | 'emit'>;

/**
 * Reports what a callback, with its timer as the source, or a listener throws: to the 'error' listener, or else as an
 * uncaught exception, before the next callback runs. Both see the context of this call. If an 'error' listener itself
 * throws, that is an uncaught exception. Never throws.
 */
export function reportError(emitter: ErrorEmitter, error: unknown, source?: object): void {
  if (emitter.listenerCount('error') === 0) {
    throwUncaught(error);
    return;
  }
  try {
    if (source === undefined) emitter.emit('error', error);
    else emitter.emit('error', error, source);
  } catch (thrown) {
    throwUncaught(thrown);
  }
}

/**
 * Reports an event that needs no action: to the 'error' listener, or else as a process warning. An 'error' event
 * without a listener would end a program whose timers all still fire. Never throws.
 */
export function warn(emitter: ErrorEmitter, error: Error): void {
  if (emitter.listenerCount('error') === 0) emitWarning(error);
  else reportError(emitter, error);
}

/** Runs listeners; reports what they throw like an error of a callback. Never throws. */
export function guard(emitter: ErrorEmitter, emit: () => void): void {
  try {
    emit();
  } catch (error) {
    reportError(emitter, error);
  }
}
