import type { Draws } from '../fixtures/draws.ts';

type Step =
  | { do: 'set'; plan: number }
  | { do: 'clear' | 'refresh' | 'ref' | 'unref'; timer: number }
  | { do: 'exit code' | 'exit'; code: number }
  | { do: 'tick' | 'immediate' | 'throw' };

interface Plan {
  readonly kind: 'timeout' | 'interval' | 'sleep';
  /** 'never': it holds the process no longer than for some ms, and is not due before it ends. */
  readonly delay: 'short' | 'never';
  readonly isRef: boolean;
  readonly calls: number;
  readonly steps: readonly Step[];
}

/** A program that ends: by itself, by an error, or by process.exit. */
export interface DrawnExit {
  readonly plans: readonly Plan[];
  readonly after: readonly Step[];
  /** A timer holds the process that nothing touches; and what it does. */
  readonly isHeld: boolean;
  readonly held: readonly Step[];
  /** What each `beforeExit` does; what comes after these does nothing. */
  readonly beforeExit: readonly (readonly Step[])[];
  readonly exit: readonly Step[];
  /** Errors are caught by a handler. */
  readonly isCaught: boolean;
  /** The module awaits at its end what does not hold the process. */
  readonly isAwaited: boolean;
  /** No timer fires again once it has fired: neither as an interval nor by `refresh`. */
  readonly firesOnce: boolean;
  readonly fuel: number;
}

const steps = ['set', 'set', 'clear', 'refresh', 'refresh', 'ref', 'unref', 'unref', 'tick', 'immediate'] as const;
const ends = ['exit code', 'exit', 'throw'] as const;

/** A program of which Node says how it ends, whatever the machine does meanwhile. */
export function drawExit(draws: Draws, firesOnce: boolean): DrawnExit {
  const count = 1 + draws.below(draws.pick([3, 8]));
  const isOneIn = (n: number) => draws.below(n) === 0;
  const step = (): Step => {
    const action = draws.pick<Step['do']>(steps);
    if (action === 'set') return { do: action, plan: draws.below(count) };
    return { do: action, timer: draws.below(count * 2) } as Step;
  };
  const drawSteps = (most: number, endsOneIn: number): Step[] => {
    const all = Array.from({ length: draws.below(most + 1) }, step);
    if (!isOneIn(endsOneIn)) return all;
    const end = draws.pick(ends);
    // What a callback that throws has left for later comes after the other callbacks in Node, and before them here.
    const before = end === 'throw' ? all.filter((one) => one.do !== 'tick') : all;
    return [...before, { do: end, code: draws.below(4) } as Step];
  };
  const isHeld = isOneIn(3);
  // Where only an immediate holds the loop, what is unref'd and has become due meanwhile fires first, or never: Node's
  // timer counts from the part of a ms in which another was set. So what is done last sets none.
  const held = drawSteps(4, 8).filter((one) => one.do !== 'immediate');
  const plan = (): Plan => ({
    kind: draws.pick(['timeout', 'timeout', 'interval', 'sleep']),
    delay: draws.pick(['short', 'short', 'never']),
    isRef: !isOneIn(3),
    calls: 1 + draws.below(3),
    steps: drawSteps(3, 8),
  });
  return {
    plans: Array.from({ length: count }, plan),
    after: drawSteps(5, 50),
    isHeld,
    held,
    beforeExit: Array.from({ length: draws.below(5) }, () => drawSteps(3, 10)),
    exit: drawSteps(3, 8),
    isCaught: isOneIn(2),
    isAwaited: isOneIn(6),
    firesOnce,
    fuel: 10 + draws.below(30),
  };
}
