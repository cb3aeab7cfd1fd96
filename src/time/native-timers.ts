import nodeTimers from 'node:timers';
import nodePromises from 'node:timers/promises';

/** Node's timer functions, as this thread had them before anybody replaced them by those of this package. */
export interface NativeTimers {
  /** The globals. The scheduler's own timers are set with these. */
  readonly globals: Pick<
    typeof globalThis,
    'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'setImmediate' | 'clearImmediate'
  >;
  /** What node:timers exports. The drop-in timers ask these what Node refuses, and clear Node's timers by them. */
  readonly timers: typeof nodeTimers;
  /** What node:timers/promises exports. */
  readonly promises: typeof nodePromises;
}

/** A replacement of a thread's timer functions by this package's, and the call that takes it back. */
export interface Registration {
  readonly native: NativeTimers;
  unregister(): void;
}

/** Where a registration is found: known to every copy of this package in the thread. */
const REGISTRATION = Symbol.for('shardwheel.registration');

const thread = globalThis as { [REGISTRATION]?: Registration };

/** The registration of this thread, whichever copy of the package has made it. */
export const registration = (): Registration | undefined => thread[REGISTRATION];

/** From here on the thread counts as registered; without a registration, as not registered. */
export function setRegistration(value: Registration | undefined): void {
  if (value === undefined) delete thread[REGISTRATION];
  else Object.defineProperty(thread, REGISTRATION, { value, writable: true, enumerable: false, configurable: true });
}

/**
 * Taken once, as the package is loaded: neither a test that fakes the timers of its thread nor a registration may stop the
 * scheduler. A copy of the package that is loaded after another has registered takes what that one has found.
 */
export const native: NativeTimers = registration()?.native ?? {
  globals: globalsNow(),
  timers: { ...nodeTimers },
  promises: { ...nodePromises },
};

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = native.globals;

function globalsNow(): NativeTimers['globals'] {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
  return { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };
}
