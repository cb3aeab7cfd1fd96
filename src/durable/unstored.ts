import { setTimeout } from '../time/native-timers.ts';
import { type Alarms, HeldTimer, type TimerHolder } from './alarms.ts';
import type { Delivery } from './delivery.ts';
import type { DurableHost } from './durable-host.ts';
import type { DurableStore } from './durable-store.ts';
import { type Claim, dueTime, type Ending, idOf, type StoredTimer } from './stored-timer.ts';
import { KeyOrder } from './work-order.ts';

/** ms until a timer that could not be stored is stored again. */
const PAUSE_MS = 1000;

type UnstoredTimer = HeldTimer<StoredTimer>;

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
export class Unstored implements TimerHolder<StoredTimer> {
  readonly alarms: Alarms;
  private readonly store: DurableStore;
  private readonly host: DurableHost;
  private readonly delivery: Delivery;
  private readonly entries = new Map<string, UnstoredTimer>();
  private readonly running = new Map<string, UnstoredTimer>();
  private readonly order = new KeyOrder();

  constructor(store: DurableStore, host: DurableHost, delivery: Delivery) {
    this.alarms = host.alarms;
    this.store = store;
    this.host = host;
    this.delivery = delivery;
    host.alarms.add(() => this.entries.values());
  }

  get size(): number {
    return this.entries.size;
  }

  /** Keeps a timer in memory for `youth` ms, or stores it. Rejects with DurableStoreError. */
  schedule(timer: StoredTimer, youth: number): Promise<boolean> {
    const id = idOf(timer);
    return this.inTurn(
      id,
      () => youth > 0 && this.keep(id, timer, youth),
      () => this.place(id, timer, youth),
    );
  }

  /** Rejects with DurableStoreError. */
  move(name: string, key: string, deadline: number): Promise<boolean> {
    const id = idOf({ name, key });
    const inMemory = () => this.moveYoung(id, deadline);
    return this.inTurn(id, inMemory, async () => {
      const entry = this.entries.get(id);
      if (entry !== undefined) await this.storeEntry(entry);
      return this.store.move(name, key, deadline);
    });
  }

  /** Rejects with DurableStoreError. */
  cancel(name: string, key: string): Promise<boolean> {
    const id = idOf({ name, key });
    const inMemory = () => this.drop(id);
    return this.inTurn(id, inMemory, async () => {
      const isRemoved = await this.store.remove(name, key);
      return this.forget(id) || isRemoved; // it may have been storing
    });
  }

  /** The timer of a key, if it is in memory alone. */
  get(name: string, key: string): StoredTimer | undefined {
    return this.entries.get(idOf({ name, key }))?.of;
  }

  /** The timers of a name that are in memory alone; without a name, all. */
  timers(name: string | undefined): StoredTimer[] {
    const all = Array.from(this.entries.values(), ({ of }) => of);
    return name === undefined ? all : all.filter((timer) => timer.name === name);
  }

