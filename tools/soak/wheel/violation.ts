import { inspect } from 'node:util';

/** A wheel did something else than the reference. */
export class Violation extends Error {
  override readonly name = 'Violation';

  constructor(what: string, actual: unknown, expected: unknown) {
    super(`${what}: got ${show(actual)}, expected ${show(expected)}`);
  }
}

const show = (value: unknown): string => inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
