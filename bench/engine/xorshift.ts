/** Every workload draws from this seed, so that all subjects do the same. */
export const SEED = 42;

/** The next state of a 32-bit xorshift (Marsaglia 2003); never 0. Kept in a local variable by the loops that draw. */
export function xorshift(state: number): number {
  let x = state;
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return x;
}

/** A state as a whole number, 0 <= n < range. Pass `scale = range / 2^32`: a multiplication, where `%` would divide. */
export const scaled = (state: number, scale: number): number => ((state >>> 0) * scale) | 0;

export const scaleFor = (range: number): number => range / 2 ** 32;
