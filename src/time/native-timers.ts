import nodeTimers from 'node:timers';
import nodePromises from 'node:timers/promises';
import { runtime } from '../runtime.ts';
import { isFake, unfaked, unfakedPromise } from '../unfaked.ts';

/** Node's timer functions, as this thread had them before this package, or a test that fakes time, replaced any. */
export interface NativeTimers {
  /** The globals. The scheduler's own timers are set with these. */
  readonly globals: Pick<
    typeof globalThis,
    'setTimeout' | 'clearTimeout' | 'setInterval' | 'clearInterval' | 'setImmediate' | 'clearImmediate'
  >;
  /**
   * The exports of node:timers. The drop-in timers use them to refuse what Node refuses, and to clear Node's timers.
   */
  readonly timers: typeof nodeTimers;
  /** The exports of node:timers/promises. */
  readonly promises: typeof nodePromises;
}

/** The longest delay of Node's timers: a longer one becomes 1. */
export const MAX_NATIVE_DELAY_MS = 2 ** 31 - 1;

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
  /** The functions that replace Node's. */
  readonly timers: object;
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
 * Taken once, when the package is loaded: neither a test that fakes the timers of its thread nor a registration may
 * stop the scheduler. A copy of the package that is loaded after another has registered uses the functions that the
 * other found. Only what was hidden by fakes at that moment is taken anew: see `areNative`. `native` stays the same
 * object.
 */
export const native: NativeTimers = registered()?.native ?? takenNow();

export let { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = native.globals;

let areKnown = !isAnyFake(native.globals);

/**
 * Whether Node's own functions are known, and not the fakes that hid them when the package was loaded. Looks again if
 * they are not.
 */
export function areNative(): boolean {
  if (!areKnown) takeAnew();
  return areKnown;
}

function takeAnew(): void {
  const { setTimeout: present } = nodeTimers;
  if (present === Reflect.get(registered()?.timers ?? {}, 'setTimeout')) return; // ours
  const found = takenNow();
  areKnown = !isAnyFake(found.globals);
  Object.assign(native.globals, found.globals);
  Object.assign(native.timers, found.timers);
  Object.assign(native.promises, found.promises);
  ({ setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = found.globals);
}

/** Whether a test fakes the timers of this thread now, by a library that is known: see `unfaked.ts`. */
export const areFaked = (): boolean => isAnyFake(globalThis) || isAnyFake(nodeTimers);

function isAnyFake({ setTimeout, setInterval, setImmediate }: NativeTimers['globals']): boolean {
  return isFake(setTimeout) || isFake(setInterval) || isFake(setImmediate);
}

function takenNow(): NativeTimers {
  const timers = { ...nodeTimers };
  for (const name of [
    'setTimeout',
    'clearTimeout',
    'setInterval',
    'clearInterval',
    'setImmediate',
    'clearImmediate',
  ] as const) {
    Object.assign(timers, { [name]: unfaked(name, timers[name]) });
  }
  const promises = { ...nodePromises };
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
    Object.assign(promises, { [name]: unfakedPromise(name, promises[name], nodeTimers[name]) });
  }
  // Node's globals are the same functions, but in a realm that has others, such as a page's in Jest.
  const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } =
    runtime === 'node' ? timers : globalThis;
  return {
    globals: { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate },
    timers,
    promises,
  };
}

/** Gives a function the name and the length of Node's. */
export function like<F>(nodes: F & { name: string; length: number }, own: unknown): F {
  const { name, length } = nodes;
  const naming = { name: { value: name, configurable: true }, length: { value: length, configurable: true } };
  return Object.defineProperties(own as F, naming) as F;
}
