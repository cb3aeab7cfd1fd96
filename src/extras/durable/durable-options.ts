import { InvalidArgumentError, InvalidConfigError } from '../../errors.ts';
import { requireInteger, requireMilliseconds, requireOptions } from '../../known-options.ts';
import { requireScheduler } from '../../own-copy.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { DurableSettings } from './attempts/durable-core.ts';
import { type RetryOptions, resolveRetry } from './attempts/retry-policy.ts';
import { MAX_CONCURRENCY, MAX_PERSIST_AFTER_MS } from './durable-arguments.ts';
import type { DurableStore } from './durable-store.ts';
import type { PayloadFormat } from './payload-codec.ts';
import { ManualWallClock, realWallClock, type WallClock } from './wall-clock.ts';

export interface DurableOptions {
  /**
   * Where timers are kept: `lmdbStore({ path })`, `bullmqStore({ connection, queue })`, or `memoryStore()` for tests.
   */
  store: DurableStore;
  /**
   * Keeps the near timers. It is not closed with the durable timers; if it is closed before, or one of their timers is
   * cancelled there by its id, one of their own takes over. Default: one of their own, inline.
   */
  scheduler?: Scheduler | undefined;
  /**
   * 'wall' is the machine's; `manualWallClock(start)`, for tests, stands still until it is advanced. Default 'wall'.
   */
  clock?: 'wall' | ManualWallClock | undefined;
  /**
   * Stored timers that are due within this many ms stand in the wheel as well, from 1000 to 86,400,000. BullMQ does not
   * use it: it promotes delayed jobs itself. Default 60,000.
   */
  horizon?: number | undefined;
  /**
   * ms, from 0 to 3,600,000, for which a timer is kept in memory alone. One that is cancelled or delivered meanwhile
   * costs no write; a crash loses exactly these. It holds for names that this process handles. Default 0: every timer
   * is stored at once.
   */
  persistAfter?: number | undefined;
  /** Most handlers of a name that run at a time, from 1 to 10,000, unless `handle` says otherwise. Default 100. */
  concurrency?: number | undefined;
  /** Most bytes of an encoded payload, from 0 to 16,777,216. Default 65,536. */
  maxPayloadBytes?: number | undefined;
  /** How payloads are encoded. Default 'structured-clone'. */
  payloadFormat?: PayloadFormat | undefined;
  /** When a failed delivery is tried again. Default: ten attempts, a second and then ever longer apart. */
  retry?: RetryOptions | undefined;
  /**
   * Most stored timers in the wheel, from 1000 to 10,000,000. It bounds the memory of a recovery. Default 100,000.
   */
  nearLimit?: number | undefined;
  /** Most timers in memory alone, from 0 to 10,000,000; further ones are stored at once. Default 1,000,000. */
  youngLimit?: number | undefined;
}

/** @internal */
export type ResolvedDurableOptions = DurableSettings & Required<Omit<DurableOptions, keyof DurableSettings>>;

/** The default of each number, the least, the most, and whether it is an integer, else ms. */
const NUMBERS = {
  horizon: [60_000, 1000, 86_400_000, false],
  persistAfter: [0, 0, MAX_PERSIST_AFTER_MS, false],
  concurrency: [100, 1, MAX_CONCURRENCY, true],
  maxPayloadBytes: [65_536, 0, 2 ** 24, true],
  nearLimit: [100_000, 1000, 10_000_000, true],
  youngLimit: [1_000_000, 0, 10_000_000, true],
} as const;
type Numbers = Record<keyof typeof NUMBERS, number>;

const known: Record<keyof DurableOptions, unknown> = {
  store: 0,
  scheduler: 0,
  clock: 0,
  payloadFormat: 0,
  retry: 0,
  ...NUMBERS,
};

/** Throws InvalidArgumentError, InvalidConfigError. @internal */
export function resolveDurableOptions(options: DurableOptions): ResolvedDurableOptions {
  requireOptions(options, known, 'options', 'must be an object with a store');
  const { store, scheduler, payloadFormat = 'structured-clone' } = options;
  const clock = resolveClock(options.clock);
  if (typeof (store as Partial<DurableStore> | undefined)?.put !== 'function') {
    const requirement = 'must be a store: lmdbStore({ path }), bullmqStore({ connection, queue }) or memoryStore()';
    throw new InvalidArgumentError('options.store', requirement, store);
  }
  if (scheduler !== undefined) requireScheduler(scheduler);
  if (payloadFormat !== 'structured-clone' && payloadFormat !== 'json') {
    throw new InvalidConfigError('options.payloadFormat', "must be 'structured-clone' or 'json'", payloadFormat);
  }
  const numbers = Object.entries(NUMBERS).map(([name, [by, min, max, isInteger]]) => {
    const require = isInteger ? requireInteger : requireMilliseconds;
    return [name, require(`options.${name}`, options[name as keyof Numbers] ?? by, min, max)];
  });
  const retry = resolveRetry(options.retry);
  return { store, scheduler, clock, payloadFormat, retry, ...(Object.fromEntries(numbers) as Numbers) };
}

function resolveClock(clock: DurableOptions['clock'] = 'wall'): WallClock {
  if (clock === 'wall') return realWallClock;
  if (clock instanceof ManualWallClock) return clock;
  throw new InvalidConfigError('options.clock', "must be 'wall' or manualWallClock(start)", clock);
}
