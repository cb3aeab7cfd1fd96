import type { ResourceLimits } from 'node:worker_threads';
import { InvalidConfigError } from '../errors.ts';
import { refuseUnknown } from '../known-options.ts';
import { MAX_NATIVE_DELAY_MS } from '../time/native-timers.ts';
import { resolveWorkerUrl } from './thread-files.ts';

/** What concerns the shards' threads alone. */
export interface ThreadOptions {
  /**
   * Node's flags for the threads, as in `new Worker`. Default none: the process's own flags (--import, --require,
   * --inspect-brk, NODE_OPTIONS) have no effect in a shard.
   */
  execArgv?: readonly string[];
  /** The whole environment of the threads; NODE_OPTIONS in it takes effect. Default empty; shards read none. */
  env?: Readonly<Record<string, string>>;
  /**
   * The file that the threads run, as a 'file:' URL or an absolute path: a bundler's output for `shardwheel/worker`.
   * Default: the package's own file. See docs/install.md.
   */
  workerUrl?: URL | string;
  /**
   * Limits of each thread, as in `new Worker`. In MB. They do not cover wheels and tables. Default {
   * maxYoungGenerationSizeMb: 3, codeRangeSizeMb: 16 }, for others Node's.
   */
  resourceLimits?: ResourceLimits;
  /**
   * Time in ms without a sign of life, though a turn was due, after which a thread is ended and replaced. Four times as
   * much while it starts, 1 µs more for each slot in use, and four times as much after each alarm, up to 10 s. At least
   * 20; Infinity: never. Default 5000. docs/guarantees.md says what is safe on a busy machine.
   */
  hangTimeout?: number;
  /**
   * If the threads of a shard die `deaths` times within `within` ms, the shard goes on inline, in the calling thread,
   * and an 'error' event reports that. `deaths: Infinity`: never. Default 5 in 10,000 ms.
   */
  inlineAfter?: { deaths: number; within: number };
}

/** The same with every default filled in and every value checked. @internal */
export interface ResolvedThreadOptions extends Required<Omit<ThreadOptions, 'workerUrl'>> {
  /** URL; undefined for the package's own file. */
  readonly workerUrl: string | undefined;
}

const NAMES: Readonly<Record<keyof ThreadOptions, 0>> = {
  execArgv: 0,
  env: 0,
  workerUrl: 0,
  resourceLimits: 0,
  hangTimeout: 0,
  inlineAfter: 0,
};

/** In ms: a shorter limit would raise alarms on a busy machine. */
const MIN_HANG_TIMEOUT = 20;
const MAX_LIMIT_MB = 2 ** 31 - 1;

const LIMITS = ['maxOldGenerationSizeMb', 'maxYoungGenerationSizeMb', 'codeRangeSizeMb', 'stackSizeMb'] as const;

/**
 * A shard's garbage is some immediates and bigints a turn, so its young generation need not grow; Node's default would
 * let it grow to 32 MB and more. Its code is small as well: V8 would reserve 512 MB of addresses for it, and end the
 * process if these are refused.
 */
const DEFAULT_LIMITS: ResourceLimits = { maxYoungGenerationSizeMb: 3, codeRangeSizeMb: 16 };

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function isRecord(value: unknown): value is object {
  try {
    return isObject(value) && !Array.isArray(value);
  } catch {
    return false; // a proxy that has been revoked
  }
}

/** Throws InvalidConfigError unless a member of `options.thread` is valid. */
function check(isValid: boolean, name: string, requirement: string, value: unknown): asserts isValid {
  if (!isValid) throw new InvalidConfigError(`options.thread${name}`, requirement, value);
}

/** Throws InvalidConfigError. @internal */
export function resolveThreadOptions(thread: ThreadOptions = {}): ResolvedThreadOptions {
  check(isObject(thread), '', 'must be an object', thread);
  refuseUnknown(thread, NAMES, 'options.thread');
  const { hangTimeout = 5000, inlineAfter = { deaths: 5, within: 10_000 }, execArgv = [], env = {} } = thread;
  const isTime =
    typeof hangTimeout === 'number' && hangTimeout >= MIN_HANG_TIMEOUT && hangTimeout <= MAX_NATIVE_DELAY_MS;
  const time = `must be a number of ms from ${MIN_HANG_TIMEOUT} to ${MAX_NATIVE_DELAY_MS}, or Infinity`;
  check(isTime || hangTimeout === Number.POSITIVE_INFINITY, '.hangTimeout', time, hangTimeout);
  check(isObject(inlineAfter), '.inlineAfter', 'must be { deaths, within }', inlineAfter);
  refuseUnknown(inlineAfter, { deaths: 0, within: 0 }, 'options.thread.inlineAfter');
  const { deaths, within } = inlineAfter;
  const isCount = (Number.isSafeInteger(deaths) && deaths > 0) || deaths === Number.POSITIVE_INFINITY;
  check(isCount, '.inlineAfter.deaths', 'must be an integer > 0, or Infinity', deaths);
  check(typeof within === 'number' && within > 0, '.inlineAfter.within', 'must be a number of ms, > 0', within);
  const areFlags = Array.isArray(execArgv) && execArgv.every((flag) => typeof flag === 'string');
  const resourceLimits = resolveResourceLimits(thread.resourceLimits);
  check(areFlags, '.execArgv', 'must be an array of strings', execArgv);
  check(isRecord(env), '.env', 'must be an object of strings', env);
  for (const [name, text] of Object.entries(env))
    check(typeof text === 'string', `.env.${name}`, 'must be a string', text);
  return {
    hangTimeout,
    inlineAfter: { deaths, within },
    resourceLimits,
    execArgv: [...execArgv],
    env: { ...env },
    workerUrl: resolveWorkerUrl(thread.workerUrl),
  };
}

/** Throws InvalidConfigError. */
function resolveResourceLimits(given: ResourceLimits = {}): ResourceLimits {
  check(isRecord(given), '.resourceLimits', 'must be an object of limits in MB', given);
  const limits: ResourceLimits = { ...DEFAULT_LIMITS };
  for (const [name, limit] of Object.entries(given)) {
    const known = LIMITS.find((known) => known === name);
    check(known !== undefined, '.resourceLimits', `must name only ${LIMITS.join(', ')}`, name);
    if (limit === undefined) continue;
    const isSize = typeof limit === 'number' && limit > 0 && limit <= MAX_LIMIT_MB;
    check(isSize, `.resourceLimits.${name}`, 'must be a number of MB, > 0', limit);
    limits[known] = limit;
  }
  return limits;
}
