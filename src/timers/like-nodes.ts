/** Gives a function the name and the length of Node's. */
export function like<F>(nodes: F & { name: string; length: number }, own: unknown): F {
  const { name, length } = nodes;
  const naming = { name: { value: name, configurable: true }, length: { value: length, configurable: true } };
  return Object.defineProperties(own as F, naming) as F;
}
