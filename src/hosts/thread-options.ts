import type { ResourceLimits } from 'node:worker_threads';
import { InvalidConfigError } from '../errors.ts';
import type { DeathLimit } from './restart-policy.ts';

/** In ms: a shorter limit would raise alarms on a busy machine. */
const MIN_HANG_TIMEOUT = 20;
/** In ms: the longest delay of Node's own timers. */
const MAX_TIMEOUT = 2 ** 31 - 1;

const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'] as const;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Checks a limit in ms, or Infinity. Throws InvalidConfigError. */
export function resolveHangTimeout(value: unknown = 5000): number {
  if (typeof value === 'number' && ((value >= MIN_HANG_TIMEOUT && value <= MAX_TIMEOUT) || value === Infinity))
    return value;
  const requirement = `must be a number of ms from ${MIN_HANG_TIMEOUT} to ${MAX_TIMEOUT}, or Infinity`;
  throw new InvalidConfigError('options.hangTimeout', requirement, value);
}

/** Throws InvalidConfigError. */
export function resolveInlineAfter(value: unknown = { deaths: 5, within: 10_000 }): DeathLimit {
  if (!isObject(value)) throw new InvalidConfigError('options.inlineAfter', 'must be { deaths, within }', value);
  const { deaths, within } = value as Partial<DeathLimit>;
  if (deaths !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(deaths) && (deaths as number) > 0)) {
    throw new InvalidConfigError('options.inlineAfter.deaths', 'must be an integer > 0, or Infinity', deaths);
  }
  if (typeof within !== 'number' || !(within > 0)) {
    throw new InvalidConfigError('options.inlineAfter.within', 'must be a number of ms, > 0', within);
  }
  return { deaths: deaths as number, within };
}

/**
 * A shard's garbage is some immediates and bigints a turn, so its young generation need not grow; Node's default would let it
 * grow to 32 MB and more. Its code is small as well: V8 would reserve 512 MB of addresses for it, and end the process if these
 * are refused.
 */
const DEFAULT_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 3, codeRangeSizeMb: 16 };

/** Throws InvalidConfigError. */
export function resolveResourceLimits(value: unknown): ResourceLimits {
  if (value === undefined) return DEFAULT_LIMITS;
  if (!isObject(value) || Array.isArray(value)) {
    throw new InvalidConfigError('options.resourceLimits', 'must be an object of limits in MB', value);
  }
  const limits: ResourceLimits = { ...DEFAULT_LIMITS };
  for (const [name, limit] of Object.entries(value)) {
    const known = LIMITS.find((known) => known === name);
    if (known === undefined) {
      throw new InvalidConfigError('options.resourceLimits', `must name only ${LIMITS.join(', ')}`, name);
    }
    if (limit === undefined) continue;
    if (typeof limit !== 'number' || !(limit > 0) || limit > MAX_TIMEOUT) {
      throw new InvalidConfigError(`options.resourceLimits.${name}`, 'must be a number of MB, > 0', limit);
    }
    limits[known] = limit;
  }
  return limits;
}

/** Throws InvalidConfigError. */
export function resolveExecArgv(value: unknown = []): readonly string[] {
  if (!Array.isArray(value) || value.some((flag) => typeof flag !== 'string')) {
    throw new InvalidConfigError('options.execArgv', 'must be an array of strings', value);
  }
  return [...value];
}

/** Throws InvalidConfigError. */
export function resolveEnv(value: unknown = {}): Readonly<Record<string, string>> {
  if (!isObject(value) || Array.isArray(value)) {
    throw new InvalidConfigError('options.env', 'must be an object of strings', value);
  }
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw new InvalidConfigError(`options.env.${name}`, 'must be a string', text);
  }
  return { ...value };
}
