import nodeTimers from 'node:timers';
import nodePromises from 'node:timers/promises';

/** Node's timer functions, as this thread had them before this package replaced any. */
export interface NativeTimers {
  /** The globals. The scheduler's own timers are set with these. */
  readonly globals: Pick<
    typeof globalThis,
    'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'setImmediate' | 'clearImmediate'
  >;
  /** The exports of node:timers. The drop-in timers use them to refuse what Node refuses, and to clear Node's timers. */
  readonly timers: typeof nodeTimers;
  /** The exports of node:timers/promises. */
  readonly promises: typeof nodePromises;
}

/** Who serves the timers of a registered thread. */
export interface RegistrationState {
  /** New ones: Node, or the wheel. */
  serving: 'node' | 'wheel';
  /** When that last changed, in ms of `performance.now()`. */
  since: number;
  reason: string;
  /** Live timers, an estimate: those of Node's are counted by their delays. */
  live: number;
}

/** The replacement of a thread's timer functions by this package's, with the call that reverts it. */
export interface Registration {
  readonly native: NativeTimers;
  unregister(): void;
  state(): RegistrationState;
}

/** The key of a registration, known to every copy of this package in the thread. */
const REGISTRATION = Symbol.for('shardwheel.registration');

const thread = globalThis as { [REGISTRATION]?: Registration };

/** The registration of this thread, by any copy of the package. */
export const registered = (): Registration | undefined => thread[REGISTRATION];

/** Marks the thread as registered; without a registration, as not registered. */
export function setRegistered(value: Registration | undefined): void {
  if (value === undefined) delete thread[REGISTRATION];
  else Object.defineProperty(thread, REGISTRATION, { value, writable: true, enumerable: false, configurable: true });
}

/**
 * Taken once, when the package is loaded: neither a test that fakes the timers of its thread nor a registration may stop the
 * scheduler. A copy of the package that is loaded after another has registered uses the functions that the other found.
 */
export const native: NativeTimers = registered()?.native ?? {
  globals: globalsNow(),
  timers: { ...nodeTimers },
  promises: { ...nodePromises },
};

export const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = native.globals;

function globalsNow(): NativeTimers['globals'] {
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = globalThis;
  return { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate };
}

/** Gives a function the name and the length of Node's. */
export function like<F>(nodes: F & { name: string; length: number }, own: unknown): F {
  const { name, length } = nodes;
  const naming = { name: { value: name, configurable: true }, length: { value: length, configurable: true } };
  return Object.defineProperties(own as F, naming) as F;
}
