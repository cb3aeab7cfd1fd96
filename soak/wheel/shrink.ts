import type { Move } from './move.ts';
import { replayMoves } from './replay-moves.ts';
import type { World } from './world.ts';

export interface Shrunk {
  readonly moves: readonly Move[];
  readonly error: unknown;
}

/**
 * Leaves out of the moves what the wheel fails without: halves, quarters, and so on down to single moves, until none can go
 * or `patience` ms have passed. Undefined where the moves do not fail when they are made again.
 */
export function shrink(world: World, moves: readonly Move[], patience: number): Shrunk | undefined {
  const end = performance.now() + patience;
  const error = replayMoves(world, moves);
  if (error === undefined) return undefined;
  let best: Shrunk = { moves, error };
  for (let length = Math.ceil(moves.length / 2); length >= 1; ) {
    const before = best.moves.length;
    // From the end: what stands behind the failure goes first.
    for (let at = best.moves.length - length; at > -length && performance.now() < end; at -= length) {
      const fewer = best.moves.filter((_, index) => index < at || index >= at + length);
      const failure = replayMoves(world, fewer);
      if (failure !== undefined) best = { moves: fewer, error: failure };
    }
    if (performance.now() >= end) break;
    if (length > 1) length = Math.min(Math.ceil(length / 2), Math.max(1, best.moves.length));
    else if (best.moves.length === before) break;
  }
  return best;
}
