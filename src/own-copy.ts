import { isProxy } from 'node:util/types';
import { InvalidArgumentError } from './errors.ts';

// A thread may load several copies of this package. An object of another copy is refused: private fields and shared
// words of two copies do not fit.

/**
 * The prototypes of the classes of which users have objects, of every copy of this package in the thread that has made
 * a scheduler.
 */
const CLASSES = Symbol.for('shardwheel.classes');

type Classes = Set<object>;

const shared = globalThis as { [CLASSES]?: Classes };
const own: object[] = [];
const schedulers = new WeakSet<object>();

/** Adds a class of this copy. */
export const addClass = (made: { readonly prototype: object }): void => void own.push(made.prototype);

/**
 * Called by a scheduler's constructor. It shows this copy's classes to the others, as importing the package is to
 * change nothing.
 */
export function addScheduler(scheduler: object): void {
  schedulers.add(scheduler);
  if (shared[CLASSES] === undefined) Object.defineProperty(shared, CLASSES, { value: new Set<object>() });
  for (const prototype of own) shared[CLASSES]?.add(prototype);
}

/** Throws InvalidArgumentError unless this copy has made the scheduler. A proxy of one is none. */
export function requireScheduler(value: unknown): void {
  if (typeof value === 'object' && value !== null && schedulers.has(value)) return;
  throw new InvalidArgumentError('scheduler', unlessOfOtherCopy(value, 'must be a Scheduler'), value);
}

/** What is wrong with an object of the program: that another copy of the package has made it; or else `requirement`. */
export function unlessOfOtherCopy(value: unknown, requirement: string): string {
  if (typeof value !== 'object' || value === null || isProxy(value)) return requirement;
  const prototype: object | null = Object.getPrototypeOf(value);
  const isOther = prototype !== null && shared[CLASSES]?.has(prototype) === true && !own.includes(prototype);
  return isOther ? OTHER_COPY : requirement;
}

const OTHER_COPY =
  'must be made by the same copy of shardwheel: another copy has made this one ' +
  '(npm ls shardwheel lists them; see docs/install.md#two-copies)';
