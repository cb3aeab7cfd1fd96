import { isAbortSignal } from '../abort-watch.ts';
import { slackInTicks, slackRange } from '../client/client-time.ts';
import { InvalidArgumentError, InvalidConfigError } from '../errors.ts';
import { type ResolvedThreadOptions, resolveThreadOptions, type ThreadOptions } from '../hosts/thread-options.ts';
import { requireInteger, requireOptions } from '../known-options.ts';
import { process } from '../process.ts';
import { RENAMED_OPTIONS } from '../renamed.ts';
import { TickScale } from '../time/tick-scale.ts';
import { MAX_SLOT_BITS } from '../timer-id.ts';
import { type PresetName, presets } from '../wheel/presets.ts';
import { validateConfig, type WheelConfig } from '../wheel/wheel-config.ts';

export interface SchedulerOptions {
  /**
   * Number of worker threads, each with its own wheel. Timers are served inline, in the calling thread, until the
   * threads are up. 0: one wheel, inline, no thread. 'auto': inline while that is cheaper, else on a thread;
   * `stats().serving` reports which, and why. At most 1024. docs/decide.md says how many to choose. Default 'auto'.
   */
  shards?: number | 'auto';
  /**
   * The wheel of each shard. One tick of it lasts `tick` ms, whatever the configuration's precision. Default 'default'.
   */
  wheel?: PresetName | WheelConfig;
  /** ms per tick, > 0, may be fractional. Default 1. */
  tick?: number;
  /** Maximum of live timers per shard, 1 to 2^24. Default 2^22. Memory is touched only when it is used. */
  capacity?: number;
  /** 'manual': time moves only by `advanceTo()`, for tests and simulations. Default 'monotonic'. */
  clock?: 'monotonic' | 'manual';
  /** Maximum of timers delivered in one turn of the event loop. Default 8192. */
  maxBatch?: number;
  /**
   * How many ms after the end of its tick a timer whose label sets no slack may be delivered, so that one wake serves
   * several timers. No timer is ever early. Rounded down to whole ticks, at most 2^29 of them. Best one less than a
   * power of two: timers are then due at multiples of that power. Default 0.
   */
  slack?: number;
  /**
   * ms of lateness above which timers wait for one more poll of the event loop, so that data which reached its sockets
   * meanwhile is served before them: guarantee 16 of docs/guarantees.md. At least 0; Infinity: they never wait. No
   * effect on drop-in timers, nor with a manual clock. Default 8.
   */
  ioFirst?: number;
  /** Aborting closes the scheduler. Default: none. */
  signal?: AbortSignal;
  /**
   * 'auto': a callback runs in the AsyncLocalStorage context of the call that scheduled it. This costs nothing outside
   * all contexts, else some ns and 8 bytes, or an AsyncResource (Node 20, 22). 'never': callbacks run outside all
   * contexts. Default 'auto'.
   */
  asyncContext?: 'auto' | 'never';
  /** What concerns the shards' threads alone. Default: the defaults of its members. */
  thread?: ThreadOptions;
}

/** The options of a connected scheduler; all others are the owner's. */
export interface SchedulerConnectOptions {
  /** Maximum of timers delivered in one turn of the event loop. Default 8192. */
  maxBatch?: number;
  /** As for `createScheduler`, for the timers of this scheduler. Default 0, whatever the owner's slack is. */
  slack?: number;
  /** As for `createScheduler`, for the timers of this scheduler. Default: the owner's. */
  ioFirst?: number;
  /** Aborting closes the connected scheduler, but no other. Default: none. */
  signal?: AbortSignal;
}

/** The options of a connected scheduler with every default filled in and every value checked. @internal */
export interface ConnectOptions {
  readonly maxBatch: number;
  /** Ticks. */
  readonly slack: number;
  /** ms of lateness above which a turn leaves timers to the next poll of the event loop; Infinity: never. */
  readonly ioFirst: number;
  readonly signal: AbortSignal | undefined;
}

/** Options with every default filled in and every value checked. @internal */
export interface ResolvedOptions extends ResolvedThreadOptions, ConnectOptions {
  /** Number of placements to which hints are hashed. */
  readonly shards: number;
  readonly isAuto: boolean;
  readonly wheel: WheelConfig;
  readonly tick: number;
  readonly capacity: number;
  readonly manual: boolean;
  readonly keepsContexts: boolean;
}

const CONNECT_NAMES = { maxBatch: 0, slack: 0, ioFirst: 0, signal: 0 } satisfies Record<
  keyof SchedulerConnectOptions,
  0
>;
const OWN_NAMES = { shards: 0, wheel: 0, tick: 0, capacity: 0, clock: 0, asyncContext: 0, thread: 0 };
const NAMES = { ...CONNECT_NAMES, ...OWN_NAMES } satisfies Record<keyof SchedulerOptions, number>;

