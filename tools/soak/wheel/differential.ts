import { inspect } from 'node:util';
import { type Move, moveAsCode } from './move.ts';
import { Player } from './player.ts';
import { replayMoves } from './replay-moves.ts';
import { shrink } from './shrink.ts';
import { type World, type WorldKind, worldOf } from './world.ts';

/** Which worlds to play: every `stride`-th from `first` on, until so many moves were made. */
export interface DifferentialPlan {
  readonly seed: number;
  readonly operations: number;
  readonly first: number;
  readonly stride: number;
}

export interface WorldTally {
  readonly kind: WorldKind;
  readonly operations: number;
  readonly fired: number;
  /** ms */
  readonly took: number;
}

/** What a wheel did wrong, and the least of it that is known. */
export interface Finding {
  readonly seed: number;
  readonly world: number;
  readonly kind: WorldKind;
  /** As code. */
  readonly wheel: string;
  readonly error: string;
  /** As code, one line each. */
  readonly moves: readonly string[];
}

/** ms that shrinking takes at most. */
const PATIENCE = 10_000;

/** Plays worlds until one goes wrong, or there are moves enough. */
export function playWorlds(
  plan: DifferentialPlan,
  onWorld: (number: number) => void,
  onPlayed: (tally: WorldTally) => void,
): Finding | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // refusals are many, and all that is looked at is their code
  const failure = playUntilFailure(plan, onWorld, onPlayed);
  Error.stackTraceLimit = stackTraceLimit;
  return failure === undefined ? undefined : investigate(plan.seed, failure.world, failure.error);
}

interface Failure {
  readonly world: number;
  readonly error: unknown;
}

function playUntilFailure(
  { seed, operations, first, stride }: DifferentialPlan,
  onWorld: (number: number) => void,
  onPlayed: (tally: WorldTally) => void,
): Failure | undefined {
  let made = 0;
  for (let number = first; made < operations; number += stride) {
    onWorld(number);
    const began = performance.now();
    const world = worldOf(seed, number);
    const player = new Player(world);
    try {
      player.play();
    } catch (error) {
      return { world: number, error };
    }
    const { fired, operations } = player.duel;
    made += operations;
    onPlayed({ kind: world.kind, operations, fired, took: performance.now() - began });
  }
  return undefined;
}

/** Plays the world again, writing its moves down, and shrinks them. */
function investigate(seed: number, number: number, first: unknown): Finding {
  const world = worldOf(seed, number);
  const player = new Player(world);
  const moves: Move[] = [];
  player.duel.record = (move) => moves.push(move);
  let error = first;
  try {
    player.play();
  } catch (again) {
    error = again;
  }
  const shrunk = shrink(moves, (fewer) => replayMoves(world, fewer), PATIENCE) ?? { moves: moves.slice(-60), error };
  return {
    seed,
    world: number,
    kind: world.kind,
    wheel: wheelAsCode(world),
    error: String(shrunk.error instanceof Error ? shrunk.error.stack : shrunk.error),
    moves: shrunk.moves.map(moveAsCode),
  };
}

const wheelAsCode = ({ config, start, id }: World): string =>
  `createWheel(${inspect(config, { breakLength: Number.POSITIVE_INFINITY, depth: 4 })}, { start: ${start}, id: ${id} })`;
