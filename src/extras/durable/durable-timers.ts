import { EventEmitter } from 'node:events';
import { outsideContexts } from '../../async-context/async-context.ts';
import type { WallClockTime } from '../../time/wall-clock-time.ts';
import { Attempts } from './attempts/attempts.ts';
import { DurableCore } from './attempts/durable-core.ts';
import { UnhandledNames } from './attempts/unhandled-names.ts';
import {
  mayBeginKey,
  requireDeadlineTime,
  requireDelayedTime,
  requireHandleOptions,
  requireHandler,
  requireKey,
  requireName,
  requirePath,
  requirePrefix,
  requireScheduleOptions,
  requireWithin,
} from './durable-arguments.ts';
import { DurableStoreError, DurableTimersClosedError } from './durable-error.ts';
import { type DurableOptions, type ResolvedDurableOptions, resolveDurableOptions } from './durable-options.ts';
import { addStatsSource, type DurableStats } from './durable-stats.ts';
import type { DurableStore } from './durable-store.ts';
import {
  type CloseOptions,
  type DeadLetter,
  type DurableHandler,
  type DurableTimer,
  type DurableTimersEvents,
  type HandleOptions,
  type NamesWithoutPayload,
  type ScheduleOptions,
  shownDead,
  shownTimer,
} from './durable-timer.ts';
import { encodePayload } from './payload-codec.ts';
import { dueTime } from './stored-timer.ts';
import { Unstored } from './unstored/unstored.ts';

/**
 * Opens timers that outlive this process. Nothing is delivered before `handle`. `Payloads` gives the type of each
 * name's payload: `openDurableTimers<{ 'session-expired': { user: string } }>(…)`. They hold the process until
 * `close()`.
 * @throws InvalidArgumentError, InvalidConfigError, DurableStoreError, by rejection.
 */
export async function openDurableTimers<Payloads extends object = Record<string, unknown>>(
  options: DurableOptions,
): Promise<DurableTimers<Payloads>> {
  const resolved = resolveDurableOptions(options);
  return outsideContexts(async () => {
    const timers = new DurableTimers<Payloads>(resolved);
    await timers.open();
    return timers;
  });
}

/**
 * Timers that outlive the process: see docs/durable.md. Names and keys are strings; a timer is known by both. Deadlines
 * are times of the wall clock. After `close()` all calls but `close` and `stats` reject with DurableTimersClosedError;
 * `handle` throws it.
 */
