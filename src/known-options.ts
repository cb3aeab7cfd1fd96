import { InvalidArgumentError, InvalidConfigError } from './errors.ts';

/** Returns the value of an option that is an integer. Throws InvalidConfigError. */
export function requireInteger(option: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw new InvalidConfigError(option, `must be an integer from ${min} to ${max}`, value);
}

/** Returns the value of an option in ms. Throws InvalidConfigError. */
export function requireMilliseconds(option: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new InvalidConfigError(option, `must be a number of ms from ${min} to ${max}`, value);
}

/** The number of letters to add, drop or change between two words, by Levenshtein. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (letter === other[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

/** The known name that was probably meant; undefined if none is similar. */
function nearest(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase();
  const [best] = known
    .map((each) => ({ each, letters: distance(lower, each.toLowerCase()) }))
    .sort((one, other) => one.letters - other.letters);
  return best !== undefined && best.letters <= Math.max(2, name.length / 3) ? best.each : undefined;
}

/**
 * Throws InvalidConfigError for an unknown option, with the name that was probably meant: a misspelt option would silently have
 * no effect. `known`: an object with each option's name as a key; `renamed`: what has become of old names.
 */
export function refuseUnknown(
  options: object,
  known: object,
  what = 'options',
  renamed: Readonly<Record<string, string>> = {},
): void {
  for (const name of Object.keys(options)) {
    const value: unknown = options[name as never];
    if (Object.hasOwn(known, name) || value === undefined) continue;
    const names = Object.keys(known);
    const meant = nearest(name, names);
    if (Object.hasOwn(renamed, name)) {
      throw new InvalidConfigError(`${what}.${name}`, `is no option any more: ${renamed[name]}`, value);
    }
    const remedy = meant === undefined ? `there are ${names.join(', ')}` : `did you mean '${meant}'?`;
    throw new InvalidConfigError(`${what}.${name}`, `is not an option: ${remedy}`, value);
  }
}

/** Does the same, and throws InvalidArgumentError if the options are not an object. */
export function requireOptions(
  options: unknown,
  known: object,
  what = 'options',
  requirement = 'must be an object',
  renamed?: Readonly<Record<string, string>>,
): void {
  if (typeof options !== 'object' || options === null) throw new InvalidArgumentError(what, requirement, options);
  refuseUnknown(options, known, what, renamed);
}
