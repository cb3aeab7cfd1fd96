import { setTimeout } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { KeyOrder } from '../attempts/work-order.ts';
import { wholePrefix } from '../durable-arguments.ts';
import type { DurableStore } from '../durable-store.ts';
import { type Kept, replaces } from '../kept.ts';
import { type Claim, dueTime, type Ending, idOf, type Overtaken, type StoredTimer } from '../stored-timer.ts';
import type { Alarms } from './alarms.ts';
import { type UnstoredKeeper, type UnstoredState, UnstoredTimer } from './unstored-timer.ts';

/** ms until a timer that could not be stored is stored again. */
const PAUSE_MS = 1000;

/**
 * The timers that are in memory alone, as they were scheduled less than `persistAfter` ago. What is scheduled for a key
 * is here or in the store:
 *
 *     schedule ──▶ young ──due──▶ due ────────▶ running ──▶ ended; young again, for the next attempt
 *         │          │  ▲          │               └─ schedule, cancel ─▶ ended
 *         │          │  └──moved───┤
 *         │          └─persistAfter┴─▶ storing ──▶ stored
 *         └─stored already, no room, or persistAfter is 0─▶ the store's
 *
 * unstored-timer.ts has the table. To move, cancel or deliver what is young or due costs no write, and is done at once
 * unless a call for the key is under way; what goes to the store takes its turn by key.
 */
export class Unstored implements UnstoredKeeper {
  readonly alarms: Alarms;
  readonly now: () => number;
  private readonly store: DurableStore;
  private readonly core: DurableCore;
  private readonly attempts: Attempts;
  /** By id. What is forgotten is not here. */
  private readonly known = new Map<string, UnstoredTimer>();
  private readonly order = new KeyOrder();
  /** How many of the known ones run. */
  private running = 0;

  constructor(store: DurableStore, core: DurableCore, attempts: Attempts, now = performanceNow) {
    this.now = now;
    this.alarms = core.alarms;
    this.store = store;
    this.core = core;
    this.attempts = attempts;
    core.alarms.add(() => this.known.values());
  }

  /** How many are scheduled. */
  get size(): number {
    return this.known.size - this.running;
  }

  /** The timer that is scheduled for a key, if it is in memory alone. */
  get(name: string, key: string): StoredTimer | undefined {
    const found = this.known.get(idOf({ name, key }));
    return found?.isScheduled ? found.timer : undefined;
  }

  /**
   * The timers of a name whose keys begin with the prefix, here and in the store; one on its way there is seen once.
   */
  async *timers(name: string, prefix: string): AsyncGenerator<StoredTimer, void, undefined> {
    const isAsked = (timer: StoredTimer): boolean => timer.name === name && timer.key.startsWith(prefix);
    const here = this.scheduled.map(({ timer }) => timer).filter(isAsked);
    const seen = new Set(here.map(({ key }) => key));
    yield* here;
    for await (const timer of this.store.timers(name, wholePrefix(prefix))) {
      if (isAsked(timer) && !seen.has(timer.key)) yield timer;
    }
  }

  /** The number of timers here and in the store. */
  async count(): Promise<number> {
    const areMissing = this.scheduled.map(
      async (known) => known.isOursAlone || !(await this.store.has(known.name, known.key)),
    );
    return (await Promise.all(areMissing)).filter((isMissing) => isMissing).length + (await this.store.count());
  }

  /**
   * Keeps a timer in memory for `youth` ms, or stores it; in place of what is scheduled only where `replaces` says so.
   * Resolves with whether it has changed anything. Rejects with DurableStoreError.
   */
  schedule(timer: StoredTimer, youth: number, kept?: Kept): Promise<boolean> {
    const id = idOf(timer);
    return this.inTurn(
      id,
      () => this.scheduleHere(id, timer, youth, kept),
      () => this.scheduleAnywhere(id, timer, youth, kept),
    );
  }

