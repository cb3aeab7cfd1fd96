import { EventEmitter } from 'node:events';
import { outsideContexts } from '../async-context/async-context.ts';
import { reportError, warn } from '../scheduler/report-error.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { dueTime } from './due-time.ts';
import {
  requireDeadlineTime,
  requireHandler,
  requireKey,
  requireName,
  requirePersistAfter,
  requirePrefix,
} from './durable-arguments.ts';
import { DurableTimersClosedError } from './durable-error.ts';
import type { ResolvedDurableOptions } from './durable-options.ts';
import { DurableCounts, type DurableStats } from './durable-stats.ts';
import type { DeadTimer, DurableStore, StoredTimer } from './durable-store.ts';
import {
  type DeadLetter,
  type DurableHandler,
  type DurableTimer,
  type DurableTimersEvents,
  type ScheduleOptions,
  shownDead,
  shownTimer,
} from './durable-timer.ts';
import { Limiter } from './limiter.ts';
import { decodePayload, encodePayload } from './payload-codec.ts';
import { addStatsSource } from './stats-sources.ts';
import { TieredStore } from './tiered-store.ts';

/** ms between two reports of the store's failures. */
const WARNING_PAUSE = 1000;

/**
 * Timers that outlive the process: see docs/durable.md. Names and keys are strings; a timer is known by both. Deadlines are times
 * of the wall clock. After `close()` all calls but `close` and `stats` reject with DurableTimersClosedError.
 */
