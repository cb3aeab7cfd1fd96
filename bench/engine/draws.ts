/** Every workload draws from this seed, so that all subjects do the same. */
export const SEED = 42;

/** A state as a whole number, 0 <= n < range. Pass `scale = range / 2^32`: a multiplication, where `%` would divide. */
export const scaled = (state: number, scale: number): number => ((state >>> 0) * scale) | 0;

export const scaleFor = (range: number): number => range / 2 ** 32;
