import { process } from './process.ts';

/**
 * What stands in for Node's functions while a test fakes time, and how Node's own are found all the same.
 *
 *   library                replaces                                                     Node's own function is
 *   @sinonjs/fake-timers,  the globals, the exports of timers and timers/promises,      kept beside the fake: `unfaked`
 *   sinon, vitest          performance and its `now`, process.hrtime,
 *                          process.nextTick, queueMicrotask, Date
 *   Jest                   the same, of the test's own realm: neither modules nor       in node:timers, and as above
 *                          anything of Node's own realm
 *   node:test              the globals, the exports of timers and timers/promises,      hidden until it takes the fakes
 *                          Date                                                         away
 *
 * So whatever is needed is taken once, when this package is loaded, from under the fakes of that moment; what is hidden
 * then is taken anew later, see `native-timers.ts`. Jest's old fakes and jasmine's replace globals alone, as Jest's do.
 */
type Call = (...given: never[]) => unknown;

/**
 * The clock of @sinonjs/fake-timers that a fake belongs to, with what it stands in for, under names such as
 * `_setTimeout`.
 */
interface FakeClock {
  readonly timersPromisesModuleMethods?: readonly { readonly methodName: string; readonly original: unknown }[];
  readonly [name: `_${string}`]: unknown;
}

/** Undefined for what is no fake, and for what a program has deleted. */
const clockOf = (value: unknown): FakeClock | undefined => {
  const { clock } = (value ?? {}) as { clock?: unknown };
  return typeof clock === 'object' && clock !== null ? (clock as FakeClock) : undefined;
};

/** What a fake stands in for; the value itself if it is none, or if its library hides that. */
export function unfaked<T>(name: string, value: T): T {
  const original = clockOf(value)?.[`_${name}`];
  return typeof original === typeof value && original !== value ? unfaked(name, original as T) : value;
}

/** The same for an export of timers/promises, which carries no mark: `beside` is the global function of that kind. */
export function unfakedPromise<T>(name: string, value: T, beside: unknown): T {
  const replaced = clockOf(beside)?.timersPromisesModuleMethods?.find(({ methodName }) => methodName === name);
  return (replaced?.original as T | undefined) ?? value;
}

/**
 * Whether a function is the fake of one of the libraries above. Those of node:test are bound methods, which Node's own
 * are not.
 */
export const isFake = (call: Call | undefined): boolean =>
  clockOf(call) !== undefined || call?.name?.startsWith?.('bound #') === true;

/** Node's `performance`. Its own `now` may be a fake of the library that has replaced the global. */
const nodesPerformance = unfaked('performance', performance);
const { now: nodesNow } = (
  nodesPerformance === performance ? performance : Object.getPrototypeOf(nodesPerformance)
) as typeof performance;

// Taken once: a test that fakes the timers of its thread replaces these, and time here must go on.
export const performanceNow: () => number = nodesNow.bind(nodesPerformance);
export const { timeOrigin } = nodesPerformance;
export const hrtime: typeof process.hrtime = unfaked('hrtime', process.hrtime);
const nodesNextTick = unfaked('nextTick', process.nextTick);
/** Also if a program replaces it: a tick that never comes would lose an error. */
export const nextTick: typeof process.nextTick = nodesNextTick.bind(process);
const nodesQueueMicrotask = unfaked('queueMicrotask', globalThis.queueMicrotask);

/** Node's own call, which itself uses `process.nextTick`: the warning comes even if no fake tick ever does. */
export const emitWarning: typeof process.emitWarning = (...given: unknown[]): void =>
  withOwn(process, 'nextTick', nodesNextTick, () => Reflect.apply(process.emitWarning, process, given));

/** Calls a library that uses the global `queueMicrotask` and breaks if that is another than Node's. */
export const withNodesMicrotasks = <T>(call: () => T): T =>
  withOwn(globalThis, 'queueMicrotask', nodesQueueMicrotask, call);

/** Calls with Node's own function in its place. What cannot be replaced stays as it is. */
function withOwn<T>(target: object, name: string, own: unknown, call: () => T): T {
  const found = Object.getOwnPropertyDescriptor(target, name);
  if (found === undefined || found.value === own || !found.configurable) return call();
  const { enumerable } = found;
  Object.defineProperty(target, name, { value: own, writable: true, enumerable, configurable: true });
  try {
    return call();
  } finally {
    Object.defineProperty(target, name, found);
  }
}

/** Whether a test has replaced the clock of this thread: time on a wheel would stand. */
export const isClockFaked = (): boolean => globalThis.performance?.now !== nodesNow;
