import type { Scheduler } from '../scheduler/scheduler.ts';
import { dueTime } from './due-time.ts';
import type { DeadTimer, DurableStore, StoredTimer } from './durable-store.ts';
import { KeyOrder } from './key-order.ts';
import { Limiter } from './limiter.ts';
import { pauseAfter, type RetryPolicy } from './retry-policy.ts';
import { YoungTier, type YoungTimer } from './young-tier.ts';

/** ms until a timer that could not be stored is tried again. */
const RETRY_PAUSE_MS = 1000;

/** What the tiers need of the durable timers. */
export interface TierHost {
  readonly retry: RetryPolicy;
  /** Whether no further handler can begin at present. */
  readonly isBusy: boolean;
  run(timer: StoredTimer): Promise<void>;
  died(timer: DeadTimer): void;
  failed(error: Error): void;
  /** A timer has ended that no store has seen. */
  endedYoung(): void;
}

/** A call whose caller may have ceased to wait. */
interface Call {
  isAbandoned: boolean;
}

/**
 * The two tiers of timers, as one: those that are in memory alone, and those that the store has. A key is in one of them.
 *
 *     schedule ──▶ young ──due──▶ handler            cancelled or due within persistAfter: no write
 *         │          │
 *         │          └─after persistAfter─▶ store ──due──▶ handler
 *         └─stored already, or persistAfter is 0─▶ store
 *
 * Once a young timer has been handed to the store, only the store delivers it, so that it is not delivered twice if the store has it
 * without having been able to say so.
 */
export class TieredStore {
  private readonly store: DurableStore;
  private readonly host: TierHost;
  private readonly young: YoungTier;
  private readonly order = new KeyOrder();
  private readonly pending: Limiter;

  constructor(
    store: DurableStore,
    scheduler: Scheduler,
    { youngLimit, pendingLimit }: { youngLimit: number; pendingLimit: number },
    host: TierHost,
  ) {
    this.store = store;
    this.host = host;
    this.pending = new Limiter(pendingLimit);
    this.young = new YoungTier(scheduler, youngLimit, (young) => this.wake(young));
  }

  /** Timers in memory alone. */
  get size(): number {
    return this.young.size;
  }

  /** Keeps a timer in memory for `youth` ms, or stores it. Rejects with DurableStoreError. */
  async schedule(timer: StoredTimer, youth: number): Promise<void> {
    const id = idOf(timer);
    const young = youth > 0 ? this.settledYoung(id) : undefined;
    if (young !== undefined) this.young.move(young, timer);
    else await this.bounded(id, (call) => this.place(id, timer, youth, call));
  }

