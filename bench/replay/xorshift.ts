/**
 * The next state of a 32-bit xorshift (Marsaglia 2003, triple 13 17 5); never 0. Loops that draw keep it in a local
 * variable.
 */
export function xorshift(state: number): number {
  let x = state;
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
  return x;
}