export class DurableTimers<Payloads extends object = Record<string, unknown>>
  extends EventEmitter<DurableTimersEvents>
  implements AsyncDisposable
{
  readonly #options: ResolvedDurableOptions;
  readonly #store: DurableStore;
  readonly #scheduler: Scheduler;
  readonly #handlers = new Map<string, DurableHandler<unknown>>();
  readonly #tiers: TieredStore;
  readonly #running: Limiter;
  readonly #counts = new DurableCounts();
  #warnedAt = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | undefined;

  /** Use `openDurableTimers`. @internal */
  constructor(options: ResolvedDurableOptions, scheduler: Scheduler) {
    super();
    this.#options = options;
    this.#store = options.store;
    this.#scheduler = scheduler;
    this.#running = new Limiter(options.concurrency);
    addStatsSource(this, () => this.stats());
    const running = this.#running;
    this.#tiers = new TieredStore(options.store, scheduler, options, {
      retry: options.retry,
      get isBusy() {
        return running.isFull;
      },
      run: (timer) => this.#run(timer),
      died: (timer) => this.#died(timer),
      failed: (error) => this.#warn(error),
      endedYoung: () => {
        this.#counts.endedYoung += 1;
      },
    });
  }

  /** @internal */
  async open(): Promise<void> {
    const { horizon, nearLimit, concurrency, retry } = this.#options;
    await this.#store.open({
      scheduler: this.#scheduler,
      horizon,
      nearLimit,
      concurrency,
      retry,
      run: (timer) => this.#run(timer),
      died: (timer) => this.#died(timer),
      failed: (error) => this.#warn(error),
      recovering: (progress) => this.emit('recovery', progress),
    });
  }

  /**
   * Delivers the timers of a name to the handler, in this process or in another that handles the name. A handler runs outside all
   * async contexts. Throws InvalidArgumentError; also if the name has a handler already.
   */
  handle<Name extends keyof Payloads & string>(name: Name, handler: DurableHandler<Payloads[Name]>): this {
    this.#requireOpen('handle');
    requireName(name);
    requireHandler(handler, name, this.#handlers.has(name));
    this.#handlers.set(name, handler as DurableHandler<unknown>);
    outsideContexts(() => this.#store.serve(name));
    return this;
  }

  /**
   * Schedules a timer for a time of the wall clock; moves the one of the same name and key, its payload included. Resolves when it
   * is as safe as the store makes it; with `persistAfter`, at once. A deadline in the past is due now. If its delivery is under way,
   * this timer comes after it.
   * @throws InvalidArgumentError, InvalidDeadlineError, PayloadError: nothing was scheduled. DurableStoreError: the timer may be
   * stored or not; the call may be repeated.
   * @cost One write to the store, in a group with others of the same time; none while the timer is young.
   */
  async schedule<Name extends keyof Payloads & string>(
    name: Name,
    key: string,
    deadline: Date | number,
    payload?: Payloads[Name],
    options?: ScheduleOptions,
  ): Promise<void> {
    this.#requireOpen('schedule');
    requireName(name);
    requireKey(key);
    const time = requireDeadlineTime(deadline);
    const { payloadFormat, maxPayloadBytes } = this.#options;
    const bytes = encodePayload(payload, payloadFormat, maxPayloadBytes);
    const timer = { name, key, deadline: time, due: dueTime(time), attempts: 0, payload: bytes };
    const persistAfter = requirePersistAfter(options?.persistAfter ?? this.#options.persistAfter);
    this.#counts.scheduled += 1;
    await this.#tiers.schedule(timer, this.#handlers.has(name) ? persistAfter : 0);
  }

  /**
   * Moves a timer; it keeps its payload. Resolves with true if no delivery of it has begun or will begin before the new deadline; with
   * false if there is none, or its delivery has begun: it is not scheduled anew, as {@link schedule} would. Throws like `cancel`.
   * @cost As `schedule`.
   */
  async reschedule(name: keyof Payloads & string, key: string, deadline: Date | number): Promise<boolean> {
    this.#requireOpen('reschedule');
    requireName(name);
    requireKey(key);
    return this.#tiers.move(name, key, requireDeadlineTime(deadline));
  }

  /**
   * Cancels a timer. Resolves with true if no handler of it runs or will run; with false if there is none, or its delivery has begun.
   * Between two attempts of a timer whose handler has rejected, or whose process has died, true. Rejects with DurableStoreError: then it is cancelled or not.
   * @cost As `schedule`.
   */
  async cancel(name: keyof Payloads & string, key: string): Promise<boolean> {
    this.#requireOpen('cancel');
    requireName(name);
    requireKey(key);
    const isCancelled = await this.#tiers.cancel(name, key);
    if (isCancelled) this.#counts.cancelled += 1;
    return isCancelled;
  }

  /**
   * Resolves with a timer; undefined if there is none.
   * @cost One read of the store, unless it is young.
   */
  async get<Name extends keyof Payloads & string>(
    name: Name,
    key: string,
  ): Promise<DurableTimer<Payloads[Name]> | undefined> {
    this.#requireOpen('get');
    requireName(name);
    requireKey(key);
    const timer = this.#tiers.get(name, key) ?? (await this.#store.get(name, key));
    return timer === undefined ? undefined : shownTimer<Payloads[Name]>(timer);
  }

  /**
   * Resolves with the number of timers of a name; without a name, of all.
   * @cost With a name O(timers of the name), in slices; without one, O(1) but for those in memory alone.
   */
  async count(name?: keyof Payloads & string): Promise<number> {
    this.#requireOpen('count');
    if (name !== undefined) requireName(name);
    return this.#tiers.unstored(name).length + (await this.#store.count(name));
  }

  /**
   * Iterates over the timers of a name whose keys begin with the prefix. One that is there throughout is seen once; others may come
   * and go between two steps.
   * @cost One read per some hundred timers.
   */
  async *timers<Name extends keyof Payloads & string>(
    name: Name,
    prefix = '',
  ): AsyncGenerator<DurableTimer<Payloads[Name]>, void, undefined> {
    this.#requireOpen('timers');
    requireName(name);
    requirePrefix(prefix);
    const young = this.#tiers.unstored(name).filter(({ key }) => key.startsWith(prefix));
    const seen = new Set(young.map(({ key }) => key));
    for (const timer of young) yield shownTimer(timer);
    for await (const timer of this.#store.timers(name, prefix)) {
      if (!seen.has(timer.key)) yield shownTimer(timer);
    }
  }

  /** Iterates over the timers of a name that have died and are kept. */
  async *deadLetters<Name extends keyof Payloads & string>(
    name: Name,
  ): AsyncGenerator<DeadLetter<Payloads[Name]>, void, undefined> {
    this.#requireOpen('deadLetters');
    requireName(name);
    for await (const dead of this.#store.dead(name)) yield shownDead(dead);
  }

  /**
   * Forgets a dead letter. Resolves with whether there was one. To try it again, `schedule` its key and payload first.
   */
  async removeDeadLetter(name: keyof Payloads & string, key: string): Promise<boolean> {
    this.#requireOpen('removeDeadLetter');
    requireName(name);
    requireKey(key);
    return this.#store.removeDead(name, key);
  }

  /**
   * Stores all timers that are in memory alone. Resolves when they are as safe as the store makes them.
   * @cost A write per such timer.
   */
  async flush(): Promise<void> {
    this.#requireOpen('flush');
    await this.#tiers.flush();
  }

  /**
   * Resolves with counts of this process, and of the store.
   * @cost One read of the store; up to 10,000 index entries where as many are overdue.
   */
  async stats(): Promise<DurableStats> {
    const store = this.#closing === undefined ? this.#store.stats() : undefined;
    const answer = await store?.catch((error: Error) => this.#warn(error));
    return this.#counts.snapshot(this.#tiers.size, answer ?? undefined);
  }

  /**
   * Stores what is in memory alone, begins no further delivery, and resolves when the handlers that run have ended. Later calls
   * return the same promise.
   */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #shutDown(): Promise<void> {
    try {
      await this.#tiers.close();
    } finally {
      await this.#store.close();
      if (this.#options.scheduler === undefined) await this.#scheduler.close();
    }
  }

  #requireOpen(call: string): void {
    if (this.#closing !== undefined) throw new DurableTimersClosedError(call);
  }

  async #run(timer: StoredTimer): Promise<void> {
    const { name, key, deadline, attempts: attempt, due } = timer;
    const handler = this.#handlers.get(name);
    if (handler === undefined) throw new Error(`No handler for the name ${name}`);
    await this.#running.run(async () => {
      this.#counts.began(Date.now() - due, attempt);
      try {
        await outsideContexts(async () => handler(decodePayload(timer.payload), { name, key, deadline, attempt }));
        this.#counts.delivered += 1;
      } catch (error) {
        this.#counts.failed += 1;
        throw error;
      }
    });
  }

  /** At most once a second: a store that cannot be reached fails for every timer. */
  #warn(error: Error): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARNING_PAUSE) return;
    this.#warnedAt = now;
    warn(this, error);
  }

  #died(timer: DeadTimer): void {
    this.#counts.died += 1;
    try {
      this.emit('dead', shownDead(timer));
    } catch (error) {
      reportError(this, error);
    }
  }
}
