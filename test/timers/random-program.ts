import type { Timers } from 'shardwheel/timers';
import type { Draws } from '../fixtures/draws.ts';

interface Change {
  do: 'clear' | 'clear by number' | 'refresh' | 'unref';
  timer: number;
}

/** What a timer does each time it fires, while the program has fuel. Timers are named by the order of their setting. */
type Step = { do: 'set'; plan: number } | Change | { do: 'tick' } | { do: 'microtask' };

interface Plan {
  readonly delay: unknown;
  readonly steps: readonly Step[];
}

export interface Program {
  /** Plans of the timers that are set first; a step may set one of these again. */
  readonly plans: readonly Plan[];
  /** What follows in the same turn. */
  readonly after: readonly Step[];
  readonly fuel: number;
}

const ACTIONS = ['set', 'clear', 'clear by number', 'refresh', 'refresh', 'unref', 'tick', 'microtask'] as const;

/** A program whose timers have one of the given delays each; steps in callbacks only where `isNested`. */
export function drawProgram(draws: Draws, delays: readonly unknown[], isNested: boolean): Program {
  const count = 2 + draws.below(20);
  const step = (): Step => {
    const action = draws.pick(ACTIONS);
    if (action === 'set') return { do: action, plan: draws.below(count) };
    if (action === 'tick') return { do: action };
    if (action === 'microtask') return { do: action };
    return { do: action, timer: draws.below(count * 2) };
  };
  const steps = (most: number) => Array.from({ length: draws.below(most + 1) }, step);
  return {
    plans: Array.from({ length: count }, () => ({ delay: draws.pick(delays), steps: isNested ? steps(3) : [] })),
    after: steps(12),
    fuel: 20 + draws.below(60),
  };
}

/** Runs a program on a face until none of its timers lives; returns everything that happened, in order. */
export function runProgram(program: Program, timers: Timers): Promise<string[]> {
  return new Promise((resolve) => {
    const log: string[] = [];
    const made: { timeout: NodeJS.Timeout; number: number; state: 'live' | 'fired' | 'cleared' }[] = [];
    let fuel = program.fuel;

    const set = (plan: Plan): void => {
      const name = made.length;
      const timeout = timers.setTimeout(() => {
        made[name].state = 'fired';
        log.push(`${name} fires`);
        for (const step of plan.steps) if (fuel > 0) run(step, name);
        if (made.every(({ state }) => state !== 'live')) setImmediate(resolve, log); // after its ticks
      }, plan.delay as number);
      made.push({ timeout, number: +timeout, state: 'live' });
    };

    const run = (step: Step, by: number | string): void => {
      fuel -= 1;
      if (step.do === 'set') set(program.plans[step.plan]);
      else if (step.do === 'tick') process.nextTick(() => log.push(`tick of ${by}`));
      else if (step.do === 'microtask') queueMicrotask(() => log.push(`microtask of ${by}`));
      else change(step.do, made[step.timer % made.length]);
    };

    const change = (what: Change['do'], timer: (typeof made)[number]): void => {
      if (what === 'unref') timer.timeout.unref();
      else if (what === 'refresh') {
        timer.timeout.refresh();
        if (timer.state === 'fired') timer.state = 'live';
      } else {
        if (what === 'clear by number') timers.clearTimeout(timer.number);
        // Also by its handle: of what was refreshed after it had fired, Node no longer knows the number.
        timers.clearTimeout(timer.timeout);
        timer.state = 'cleared';
      }
    };

    for (const plan of program.plans) set(plan);
    for (const step of program.after) run(step, 'the program');
    if (made.every(({ state }) => state !== 'live')) setImmediate(resolve, log);
  });
}
