import type { ResourceLimits } from 'node:worker_threads';
import { InvalidConfigError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import type { DeathLimit } from './restart-policy.ts';
import { resolveWorkerUrl } from './thread-files.ts';
import type { KeeperOptions } from './thread-keeper.ts';

/** What concerns the shards' threads alone. */
export interface ThreadOptions {
  /**
   * Node's flags for the threads, as in `new Worker`. Default none: the process's own flags (--import, --require, --inspect-brk,
   * NODE_OPTIONS) have no effect in a shard.
   */
  execArgv?: readonly string[];
  /** The whole environment of the threads; NODE_OPTIONS in it takes effect. Default empty; shards read none. */
  env?: Readonly<Record<string, string>>;
  /**
   * The file that the threads run, as a 'file:' URL or an absolute path: a bundler's output for `shardwheel/worker`. Default: the
   * package's own file. See docs/install.md.
   */
  workerUrl?: URL | string;
  /**
   * Limits of each thread, as in `new Worker`. In MB. They do not cover wheels and tables. Default { maxYoungGenerationSizeMb: 3,
   * codeRangeSizeMb: 16 }, for others Node's.
   */
  resourceLimits?: ResourceLimits;
  /**
   * Time in ms without a sign of life, though a turn was due, after which a thread is ended and replaced. Four times as much while
   * it starts, 1 µs more for each slot in use, and four times as much after each alarm, up to 10 s. At least 20; Infinity: never.
   * Default 5000. docs/guarantees.md says what is safe on a busy machine.
   */
  hangTimeout?: number;
  /**
   * If the threads of a shard die `deaths` times within `within` ms, the shard goes on inline, in the calling thread, and an
   * 'error' event reports that. `deaths: Infinity`: never. Default 5 in 10,000 ms.
   */
  inlineAfter?: { deaths: number; within: number };
}

const NAMES = {
  execArgv: 0,
  env: 0,
  workerUrl: 0,
  resourceLimits: 0,
  hangTimeout: 0,
  inlineAfter: 0,
} satisfies Record<keyof ThreadOptions, 0>;

/** In ms: a shorter limit would raise alarms on a busy machine. */
const MIN_HANG_TIMEOUT = 20;
/** In ms: the longest delay of Node's own timers. */
const MAX_TIMEOUT = 2 ** 31 - 1;

const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'] as const;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Throws InvalidConfigError. @internal */
export function resolveThreadOptions(thread: ThreadOptions = {}): KeeperOptions {
  if (!isObject(thread)) throw new InvalidConfigError('options.thread', 'must be an object', thread);
  refuseUnknown(thread, NAMES, 'options.thread');
  return {
    hangTimeout: resolveHangTimeout(thread.hangTimeout),
    inlineAfter: resolveInlineAfter(thread.inlineAfter),
    resourceLimits: resolveResourceLimits(thread.resourceLimits),
    execArgv: resolveExecArgv(thread.execArgv),
    env: resolveEnv(thread.env),
    workerUrl: resolveWorkerUrl(thread.workerUrl),
  };
}

/** Checks a limit in ms, or Infinity. Throws InvalidConfigError. */
function resolveHangTimeout(value: unknown = 5000): number {
  if (typeof value === 'number' && ((value >= MIN_HANG_TIMEOUT && value <= MAX_TIMEOUT) || value === Infinity))
    return value;
  const requirement = `must be a number of ms from ${MIN_HANG_TIMEOUT} to ${MAX_TIMEOUT}, or Infinity`;
  throw new InvalidConfigError('options.thread.hangTimeout', requirement, value);
}

/** Throws InvalidConfigError. */
function resolveInlineAfter(value: unknown = { deaths: 5, within: 10_000 }): DeathLimit {
  if (!isObject(value)) throw new InvalidConfigError('options.thread.inlineAfter', 'must be { deaths, within }', value);
  const { deaths, within } = value as Partial<DeathLimit>;
  if (deaths !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(deaths) && (deaths as number) > 0)) {
    throw new InvalidConfigError('options.thread.inlineAfter.deaths', 'must be an integer > 0, or Infinity', deaths);
  }
  if (typeof within !== 'number' || !(within > 0)) {
    throw new InvalidConfigError('options.thread.inlineAfter.within', 'must be a number of ms, > 0', within);
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
function resolveResourceLimits(value: unknown): ResourceLimits {
  if (value === undefined) return DEFAULT_LIMITS;
  if (!isObject(value) || Array.isArray(value)) {
    throw new InvalidConfigError('options.thread.resourceLimits', 'must be an object of limits in MB', value);
  }
  const limits: ResourceLimits = { ...DEFAULT_LIMITS };
  for (const [name, limit] of Object.entries(value)) {
    const known = LIMITS.find((known) => known === name);
    if (known === undefined) {
      throw new InvalidConfigError('options.thread.resourceLimits', `must name only ${LIMITS.join(', ')}`, name);
    }
    if (limit === undefined) continue;
    if (typeof limit !== 'number' || !(limit > 0) || limit > MAX_TIMEOUT) {
      throw new InvalidConfigError(`options.thread.resourceLimits.${name}`, 'must be a number of MB, > 0', limit);
    }
    limits[known] = limit;
  }
  return limits;
}

/** Throws InvalidConfigError. */
function resolveExecArgv(value: unknown = []): readonly string[] {
  if (!Array.isArray(value) || value.some((flag) => typeof flag !== 'string')) {
    throw new InvalidConfigError('options.thread.execArgv', 'must be an array of strings', value);
  }
  return [...value];
}

/** Throws InvalidConfigError. */
function resolveEnv(value: unknown = {}): Readonly<Record<string, string>> {
  if (!isObject(value) || Array.isArray(value)) {
    throw new InvalidConfigError('options.thread.env', 'must be an object of strings', value);
  }
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') throw new InvalidConfigError(`options.thread.env.${name}`, 'must be a string', text);
  }
  return { ...value };
}
