export interface Shrunk<M> {
  readonly moves: readonly M[];
  readonly error: unknown;
}

/**
 * Leaves out of the moves what they fail without: halves, quarters, and so on down to single moves, until none can go
 * or `patience` ms have passed. `errorOf` makes moves, and returns what was thrown. Undefined where all together do not
 * fail.
 */
export function shrink<M>(
  moves: readonly M[],
  errorOf: (moves: readonly M[]) => unknown,
  patience: number,
): Shrunk<M> | undefined {
  const end = performance.now() + patience;
  const error = errorOf(moves);
  if (error === undefined) return undefined;
  let least: Shrunk<M> = { moves, error };
  for (let length = Math.ceil(moves.length / 2); length >= 1 && performance.now() < end; ) {
    const before = least.moves.length;
    // From the end: what stands behind the failure goes first.
    for (let at = before - length; at > -length && performance.now() < end; at -= length) {
      const fewer = least.moves.filter((_, index) => index < at || index >= at + length);
      const failure = errorOf(fewer);
      if (failure !== undefined) least = { moves: fewer, error: failure };
    }
    if (length > 1) length = Math.ceil(length / 2);
    else if (least.moves.length === before) break;
  }
  return least;
}