export class DurableTimers<Payloads extends object = Record<string, unknown>>
  extends EventEmitter<DurableTimersEvents>
  implements AsyncDisposable
{
  readonly #options: ResolvedDurableOptions;
  readonly #store: DurableStore;
  readonly #core: DurableCore;
  readonly #attempts: Attempts;
  readonly #unstored: Unstored;
  readonly #unhandled: UnhandledNames;
  #closing: Promise<void> | undefined;

  /** Use `openDurableTimers`. @internal */
  constructor(options: ResolvedDurableOptions) {
    super();
    this.#options = options;
    this.#store = options.store;
    this.#core = new DurableCore(options, this);
    this.#attempts = new Attempts(this.#core);
    this.#unstored = new Unstored(options.store, this.#core, this.#attempts);
    this.#unhandled = new UnhandledNames(this.#core, options.store);
    addStatsSource(this, () => this.stats());
  }

  /** @internal */
  async open(): Promise<void> {
    try {
      await this.#store.open(this.#core, this.#attempts);
      this.#unhandled.open();
    } catch (error) {
      await this.#core.alarms.close();
      throw error;
    }
  }

  /**
   * Delivers the timers of a name to the handler, in this process or in another that handles the name. A handler runs
   * outside all async contexts. Names do not wait for each other. Throws InvalidArgumentError, also if the name has a
   * handler already; InvalidConfigError.
   */
  handle<Name extends keyof Payloads & string>(
    name: Name,
    handler: DurableHandler<Payloads[Name]>,
    options?: HandleOptions,
  ): this {
    this.#require('handle', name);
    requireHandler(handler, name, this.#core.handlers.has(name));
    const { concurrency = this.#options.concurrency, timeout } = requireHandleOptions(options);
    this.#core.handlers.set(name, { handler: handler as DurableHandler<unknown>, concurrency, timeout });
    outsideContexts(() => this.#store.deliver(name));
    return this;
  }

  /**
   * Schedules a timer for a time of the wall clock; moves the one of the same name and key, its payload included.
   * Resolves when it is as safe as the store makes it; with `persistAfter`, at once. A deadline in the past is due now.
   * If an attempt runs, this timer comes after it, whatever becomes of that. Resolves with whether it has changed
   * anything: with false only if `ifAbsent` or `keep` has kept what is there.
   * @throws InvalidArgumentError, InvalidConfigError, InvalidDeadlineError, PayloadError: nothing was scheduled.
   * DurableStoreError: the timer may be stored or not; the call may be repeated.
   * @cost One write to the store, in a group with others of the same time; none while the timer is young.
   */
  schedule<Name extends keyof Payloads & string>(
    name: Name,
    key: string,
    deadline: WallClockTime,
    payload: Payloads[Name],
    options?: ScheduleOptions,
  ): Promise<boolean>;
  /** Without a payload, if the name needs none. */
  schedule(name: NamesWithoutPayload<Payloads>, key: string, deadline: WallClockTime): Promise<boolean>;
  async schedule(
    name: string,
    key: string,
    deadline: WallClockTime,
    payload?: unknown,
    options?: ScheduleOptions,
  ): Promise<boolean> {
    this.#require('schedule', name, key);
    return this.#schedule(name, key, requireDeadlineTime(deadline, this.#core.clock.now()), payload, options);
  }

  /**
   * As {@link schedule}, in `delay` ms from now by the wall clock; less than 0 is as good as 0.
   * @throws As `schedule`.
   * @cost As `schedule`.
   */
  scheduleAfter<Name extends keyof Payloads & string>(
    name: Name,
    key: string,
    delay: number,
    payload: Payloads[Name],
    options?: ScheduleOptions,
  ): Promise<boolean>;
  /** Without a payload, if the name needs none. */
  scheduleAfter(name: NamesWithoutPayload<Payloads>, key: string, delay: number): Promise<boolean>;
  async scheduleAfter(
    name: string,
    key: string,
    delay: number,
    payload?: unknown,
    options?: ScheduleOptions,
  ): Promise<boolean> {
    this.#require('scheduleAfter', name, key);
    return this.#schedule(name, key, requireDelayedTime(delay, this.#core.clock.now()), payload, options);
  }

  #schedule(
    name: string,
    key: string,
    deadline: number,
    payload: unknown,
    options: ScheduleOptions | undefined,
  ): Promise<boolean> {
    const { payloadFormat, maxPayloadBytes } = this.#options;
    const bytes = encodePayload(payload, payloadFormat, maxPayloadBytes);
    const timer = { name, key, deadline, due: dueTime(deadline), attempts: 0, payload: bytes };
    const { persistAfter = this.#options.persistAfter, kept } = requireScheduleOptions(options);
    this.#core.counts.scheduled += 1;
    return this.#unstored.schedule(timer, this.#core.handlers.has(name) ? persistAfter : 0, kept);
  }

  /**
   * Moves a timer; it keeps its payload, and has all its attempts again. Resolves with true if none will begin before
   * the new deadline; with false if nothing is scheduled, or what was has begun to run: it is not scheduled anew, as
   * {@link schedule} would. Throws like {@link cancel}; InvalidDeadlineError.
   * @cost As `schedule`.
   */
  async reschedule(name: keyof Payloads & string, key: string, deadline: WallClockTime): Promise<boolean> {
    this.#require('reschedule', name, key);
    return this.#unstored.move(name, key, requireDeadlineTime(deadline, this.#core.clock.now()));
  }

  /**
   * Cancels a timer, also between two attempts. Resolves with true if no handler of it will run; while an attempt runs,
   * that is its last, and does not count. Resolves with false if there is none.
   * @throws InvalidArgumentError for a name or key; DurableStoreError: then it is cancelled or not.
   * @cost As `schedule`.
   */
  async cancel(name: keyof Payloads & string, key: string): Promise<boolean> {
    this.#require('cancel', name, key);
    const isCancelled = await this.#unstored.cancel(name, key);
    if (isCancelled) this.#core.counts.cancelled += 1;
    return isCancelled;
  }

  /**
   * Resolves with what is scheduled for a key, also between two attempts; undefined if there is none, or it has begun
   * to run. Rejects with DurableStoreError: ERR_STORE_CORRUPT if what is stored of it is damaged.
   * @cost One read of the store, unless it is young.
   */
  async get<Name extends keyof Payloads & string>(
    name: Name,
    key: string,
  ): Promise<DurableTimer<Payloads[Name]> | undefined> {
    this.#require('get', name, key);
    const timer = this.#unstored.get(name, key) ?? (await this.#store.get(name, key));
    return timer === undefined ? undefined : shownTimer<Payloads[Name]>(timer);
  }

  /**
   * Resolves with the number of timers of a name that `get` would show; without a name, of all.
   * @cost With a name O(timers of the name), in slices; without one, O(1) but for those that are not stored yet,
   * and on BullMQ those that workers have.
   */
  async count(name?: keyof Payloads & string): Promise<number> {
    if (name === undefined) this.#requireOpen('count');
    else this.#require('count', name);
    let count = 0;
    if (name === undefined) count = await this.#unstored.count();
    else for await (const _ of this.#unstored.timers(name, '')) count += 1;
    this.#requireOpen('count');
    return count;
  }

  /**
   * Iterates over the timers of a name whose keys begin with the prefix. One that is there throughout is seen once;
   * others may come and go between two steps. One whose record is damaged is left out, which `'error'` says.
   * @cost One read per some hundred timers. On BullMQ one look at each, and one read of all that are due.
   */
  async *timers<Name extends keyof Payloads & string>(
    name: Name,
    prefix = '',
  ): AsyncGenerator<DurableTimer<Payloads[Name]>, void, undefined> {
    this.#require('timers', name);
    requirePrefix(prefix);
    if (!mayBeginKey(prefix)) return;
    for await (const timer of this.#unstored.timers(name, prefix)) {
      this.#requireOpen('timers');
      yield shownTimer(timer);
    }
  }

  /** Iterates over the timers of a name that have died and are kept. */
  async *deadLetters<Name extends keyof Payloads & string>(
    name: Name,
  ): AsyncGenerator<DeadLetter<Payloads[Name]>, void, undefined> {
    this.#require('deadLetters', name);
    for await (const dead of this.#store.dead(name)) {
      this.#requireOpen('deadLetters');
      yield shownDead(dead);
    }
  }

  /**
   * Forgets a dead letter. Resolves with whether there was one. To try it again, `schedule` its key and payload first.
   */
  async removeDeadLetter(name: keyof Payloads & string, key: string): Promise<boolean> {
    this.#require('removeDeadLetter', name, key);
    return this.#store.removeDead(name, key);
  }

  /**
   * Stores all timers that are in memory alone. Resolves when they are as safe as the store makes them.
   * @cost A write per such timer.
   */
  async flush(): Promise<void> {
    this.#requireOpen('flush');
    await this.#unstored.flush();
  }

  /**
   * Stores all timers that are in memory alone, and copies the store into a folder that does not exist yet, or is
   * empty: `lmdbStore` opens it. What is scheduled meanwhile is in the copy or not. Attempts that run are made again
   * from there.
   * @throws DurableStoreError; of other stores than LMDB's ERR_STORE_NO_BACKUP.
   * @cost A read of the store, and a write of what is in it, in a thread of the engine.
   */
  async backup(path: string): Promise<void> {
    this.#requireOpen('backup');
    requirePath(path);
    await this.#unstored.flush();
    await this.#store.backup(path);
  }

  /**
   * Resolves with counts of this process, and of the store.
   * @cost One read of the store; up to 10,000 index entries where as many are overdue.
   */
  async stats(): Promise<DurableStats> {
    const store = this.#closing === undefined ? this.#store.stats() : undefined;
    const answer = await store?.catch(this.#core.failed);
    return this.#core.counts.snapshot(this.#unstored.size, answer ?? undefined);
  }

  /**
   * Begins no further delivery, waits for the handlers that run, and stores what is in memory alone. Handlers that run
   * after `within` ms are waited for no longer: their timers are delivered again. Later calls return the same promise.
   * @throws by rejection: InvalidArgumentError, InvalidConfigError for the options: it is not closed. DurableStoreError
   * if the store does not answer, which says what is unknown: it is closed all the same.
   */
  close(options?: CloseOptions): Promise<void> {
    try {
      const within = requireWithin(options);
      this.#closing ??= this.#shutDown(within);
      return this.#closing;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #shutDown(within: number): Promise<void> {
    const store = this.#store;
    this.#unhandled.close();
    const steps: [what: string, work: () => Promise<void>][] = [
      ['whether other processes deliver its timers by now', () => store.stop()],
      ['', () => this.#attempts.close(within)],
      ['what has become of attempts, which may be made again', () => store.bounded(this.#attempts.written())],
      ['whether those in memory alone were stored', () => this.#unstored.close()],
      ['whether the store is closed', () => store.close()],
      ['', () => this.#core.alarms.close()],
    ];
    const unknown: string[] = [];
    let first: unknown;
    for (const [what, work] of steps) {
      await work().catch((error: unknown) => {
        first ??= error;
        unknown.push(what);
      });
    }
    if (unknown.length > 0) throw DurableStoreError.unknownAtClose(first, unknown);
  }

  #requireOpen(call: string): void {
    if (this.#closing !== undefined) throw new DurableTimersClosedError(call);
  }

  #require(call: string, name: string, ...keys: string[]): void {
    this.#requireOpen(call);
    requireName(name);
    keys.forEach(requireKey);
  }
}