  /** Rejects with DurableStoreError. */
  async move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = idOf({ name, key });
    const young = this.settledYoung(id);
    return young === undefined
      ? this.bounded(id, (call) => this.moveStored(id, name, key, deadline, call))
      : this.moveYoung(young, deadline);
  }

  /** Rejects with DurableStoreError. */
  async cancel(name: string, key: string): Promise<boolean> {
    const id = idOf({ name, key });
    const young = this.settledYoung(id);
    return young === undefined ? this.bounded(id, (call) => this.remove(id, name, key, call)) : this.drop(young);
  }

  /** The timer of a key, if it is in memory alone. */
  get(name: string, key: string): StoredTimer | undefined {
    return this.young.get(idOf({ name, key }))?.timer;
  }

  /** The timers of a name that are in memory alone; without a name, all. */
  unstored(name: string | undefined): StoredTimer[] {
    return Array.from(this.young.values(), ({ timer }) => timer).filter(
      (timer) => name === undefined || timer.name === name,
    );
  }

  /** Stores all that are in memory alone. */
  async flush(): Promise<void> {
    const all = [...this.young.values()];
    const stored = all.map((young) => this.order.run(young.id, () => this.storeYoung(young)));
    await this.store.bounded(Promise.all(stored));
  }

  /** Resolves when nothing is under way and all is stored. What cannot be stored is dropped. */
  async close(): Promise<void> {
    try {
      await this.store.bounded(this.order.idle());
      await this.flush();
    } finally {
      for (const young of [...this.young.values()]) this.young.remove(young);
    }
  }

  /** The young timer of a key that nothing else is under way for. */
  private settledYoung(id: string): YoungTimer | undefined {
    if (this.order.has(id)) return undefined;
    const young = this.young.get(id);
    return young?.isUncertain ? undefined : young;
  }

  /**
   * Does the work of a call when the key's turn comes. The caller waits as long as the store allows; the key's turn lasts until it is
   * certain what has been done, so that no later call overtakes it. What has not begun by then is not done.
   */
  private async bounded<T>(id: string, work: (call: Call) => Promise<T>): Promise<T> {
    const call: Call = { isAbandoned: false };
    try {
      return await this.store.bounded(this.order.run(id, () => work(call)));
    } finally {
      call.isAbandoned = true;
    }
  }

  private async place(id: string, timer: StoredTimer, youth: number, call: Call): Promise<void> {
    if (call.isAbandoned) return;
    const young = this.young.get(id);
    if (youth > 0 && young !== undefined && !young.isUncertain) {
      this.young.move(young, timer);
      return;
    }
    const mayBeYoung = youth > 0 && young === undefined && !this.young.isFull;
    if (mayBeYoung && !(await this.store.has(timer.name, timer.key)) && !call.isAbandoned) {
      if (this.young.add(id, timer, youth)) return;
    }
    if (young !== undefined) this.young.unset(young);
    let isStored = false;
    try {
      isStored = await this.begun(call, () => this.store.put(timer));
    } finally {
      if (isStored && young !== undefined) this.young.remove(young);
      else if (young !== undefined) this.young.setAfter(young, RETRY_PAUSE_MS);
    }
  }

  private async moveStored(id: string, name: string, key: string, deadline: number, call: Call): Promise<boolean> {
    const young = this.young.get(id);
    if (young !== undefined) {
      if (!young.isUncertain) return this.moveYoung(young, deadline);
      await this.storeYoung(young);
    }
    let isMoved = false;
    await this.begun(call, async () => {
      isMoved = await this.store.move(name, key, deadline);
    });
    return isMoved;
  }

  private moveYoung(young: YoungTimer, deadline: number): true {
    this.young.move(young, { ...young.timer, deadline, due: dueTime(deadline) });
    return true;
  }

  private async remove(id: string, name: string, key: string, call: Call): Promise<boolean> {
    const young = this.young.get(id);
    if (young !== undefined && !young.isUncertain) return this.drop(young);
    let isRemoved = false;
    const isDone = await this.begun(call, async () => {
      isRemoved = await this.store.remove(name, key);
    });
    if (young === undefined || !isDone) return isRemoved;
    this.young.remove(young);
    return true;
  }

  /** Does what takes a place in the store's queue, unless the caller has ceased to wait before. Resolves with whether it has. */
  private begun(call: Call, work: () => Promise<void>): Promise<boolean> {
    return this.pending.run(async () => {
      if (call.isAbandoned) return false;
      await work();
      return true;
    });
  }

  private drop(young: YoungTimer): true {
    this.young.remove(young);
    this.host.endedYoung();
    return true;
  }

  /** A young timer is due, or is to be stored. */
  private wake(young: YoungTimer): void {
    const { id, timer } = young;
    const isDue = timer.due <= Date.now();
    const isSettled = this.settledYoung(id) !== undefined;
    if (isSettled && isDue && !this.host.isBusy) {
      this.drop(young);
      void this.deliver({ ...timer, attempts: timer.attempts + 1 });
    } else if (isSettled && !isDue && performance.now() < young.storeAt) {
      this.young.move(young, timer); // the wall clock was set back
    } else {
      this.order.run(id, () => this.storeYoung(young)).catch((error: Error) => this.host.failed(error));
    }
  }

  private async storeYoung(young: YoungTimer): Promise<void> {
    if (this.young.get(young.id) !== young) return;
    this.young.unset(young);
    young.isUncertain = true;
    const stored = this.pending.run(() => this.store.put(young.timer));
    this.store.bounded(stored).catch((error: Error) => this.host.failed(error));
    try {
      await stored;
    } catch (error) {
      this.young.setAfter(young, RETRY_PAUSE_MS);
      throw error;
    }
    this.young.remove(young);
  }

  /** Delivers a timer that no store has. If that fails, it is the store's from then on, unless its key was scheduled meanwhile. */
  private async deliver(timer: StoredTimer): Promise<void> {
    const failure = await this.host.run(timer).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (failure === undefined) return;
    const { retry } = this.host;
    const id = idOf(timer);
    const diedAt = Date.now();
    const again = { ...timer, due: diedAt + pauseAfter(timer.attempts, retry) };
    try {
      await this.order.run(id, async () => {
        if (timer.attempts >= retry.attempts) {
          const reason = failure.error instanceof Error ? failure.error.message : String(failure.error);
          const dead = { ...timer, diedAt, reason };
          await this.store.bury(dead);
          this.host.died(dead);
        } else if (this.young.get(id) === undefined && !(await this.store.has(timer.name, timer.key))) {
          await this.pending.run(() => this.store.put(again));
        }
      });
    } catch (error) {
      this.host.failed(error as Error);
      if (this.young.get(id) === undefined) this.young.add(id, again, RETRY_PAUSE_MS);
    }
  }
}

const idOf = ({ name, key }: { name: string; key: string }): string => `${name}\0${key}`;