  /** Rejects with DurableStoreError. */
  move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = idOf({ name, key });
    return this.inTurn(
      id,
      () => this.moveHere(id, deadline),
      async () => {
        await this.storeScheduled(this.known.get(id));
        return this.store.move(name, key, deadline);
      },
    );
  }

  /** Rejects with DurableStoreError. */
  cancel(name: string, key: string): Promise<boolean> {
    const id = idOf({ name, key });
    return this.inTurn(
      id,
      () => this.cancelHere(id),
      async () => {
        const attempt = this.attempts.underWay(name, key);
        const isRemoved = await this.store.remove(name, key);
        if (isRemoved) attempt?.end('cancelled');
        const storing = this.known.get(id);
        if (storing !== undefined) this.change(storing, 'ended');
        return isRemoved || storing !== undefined;
      },
    );
  }

  /** Stores all. Rejects with DurableStoreError. */
  async flush(): Promise<void> {
    const stored = this.scheduled.map((timer) => this.order.run(idOf(timer), () => this.storeScheduled(timer)));
    await this.store.bounded(Promise.all(stored));
  }

  /** Resolves when nothing is under way and all is stored. What cannot be stored is dropped. */
  async close(): Promise<void> {
    try {
      await this.store.bounded(this.order.idle());
      await this.flush();
    } finally {
      for (const timer of [...this.known.values()]) this.change(timer, 'ended');
    }
  }

  /** The timer is due, or to be stored. */
  wake(timer: UnstoredTimer): void {
    if (timer.state === 'young' && timer.timer.due <= this.core.clock.now()) {
      this.change(timer, 'due');
      this.attempts.push(timer);
      if (timer.isOursAlone) this.arm(timer); // it waits for a handler
    } else if (this.now() >= timer.storeAt) {
      this.storeSoon(timer);
    } else {
      this.arm(timer); // the wall clock was set back
    }
  }

  async claim(timer: UnstoredTimer): Promise<Claim | undefined> {
    if (timer.state !== 'due') return undefined;
    if (timer.timer.due > this.core.clock.now()) {
      this.makeYoung(timer, timer.timer); // the wall clock was set back
      return undefined;
    }
    this.change(timer, 'running');
    const attempt = { ...timer.timer, attempts: timer.timer.attempts + 1 };
    return { attempt, over: () => (timer.state === 'running' ? undefined : 'superseded') };
  }

  /** After the calls for the key that are under way, as they may end the attempt. */
  async writeEnding(timer: UnstoredTimer, ending: Ending): Promise<boolean> {
    const id = idOf(timer);
    if (ending.kind === 'done' && !this.order.has(id)) return this.conclude(timer, ending);
    return this.order.run(id, async () => {
      if (timer.state === 'running' && ending.kind === 'dead') await this.store.bury(ending.timer);
      return this.conclude(timer, ending);
    });
  }

  /** Returns whether what became of the attempt counts. */
  private conclude(timer: UnstoredTimer, ending: Ending): boolean {
    if (ending.kind === 'done') this.core.counts.endedYoung += 1;
    if (timer.state !== 'running') return false;
    if (ending.kind === 'again') this.makeYoung(timer, ending.timer);
    else this.change(timer, 'ended');
    return true;
  }

  /**
   * Does the work of a call when the key's turn comes: `here`, in memory, if it can be, which is tried at once if
   * nothing of the key is under way; `here` returns undefined, and has changed nothing, if the store is to be asked.
   * The turn lasts until it is certain what has been done; the caller waits less.
   */
  private async inTurn(
    id: string,
    here: () => boolean | undefined,
    anywhere: () => Promise<boolean>,
  ): Promise<boolean> {
    const answer = this.order.has(id) ? undefined : here();
    return answer ?? this.store.bounded(this.order.run(id, async () => here() ?? anywhere()));
  }

  private get scheduled(): UnstoredTimer[] {
    return [...this.known.values()].filter(({ isScheduled }) => isScheduled);
  }

  private get hasRoom(): boolean {
    return this.size < this.core.settings.youngLimit;
  }

  /** Replaces what is scheduled here, or follows what runs here: in both cases the store does not know the key. */
  private scheduleHere(id: string, timer: StoredTimer, youth: number, kept: Kept): boolean | undefined {
    const found = this.known.get(id);
    if (found?.isOursAlone && !replaces(timer, found.timer, kept)) return false;
    if (found === undefined || youth === 0) return undefined;
    if (found.isOursAlone) this.makeYoung(found, timer);
    else if (found.state === 'running' && kept === undefined && this.hasRoom) this.keep(id, timer, youth);
    else return undefined;
    return true;
  }

  /** Where something else is to be kept only the store knows whether another process has scheduled it. */
  private async scheduleAnywhere(id: string, timer: StoredTimer, youth: number, kept: Kept): Promise<boolean> {
    const found = this.known.get(id);
    const isDecided = kept === undefined || found?.isOursAlone;
    const attempt = this.attempts.underWay(timer.name, timer.key);
    if (found?.isScheduled && isDecided) {
      await this.handOver(found, timer);
      attempt?.end('superseded');
      return true;
    }
    if (kept === undefined && youth > 0 && this.hasRoom && !(await this.store.has(timer.name, timer.key))) {
      this.keep(id, timer, youth);
      return true;
    }
    await this.storeScheduled(found);
    const isStored = await this.store.put(timer, kept);
    if (!isStored) return false;
    attempt?.end('superseded');
    this.endAttempt(id, 'superseded');
    return true;
  }

  private moveHere(id: string, deadline: number): boolean | undefined {
    const found = this.known.get(id);
    if (!found?.isOursAlone) return undefined;
    this.makeYoung(found, { ...found.timer, deadline, due: dueTime(deadline), attempts: 0 });
    return true;
  }

  private cancelHere(id: string): boolean | undefined {
    const found = this.known.get(id);
    if (found === undefined || found.state === 'storing') return undefined;
    if (found.isOursAlone) this.core.counts.endedYoung += 1;
    if (found.state === 'running') this.endAttempt(id, 'cancelled');
    else this.change(found, 'ended');
    return true;
  }

  /** Keeps a timer in memory, in place of an attempt that runs. */
  private keep(id: string, timer: StoredTimer, youth: number): void {
    this.endAttempt(id, 'superseded');
    const young = new UnstoredTimer(this, timer, this.now() + youth);
    this.known.set(id, young);
    this.arm(young);
  }

  /** Ends an attempt of what is in memory alone, if one runs; its handler is told. */
  private endAttempt(id: string, how: Overtaken): void {
    const found = this.known.get(id);
    if (found?.state !== 'running') return;
    this.change(found, 'ended');
    this.attempts.underWay(found.name, found.key)?.end(how);
  }

  private async storeScheduled(timer: UnstoredTimer | undefined): Promise<void> {
    if (timer?.isScheduled) await this.handOver(timer, timer.timer);
  }

  /** Hands a timer to the store, as `stored`. If that fails it is tried again, as it was. */
  private async handOver(timer: UnstoredTimer, stored: StoredTimer): Promise<void> {
    this.change(timer, 'storing');
    try {
      await this.store.put(stored);
    } catch (error) {
      timer.storeAt = this.now() + PAUSE_MS;
      if (timer.state === 'storing') this.arm(timer);
      throw error;
    }
    if (timer.state === 'storing') this.change(timer, 'stored'); // else dropped by `close`
  }

  private makeYoung(timer: UnstoredTimer, as: StoredTimer): void {
    timer.timer = as;
    this.change(timer, 'young');
    this.arm(timer);
  }

  /** Changes the state of a timer, and forgets it here if that is its last. */
  private change(timer: UnstoredTimer, to: UnstoredState): void {
    if (timer.state === 'running') this.running -= 1;
    if (to === 'running') this.running += 1;
    timer.become(to);
    if (to !== 'young' && to !== 'due') this.alarms.unset(timer);
    if (timer.isForgotten) this.known.delete(idOf(timer));
  }

  /** Without room in the scheduler it is stored at once. */
  private arm(timer: UnstoredTimer): void {
    if (this.alarms.set(timer)) return;
    if (timer.state === 'storing') setTimeout(() => this.storeSoon(timer), PAUSE_MS).unref();
    else this.storeSoon(timer);
  }

  private storeSoon(timer: UnstoredTimer): void {
    const stored = this.order.run(idOf(timer), () => this.storeScheduled(timer));
    this.store.bounded(stored).catch(this.core.failed);
  }
}
