import type { SchedulerOptions } from 'shardwheel';
import type { Draws } from '../fixtures/draws.ts';
import type { DropInOptions } from './drop-in-model.ts';

/** What callbacks do as well as the program. */
const INNER = {
  start: 10,
  many: 1,
  every: 3,
  sleep: 3,
  withTimeout: 3,
  signal: 3,
  cancel: 6,
  cancelMany: 1,
  cancelGroup: 1,
  move: 7,
  query: 4,
  dispose: 1,
  abort: 1,
  settle: 2,
  scale: 1,
  hostile: 1,
  ref: 1,
  dropIn: 7,
  dropInWait: 3,
  dropInClear: 3,
  dropInRefresh: 4,
  dropInRef: 1,
} as const;

/** What takes turns of the event loop. */
const OUTER = {
  ...INNER,
  advance: 9,
  jump: 4,
  nextExpiration: 1,
  stats: 1,
  liveTimers: 1,
  cancelAnywhere: 1,
  turn: 1,
} as const;

type Kind = keyof typeof OUTER | 'crash' | 'close';

/**
 * One call. Its numbers are read as indices and choices by whoever makes it, so that each may be left out of a program.
 */
export interface Operation {
  readonly kind: Kind;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** Quarters of a tick. */
  readonly by: number;
  /** What the callback does. */
  readonly calls: readonly Operation[];
  readonly throws: boolean;
}

export interface Program {
  readonly options: SchedulerOptions & { readonly tick: number; readonly shards: number; readonly slack: number };
  /** Of the drop-in timers on its scheduler. */
  readonly dropIn: DropInOptions;
  readonly operations: readonly Operation[];
}

const KINDS = 1024;
const DEPTH = 3;

function weighted<K extends string>(weights: Readonly<Record<K, number>>): readonly K[] {
  return (Object.entries(weights) as [K, number][]).flatMap(([kind, weight]) => new Array<K>(weight).fill(kind));
}

const inner = weighted(INNER);
const outer = weighted(OUTER);

/** Mostly near, at times on the edges of levels, at times far. */
function drawTime(draws: Draws): number {
  const choice = draws.below(20);
  if (choice < 13) return draws.below(68) - 8;
  return draws.below(choice < 19 ? 3000 : 2 ** 34);
}

function drawOperation(draws: Draws, kinds: readonly Kind[], depth: number, shards: number): Operation {
  const isSeldom = draws.below(600) === 0;
  const kind = isSeldom ? (shards > 0 && draws.below(3) > 0 ? 'crash' : 'close') : draws.pick(kinds);
  const hasThen = depth < DEPTH && draws.below(3) === 0;
  const calls = Array.from({ length: hasThen ? 1 + draws.below(3) : 0 }, () =>
    drawOperation(draws, inner, depth + 1, 0),
  );
  const [a, b, c] = [draws.below(KINDS), draws.below(KINDS), draws.below(KINDS)];
  return { kind, a, b, c, by: drawTime(draws), calls, throws: draws.below(8) === 0 };
}

/** Draws a program for so many shards. */
export function drawProgram(draws: Draws, shards: number, length: number): Program {
  const tick = draws.pick([1, 0.25, 16]);
  const options = {
    shards,
    tick,
    slack: draws.pick([0, 0, 3]) * tick,
    maxBatch: draws.pick([1, 3, 8192]),
    wheel: draws.pick<NonNullable<SchedulerOptions['wheel']>>([
      'default',
      { engine: 'cascading', precision: 1, levelBits: [1, 1, 1] },
      { engine: 'cascading', precision: 1, levelBits: [3, 2, 4] },
      { engine: 'cascading', precision: 1, levelBits: [6, 6, 6, 6, 6, 6] },
    ]),
  };
  const dropIn = {
    missedCalls: draws.pick(['skip', 'burst', 'delay'] as const),
    longDelays: draws.pick(['keep', 'keep', 'warn'] as const),
  };
  return { options, dropIn, operations: Array.from({ length }, () => drawOperation(draws, outer, 0, shards)) };
}