  /** Stores all. Rejects with DurableStoreError. */
  async flush(): Promise<void> {
    const all = [...this.entries.values()];
    const stored = all.map((entry) => this.order.run(idOf(entry), () => this.storeEntry(entry)));
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

  wake(entry: UnstoredTimer): void {
    if (entry.state === 'waiting' && entry.of.due <= Date.now()) {
      entry.state = 'due';
      this.delivery.push(entry);
      if (entry.state === 'due') this.arm(entry); // it waits for a slot
    } else if (performance.now() >= entry.storeAt) {
      this.storeSoon(entry);
    } else {
      this.arm(entry); // the wall clock was set back
    }
  }

  async claim(entry: UnstoredTimer): Promise<Claim | undefined> {
    if (entry.state !== 'due') return undefined;
    if (entry.of.due > Date.now()) {
      this.reset(entry, entry.of);
      return undefined;
    }
    const id = idOf(entry);
    this.forget(id);
    entry.state = 'running';
    this.running.set(id, entry);
    return { attempt: { ...entry.of, attempts: entry.of.attempts + 1 }, isOver: () => entry.state !== 'running' };
  }

  async settle(entry: UnstoredTimer, _: StoredTimer, ending: Ending): Promise<boolean> {
    const id = idOf(entry);
    if (ending.kind === 'done' && !this.order.has(id)) return this.conclude(id, entry, ending);
    return this.order.run(id, async () => {
      if (entry.state === 'running' && ending.kind === 'dead') await this.store.bury(ending.timer);
      return this.conclude(id, entry, ending);
    });
  }

  private conclude(id: string, entry: UnstoredTimer, ending: Ending): boolean {
    const counts = entry.state === 'running';
    this.running.delete(id);
    if (ending.kind === 'done') this.host.counts.endedYoung += 1;
    if (counts && ending.kind === 'again') {
      this.entries.set(id, entry);
      this.reset(entry, ending.timer);
    }
    return counts;
  }

  /**
   * Does the work of a call when the key's turn comes: in memory if it can be, which is tried at once if nothing of the key is under way.
   * The turn lasts until it is certain what has been done; the caller waits less.
   */
  private async inTurn(id: string, inMemory: () => boolean, work: () => Promise<boolean>): Promise<boolean> {
    if (!this.order.has(id) && inMemory()) return true;
    return this.store.bounded(this.order.run(id, async () => inMemory() || work()));
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
    const entry = new HeldTimer(this, timer.name, timer, performance.now() + youth);
    if (!this.hasRoom || !this.alarms.set(entry)) return false;
    this.entries.set(id, entry);
    this.endRunning(id);
    return true;
  }

  private get hasRoom(): boolean {
    return this.entries.size < this.host.settings.youngLimit;
  }

  private async place(id: string, timer: StoredTimer, youth: number): Promise<boolean> {
    const mayBeYoung = youth > 0 && !this.entries.has(id) && this.hasRoom;
    if (mayBeYoung && !(await this.store.has(timer.name, timer.key)) && this.add(id, timer, youth)) return true;
    const entry = this.entries.get(id);
    if (entry === undefined) await this.store.put(timer);
    else await this.hand(entry, timer);
    this.endRunning(id);
    return true;
  }

  private moveYoung(id: string, deadline: number): boolean {
    const young = this.young(id);
    if (young === undefined) return false;
    this.reset(young, { ...young.of, deadline, due: dueTime(deadline), attempts: 0 });
    return true;
  }

  /** Cancels what the store does not have. Returns false if there is none. */
  private drop(id: string): boolean {
    if (this.young(id) === undefined) return !this.entries.has(id) && this.endRunning(id);
    this.host.counts.endedYoung += 1;
    return this.forget(id);
  }

  private endRunning(id: string): boolean {
    const running = this.running.get(id);
    if (running?.state !== 'running') return false;
    running.state = 'ended';
    return true;
  }

  private async storeEntry(entry: UnstoredTimer): Promise<void> {
    if (this.entries.get(idOf(entry)) === entry) await this.hand(entry, entry.of);
  }

  /** Hands an entry to the store, as `timer`. If that fails it is tried again. */
  private async hand(entry: UnstoredTimer, timer: StoredTimer): Promise<void> {
    entry.state = 'storing';
    this.alarms.unset(entry);
    try {
      await this.store.put(timer);
      this.forget(idOf(entry));
    } catch (error) {
      entry.storeAt = performance.now() + PAUSE_MS;
      this.arm(entry);
      throw error;
    }
  }

  private reset(entry: UnstoredTimer, timer: StoredTimer): void {
    entry.of = timer;
    entry.state = 'waiting';
    this.arm(entry);
  }

  /** Without room in the scheduler it is stored at once. */
  private arm(entry: UnstoredTimer): void {
    if (this.alarms.set(entry)) return;
    if (entry.state === 'storing') setTimeout(() => this.storeSoon(entry), PAUSE_MS);
    else this.storeSoon(entry);
  }

  private storeSoon(entry: UnstoredTimer): void {
    this.store.bounded(this.order.run(idOf(entry), () => this.storeEntry(entry))).catch(this.host.failed);
  }

  private forget(id: string): boolean {
    const entry = this.entries.get(id);
    if (entry === undefined) return false;
    entry.state = 'ended'; // it may be due, and wait for a slot
    this.alarms.unset(entry);
    return this.entries.delete(id);
  }
}
