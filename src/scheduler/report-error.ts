import process from 'node:process';

export interface ErrorEmitter {
  listenerCount(event: 'error'): number;
  emit(event: 'error', error: unknown): boolean;
}

/**
 * What a callback or a listener throws: to the 'error' listener, or else an uncaught exception, before the next callback
 * runs. Either sees the context in which this is called. An 'error' listener that throws itself is the latter. Never throws.
 */
export function reportError(emitter: ErrorEmitter, error: unknown): void {
  if (emitter.listenerCount('error') === 0) {
    throwUncaught(error);
    return;
  }
  try {
    emitter.emit('error', error);
  } catch (thrown) {
    throwUncaught(thrown);
  }
}

/** Has Node find an uncaught exception as soon as this call's caller is done, in the context of this call. */
export function throwUncaught(error: unknown): void {
  process.nextTick(rethrow, error);
}

/**
 * What somebody should know of and nobody needs to do anything about: to the 'error' listener, or else a warning of the
 * process. An 'error' without a listener would end a program whose timers all still fire. Never throws.
 */
export function warn(emitter: ErrorEmitter, error: Error): void {
  if (emitter.listenerCount('error') === 0) process.emitWarning(error);
  else reportError(emitter, error);
}

/** Runs listeners; what they throw surfaces like what a callback throws. Never throws. */
export function guard(emitter: ErrorEmitter, emit: () => void): void {
  try {
    emit();
  } catch (error) {
    reportError(emitter, error);
  }
}

const rethrow = (error: unknown): never => {
  throw error;
};
