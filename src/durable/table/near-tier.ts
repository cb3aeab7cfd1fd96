import { CapacityExceededError } from '../../errors.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import { setImmediate } from '../../time/native-timers.ts';
import type { TimerId } from '../../timer-id.ts';
import type { DueEntry, DuePlace, RecordTable } from './record-table.ts';

/** Entries read from the index in one go: some 0.5 ms of LMDB. */
const PAGE = 500;
/** Overdue entries that a sweep looks at. */
const SWEPT = 100;
/**
 * Timers on their way to a handler above which no more are read, until half of them have begun. What waits here survives the young
 * generation's collections, which copy it: with 100,000 waiting each stops the event loop for 20 ms and more.
 */
const BACKLOG = 2000;

/** A timer of the near tier. */
export interface NearTimer {
  readonly tier: NearTier;
  readonly key: string;
  due: number;
  /** Its timer in the wheel; undefined once it has fired. */
  id: TimerId | undefined;
}

/**
 * The timers of one name that are due soon, in the wheel: a disposable index over the table.
 *
 *     0 ──── now ─────────── covered ───── now + horizon ─────▶ due time
 *            │◀─ in the wheel ─▶│◀─ read next ─▶│   in the table alone
 *
 * Each entry of the table that is due before `covered` is in the wheel, or on its way to a handler. Processes that share the table
 * may break that, and so may a clock that is set: `sweep` looks at the head of the index, and finds what is due and not here. What
 * is here and no longer in the table does no harm, as the table decides again when it is due.
 *
 * Memory: some 300 bytes per timer, for at most `limit` timers. Costs no write.
 */
export class NearTier {
  readonly name: string;
  private readonly table: RecordTable;
  private readonly scheduler: Scheduler;
  private readonly horizon: number;
  private readonly limit: number;
  private readonly backlog: number;
  private readonly fired: (timer: NearTimer) => void;
  private readonly timers = new Map<string, NearTimer>();
  private covered: DuePlace = { due: 0, key: '' };
  /** Timers that have fired and were not removed. */
  private onTheirWay = 0;
  private isHeldBack = false;
  private isReading = false;
  private isEnded = false;

  /** `fired` is called with each timer that is due, by the wheel's clock. It stays here until `remove`. */
  constructor(
    name: string,
    table: RecordTable,
    { scheduler, horizon, nearLimit }: { scheduler: Scheduler; horizon: number; nearLimit: number },
    fired: (timer: NearTimer) => void,
  ) {
    this.name = name;
    this.table = table;
    this.scheduler = scheduler;
    this.horizon = horizon;
    this.limit = nearLimit;
    this.backlog = Math.min(BACKLOG, nearLimit);
    this.fired = fired;
  }

  get size(): number {
    return this.timers.size;
  }

  /** Reads what has come within the horizon, page by page, with a pass of the event loop after each. */
  async read(): Promise<void> {
    if (this.isReading || this.size > this.limit / 2 || this.covered.due > Date.now() + this.horizon / 2) return;
    this.isReading = true;
    try {
      const until = Date.now() + this.horizon;
      while (!this.isEnded && this.size < this.limit) {
        this.isHeldBack = this.onTheirWay >= this.backlog;
        if (this.isHeldBack) break;
        this.table.refresh();
        const entries = this.table.due(this.name, this.covered, until, PAGE);
        const refused = entries.find((entry) => !this.add(entry));
        const isAll = refused === undefined && entries.length < PAGE;
        if (refused !== undefined) this.covered = { due: refused.due, key: '' };
        else this.covered = isAll ? { due: until, key: '' } : entries[PAGE - 1];
        if (isAll || refused !== undefined) break;
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.isReading = false;
    }
  }

  /** Finds what is due and not here: from another process, or because the clock was set. */
  sweep(): void {
    const now = Date.now();
    for (const entry of this.table.due(this.name, { due: 0, key: '' }, now, SWEPT)) {
      const timer = this.timers.get(entry.key);
      if (timer === undefined) this.add(entry);
      else if (timer.id !== undefined && this.scheduler.cancel(timer.id)) this.fire(timer);
    }
  }

  /** The table has stored or moved a timer. */
  noticed(key: string, due: number): void {
    if (due > this.covered.due) {
      this.remove(key);
      return;
    }
    const mayBeAdded = this.timers.has(key) || this.size < 2 * this.limit;
    if (!mayBeAdded || !this.add({ key, due })) this.covered = { due, key: '' }; // it will be read when there is room
  }

  /** The timer is no longer here. */
  remove(key: string): void {
    const timer = this.timers.get(key);
    if (timer === undefined) return;
    this.timers.delete(key);
    if (timer.id === undefined) {
      this.onTheirWay -= 1;
      if (this.isHeldBack && this.onTheirWay <= this.backlog / 2) this.readOn();
      return;
    }
    this.scheduler.cancel(timer.id);
    timer.id = undefined;
  }

  end(): void {
    this.isEnded = true;
    for (const key of [...this.timers.keys()]) this.remove(key);
  }

  private readOn(): void {
    this.isHeldBack = false;
    this.read().catch(() => undefined); // the next beat reads again, and tells
  }

  /** Returns false if the scheduler, which may be the caller's, has no room. */
  private add({ key, due }: Pick<DueEntry, 'key' | 'due'>): boolean {
    if (this.isEnded) return true;
    const delay = Math.max(0, due - Date.now());
    let timer = this.timers.get(key);
    if (timer === undefined) {
      timer = { tier: this, key, due, id: undefined };
      this.timers.set(key, timer);
    } else if (timer.id === undefined) {
      timer.due = due; // on its way to a handler, which asks the table
      return true;
    } else {
      timer.due = due;
      this.scheduler.cancel(timer.id);
    }
    if (delay === 0) {
      this.fire(timer);
      return true;
    }
    try {
      timer.id = this.scheduler.scheduleAfter(0, delay, this.fire, timer);
      return true;
    } catch (error) {
      this.timers.delete(key);
      if (error instanceof CapacityExceededError) return false;
      throw error;
    }
  }

  private readonly fire = (timer: NearTimer): void => {
    timer.id = undefined;
    this.onTheirWay += 1;
    this.fired(timer);
  };
}
