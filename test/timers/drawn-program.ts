import type { Draws } from '../fixtures/draws.ts';

/**
 * What a callback, a tick or a microtask of a program does, while the program has fuel. Timers have numbers, as they
 * are set.
 */
type Step =
  | { do: 'set'; plan: number }
  | { do: 'clear'; timer: number; by: Clearing }
  | { do: 'refresh' | 'ref' | 'unref' | 'abort' | '_onTimeout'; timer: number }
  | { do: '_repeat' | '_idleTimeout'; timer: number; isSet: boolean }
  | { do: 'tick' | 'microtask'; steps: readonly Step[] }
  | { do: 'immediate' | 'throw' | 'tick that throws' | 'reject' };

const clearings = [
  'handle',
  'as an interval',
  'number',
  'string',
  'of Node',
  'number of Node',
  'close',
  'dispose',
] as const;
type Clearing = (typeof clearings)[number];

interface Plan {
  readonly kind: 'timeout' | 'interval' | 'sleep' | 'async interval';
  readonly delay: Delay;
  readonly steps: readonly Step[];
  readonly given: readonly number[];
  /** Its number is taken when it is set. */
  readonly isNumbered: boolean;
  /** A signal comes with it, for an abort. */
  readonly isSignalled: boolean;
  /** What it has in AsyncLocalStorage. */
  readonly store?: string;
  /** After so many calls it clears itself, if it is an interval, in this way. */
  readonly calls: number;
  readonly ends: Clearing;
}

/** 'none' and 'NaN' stand for what JSON has no word for. */
type Delay = number | string | null;

export interface DrawnProgram {
  /** Plans of the timers that are set first; a step may set one of these again. */
  readonly plans: readonly Plan[];
  /** What follows in the same turn. */
  readonly after: readonly Step[];
  readonly fuel: number;
}

export interface Kind {
  readonly delays: readonly Delay[];
  /** Whether callbacks do anything but be called: then delays must be one to Node. */
  readonly isNested: boolean;
  /** Whether callbacks throw. */
  readonly throws: boolean;
}

const immediateSteps = ['set', 'set', 'clear', 'refresh', 'refresh', 'ref', 'unref', 'immediate'] as const;
const writes = ['_repeat', '_idleTimeout', '_onTimeout'] as const;
// How many microtasks lie between an abort and a rejection is Node's affair, and differs: no others lie beside it.
const laterSteps = [
  ['tick', 'microtask', 'reject'],
  ['tick', 'abort'],
] as const;

/** A program of a kind whose order Node defines. */
export function drawProgram(draws: Draws, { delays, isNested, throws }: Kind): DrawnProgram {
  const count = 1 + draws.below(draws.pick([4, 14]));
  const isOneIn = (n: number) => draws.below(n) === 0;
  const writesFields = isOneIn(2);
  const later = draws.pick(laterSteps);
  const signalled = draws.pick(['sleep', 'async interval']);
  const step = (depth: number, mayWait: boolean): Step => {
    const all = [...immediateSteps, ...(writesFields ? writes : []), ...(mayWait && depth < 2 ? later : [])];
    const action = draws.pick<Step['do']>(all);
    const timer = draws.below(count * 2);
    if (action === 'set') return { do: action, plan: draws.below(count) };
    if (action === 'clear') return { do: action, timer, by: draws.pick(clearings) };
    if (action === '_repeat' || action === '_idleTimeout') return { do: action, timer, isSet: isOneIn(2) };
    if (action === 'tick' || action === 'microtask') return { do: action, steps: steps(2, depth + 1, mayWait) };
    return { do: action, timer } as Step;
  };
  const steps = (most: number, depth: number, mayWait: boolean): Step[] =>
    Array.from({ length: draws.below(most + 1) }, () => step(depth, mayWait));
  const plan = (): Plan => {
    const kind = draws.pick(['timeout', 'timeout', 'timeout', 'interval', 'sleep', 'async interval'] as const);
    const isCallback = kind === 'timeout' || kind === 'interval';
    // What a callback that throws has left for later comes after the other callbacks in Node, and before them here.
    const last: Step[] = throws && isCallback && isOneIn(3) ? [{ do: draws.pick(['throw', 'tick that throws']) }] : [];
    return {
      kind,
      delay: isCallback ? draws.pick(delays) : Number(draws.pick(delays.filter((delay) => typeof delay === 'number'))),
      steps: isNested ? [...steps(3, 0, last.length === 0), ...last] : last,
      given: Array.from({ length: draws.below(4) }, () => draws.below(100)),
      isNumbered: isOneIn(3),
      isSignalled: kind === signalled,
      ...(isOneIn(2) ? { store: draws.pick(['red', 'green', 'blue']) } : {}),
      calls: 1 + draws.below(isNested ? 5 : 2),
      ends: draws.pick(clearings),
    };
  };
  const plans = Array.from({ length: count }, plan);
  return { plans, after: steps(8, 0, true), fuel: 20 + draws.below(60) };
}
