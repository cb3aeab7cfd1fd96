import { setTimeout } from '../time/native-timers.ts';
import type { Alarms } from './alarms.ts';
import type { Delivery, Ending } from './delivery.ts';
import type { DurableCounts } from './durable-stats.ts';
import type { DurableStore } from './durable-store.ts';
import { dueTime, type StoredTimer } from './stored-timer.ts';
import { type UnstoredOwner, UnstoredTimer } from './unstored-timer.ts';
import { KeyOrder } from './work-order.ts';

/** ms until a timer that could not be stored is stored again. */
const PAUSE_MS = 1000;

export interface UnstoredHost {
  readonly alarms: Alarms;
  readonly delivery: Delivery;
  readonly counts: DurableCounts;
  /** Most timers in memory alone. */
  readonly youngLimit: number;
  failed(error: Error): void;
}

/**
 * The timers that are in memory alone, as they were scheduled less than `persistAfter` ago. A key is here or in the store:
 *
 *     schedule ──▶ young ──due──▶ due ──slot──▶ running ──▶ forgotten; young again, for the next attempt; dead, in the store
 *         │          │  ▲          │               └─ schedule, cancel ─▶ ended: what becomes of the attempt does not count
 *         │          │  └──moved───┤
 *         │          └─persistAfter┴─▶ storing ──▶ the store's
 *         └─stored already, no room, or persistAfter is 0─▶ the store's
 *
 * What is storing is delivered by the store alone, as the store may have it without having been able to say so. To move, cancel or
 * deliver what is young costs no write. Calls that go to the store take their turn by key.
 */
export class Unstored implements UnstoredOwner {
  readonly alarms: Alarms;
  private readonly store: DurableStore;
  private readonly delivery: Delivery;
  private readonly counts: DurableCounts;
  private readonly limit: number;
  private readonly failed: (error: Error) => void;
  private readonly entries = new Map<string, UnstoredTimer>();
  private readonly running = new Map<string, UnstoredTimer>();
  private readonly order = new KeyOrder();

  constructor(store: DurableStore, { alarms, delivery, counts, youngLimit, failed }: UnstoredHost) {
    this.store = store;
    this.alarms = alarms;
    this.delivery = delivery;
    this.counts = counts;
    this.limit = youngLimit;
    this.failed = failed;
    alarms.add(() => this.entries.values());
  }

  get size(): number {
    return this.entries.size;
  }

  /** Keeps a timer in memory for `youth` ms, or stores it. Rejects with DurableStoreError. */
  async schedule(timer: StoredTimer, youth: number): Promise<void> {
    const id = idOf(timer);
    if (youth > 0 && this.isFree(id) && this.keep(id, timer, youth)) return;
    await this.inOrder(id, () => this.place(id, timer, youth));
  }