/** ms */
const DEFAULT_IO_FIRST = 8;
const MAX_SHARDS = 1024;
/** Maximum of shards for 'auto', whatever the number of CPUs: each turn reads all of them. */
const MAX_AUTO_SHARDS = 8;
/** A nanosecond, in ms: the resolution of the clock. */
const MIN_TICK = 1e-6;
const MAX_CAPACITY = 2 ** MAX_SLOT_BITS;

/** Throws InvalidConfigError unless an option is valid. */
function check(isValid: boolean, option: string, requirement: string, value: unknown): void {
  if (!isValid) throw new InvalidConfigError(`options.${option}`, requirement, value);
}

/** What a client takes from the scheduler unless its own options say otherwise; in ms. */
type OwnDefaults = Pick<ResolvedOptions, 'tick' | 'ioFirst'>;

/**
 * Throws InvalidConfigError for an invalid value or an unknown name, InvalidArgumentError if the options are not an
 * object.
 * @internal
 */
export function resolveConnectOptions(options: SchedulerConnectOptions = {}, shared: OwnDefaults): ConnectOptions {
  requireOptions(options, CONNECT_NAMES, undefined, undefined, RENAMED_OPTIONS);
  return resolveOwn(options, shared);
}

function resolveOwn(options: SchedulerConnectOptions, { tick, ioFirst: usual }: OwnDefaults): ConnectOptions {
  const { maxBatch = 8192, slack = 0, ioFirst = usual, signal } = options;
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw new InvalidArgumentError('options.signal', 'must be an AbortSignal', signal);
  }
  const scale = new TickScale(tick);
  const ticks = slackInTicks(slack, scale);
  check(!Number.isNaN(ticks), 'slack', slackRange(scale), slack);
  requireInteger('options.maxBatch', maxBatch, 1, 2 ** 24);
  const isLateness = typeof ioFirst === 'number' && ioFirst >= 0;
  check(isLateness, 'ioFirst', 'must be a number of ms >= 0, or Infinity', ioFirst);
  return { maxBatch, slack: ticks, ioFirst, signal };
}

/** Throws like {@link resolveConnectOptions}. @internal */
export function resolveOptions(options: SchedulerOptions = {}): ResolvedOptions {
  requireOptions(options, NAMES, undefined, undefined, RENAMED_OPTIONS);
  const { shards = 'auto', wheel = 'default', tick = 1, capacity = 2 ** 22 } = options;
  const { clock = 'monotonic', asyncContext = 'auto' } = options;
  const isTick = typeof tick === 'number' && tick >= MIN_TICK && tick < Number.POSITIVE_INFINITY;
  check(isTick, 'tick', `must be a finite number of ms, at least ${MIN_TICK}`, tick);
  check(clock === 'monotonic' || clock === 'manual', 'clock', "must be 'monotonic' or 'manual'", clock);
  const isKnown = asyncContext === 'auto' || asyncContext === 'never';
  check(isKnown, 'asyncContext', "must be 'auto' or 'never'", asyncContext);
  const own = resolveOwn(options, { tick, ioFirst: DEFAULT_IO_FIRST });
  const isShards = shards === 'auto' || (Number.isInteger(shards) && shards >= 0 && shards <= MAX_SHARDS);
  check(isShards, 'shards', `must be 'auto' or an integer from 0 to ${MAX_SHARDS}`, shards);
  const copy = resolveWheel(wheel);
  requireInteger('options.capacity', capacity, 1, MAX_CAPACITY);
  return {
    ...own,
    shards: shards === 'auto' ? Math.min(availableParallelism(), MAX_AUTO_SHARDS) : shards,
    isAuto: shards === 'auto',
    wheel: copy,
    tick,
    capacity,
    manual: clock === 'manual',
    keepsContexts: asyncContext === 'auto',
    ...resolveThreadOptions(options.thread),
  };
}

const availableParallelism = (): number => process.getBuiltinModule('node:os').availableParallelism();

function resolveWheel(wheel: PresetName | WheelConfig): WheelConfig {
  if (typeof wheel === 'string') {
    const names = Object.keys(presets).map((name) => `'${name}'`);
    const requirement = `must be one of ${names.join(', ')} or a configuration`;
    check(Object.hasOwn(presets, wheel), 'wheel', requirement, wheel);
    return copyOf(presets[wheel]);
  }
  check(typeof wheel === 'object' && wheel !== null, 'wheel', "must be a preset's name or a configuration", wheel);
  const copy = copyOf(wheel); // shards are built from it later, and the caller may change its object
  validateConfig(copy, {});
  return copy;
}

function copyOf<T>(value: T): T {
  if (Array.isArray(value)) return Array.from(value, copyOf) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)])) as T;
}