  /** Rejects with DurableStoreError. */
  async move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = idOf({ name, key });
    if (this.isFree(id) && this.moveYoung(id, deadline)) return true;
    return this.inOrder(id, async () => {
      if (this.moveYoung(id, deadline)) return true;
      const entry = this.entries.get(id);
      if (entry !== undefined) await this.storeEntry(entry);
      return this.store.move(name, key, deadline);
    });
  }

  /** Rejects with DurableStoreError. */
  async cancel(name: string, key: string): Promise<boolean> {
    const id = idOf({ name, key });
    if (this.isFree(id) && this.drop(id)) return true;
    return this.inOrder(id, async () => {
      if (this.drop(id)) return true;
      const isRemoved = await this.store.remove(name, key);
      return this.forget(id) || isRemoved; // it may have been storing
    });
  }

  /** The timer of a key, if it is in memory alone. */
  get(name: string, key: string): StoredTimer | undefined {
    return this.entries.get(idOf({ name, key }))?.timer;
  }

  /** The timers of a name that are in memory alone; without a name, all. */
  timers(name: string | undefined): StoredTimer[] {
    return Array.from(this.entries.values(), ({ timer }) => timer).filter(
      (timer) => name === undefined || timer.name === name,
    );
  }

  /** Stores all. Rejects with DurableStoreError. */
  async flush(): Promise<void> {
    const all = [...this.entries.values()];
    const stored = all.map((entry) => this.order.run(entry.id, () => this.storeEntry(entry)));
    await this.store.bounded(Promise.all(stored));
  }

  /** Resolves when nothing is under way and all is stored. What cannot be stored is dropped. */
  async close(): Promise<void> {
    try {
      await this.store.bounded(this.order.idle());
      await this.flush();
    } finally {
      for (const id of [...this.entries.keys()]) this.forget(id);
    }
  }

  /** An entry is due, or to be stored. */
  wake(entry: UnstoredTimer): void {
    if (entry.state === 'young' && entry.timer.due <= Date.now()) {
      entry.state = 'due';
      this.delivery.push(entry);
      if (entry.state === 'due') this.arm(entry); // it waits for a slot
    } else if (performance.now() >= entry.storeAt) {
      this.storeSoon(entry);
    } else {
      this.arm(entry); // the wall clock was set back
    }
  }

  claim(entry: UnstoredTimer): StoredTimer | undefined {
    if (entry.state !== 'due') return undefined;
    if (entry.timer.due > Date.now()) {
      this.reset(entry, entry.timer);
      return undefined;
    }
    this.forget(entry.id);
    entry.state = 'running';
    this.running.set(entry.id, entry);
    return { ...entry.timer, attempts: entry.timer.attempts + 1 };
  }

  async settle(entry: UnstoredTimer, ending: Ending): Promise<boolean> {
    if (ending.kind === 'done' && this.isFree(entry.id)) return this.conclude(entry, ending);
    return this.order.run(entry.id, async () => {
      if (entry.state === 'running' && ending.kind === 'dead') await this.store.bury(ending.timer);
      return this.conclude(entry, ending);
    });
  }

  private conclude(entry: UnstoredTimer, ending: Ending): boolean {
    const counts = entry.state === 'running';
    this.running.delete(entry.id);
    if (ending.kind === 'done') this.counts.endedYoung += 1;
    if (counts && ending.kind === 'again') {
      this.entries.set(entry.id, entry);
      this.reset(entry, ending.timer);
    }
    return counts;
  }

  private isFree(id: string): boolean {
    return !this.order.has(id);
  }

  /** Does the work of a call when the key's turn comes. The turn lasts until it is certain what has been done; the caller waits less. */
  private inOrder<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.store.bounded(this.order.run(id, work));
  }

  /** The entry of a key, unless the store may have it. */
  private young(id: string): UnstoredTimer | undefined {
    const entry = this.entries.get(id);
    return entry?.state === 'storing' ? undefined : entry;
  }

  /** Moves what is young, or follows what runs, as the store does not know the key. Returns false if the store is to be asked. */
  private keep(id: string, timer: StoredTimer, youth: number): boolean {
    const young = this.young(id);
    if (young !== undefined) {
      this.reset(young, timer);
      return true;
    }
    const isFirst = !this.entries.has(id) && this.running.get(id)?.state === 'running';
    return isFirst && this.add(id, timer, youth);
  }

  /** Returns false if there is no room. */
  private add(id: string, timer: StoredTimer, youth: number): boolean {
    const entry = new UnstoredTimer(this, id, timer, youth);
    if (this.entries.size >= this.limit || !this.alarms.set(entry)) return false;
    this.entries.set(id, entry);
    this.endRunning(id);
    return true;
  }

  private async place(id: string, timer: StoredTimer, youth: number): Promise<void> {
    if (youth > 0) {
      if (this.keep(id, timer, youth)) return;
      const mayBeYoung = !this.entries.has(id) && this.entries.size < this.limit;
      if (mayBeYoung && !(await this.store.has(timer.name, timer.key)) && this.add(id, timer, youth)) return;
    }
    const entry = this.entries.get(id);
    if (entry === undefined) await this.store.put(timer);
    else await this.hand(entry, timer);
    this.endRunning(id);
  }

  private moveYoung(id: string, deadline: number): boolean {
    const young = this.young(id);
    if (young === undefined) return false;
    this.reset(young, { ...young.timer, deadline, due: dueTime(deadline), attempts: 0 });
    return true;
  }

  /** Cancels what the store does not have. Returns false if there is none. */
  private drop(id: string): boolean {
    if (this.young(id) === undefined) return !this.entries.has(id) && this.endRunning(id);
    this.counts.endedYoung += 1;
    return this.forget(id);
  }

  private endRunning(id: string): boolean {
    const running = this.running.get(id);
    if (running?.state !== 'running') return false;
    running.state = 'ended';
    return true;
  }

  private async storeEntry(entry: UnstoredTimer): Promise<void> {
    if (this.entries.get(entry.id) === entry) await this.hand(entry, entry.timer);
  }

  /** Hands an entry to the store, as `timer`. If that fails it is tried again. */
  private async hand(entry: UnstoredTimer, timer: StoredTimer): Promise<void> {
    entry.state = 'storing';
    this.alarms.unset(entry);
    try {
      await this.store.put(timer);
      this.forget(entry.id);
    } catch (error) {
      entry.storeAt = performance.now() + PAUSE_MS;
      this.arm(entry);
      throw error;
    }
  }

  private reset(entry: UnstoredTimer, timer: StoredTimer): void {
    entry.timer = timer;
    entry.state = 'young';
    this.arm(entry);
  }

  /** Without room in the scheduler it is stored at once. */
  private arm(entry: UnstoredTimer): void {
    if (this.alarms.set(entry)) return;
    if (entry.state === 'storing') setTimeout(() => this.storeSoon(entry), PAUSE_MS);
    else this.storeSoon(entry);
  }

  private storeSoon(entry: UnstoredTimer): void {
    this.inOrder(entry.id, () => this.storeEntry(entry)).catch(this.failed);
  }

  private forget(id: string): boolean {
    const entry = this.entries.get(id);
    if (entry !== undefined) this.alarms.unset(entry);
    return this.entries.delete(id);
  }
}

const idOf = ({ name, key }: { name: string; key: string }): string => `${name}\0${key}`;
