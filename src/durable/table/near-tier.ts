import { setImmediate } from '../../time/native-timers.ts';
import { type Alarms, HeldTimer } from '../alarms.ts';
import type { Claim, Ending } from '../stored-timer.ts';
import type { DuePlace, TimerRecord } from './record-table.ts';
import type { Opened, Rows } from './rows.ts';

/** Entries read from the index in one go: some 0.5 ms of LMDB. */
const PAGE = 500;
/** Overdue entries that a sweep looks at. */
const SWEPT = 100;
/**
 * Timers on their way to a handler above which no more are read, until half of them have begun. What waits here survives the young
 * generation's collections, which copy it: with 100,000 waiting each stops the event loop for 20 ms and more.
 */
const BACKLOG = 2000;

/** A timer of the table that is due soon, or on its way to a handler. */
class NearTimer extends HeldTimer {
  state: 'waiting' | 'due' = 'waiting';
  place: DuePlace;
  private readonly tier: NearTier;

  constructor(tier: NearTier, place: DuePlace) {
    super(tier.alarms);
    this.tier = tier;
    this.place = place;
  }

  get name(): string {
    return this.tier.name;
  }

  get key(): string {
    return this.place.key;
  }

  get delay(): number {
    return Math.max(0, this.tier.alarms.clock.until(this.place.due));
  }

  wake(): void {
    this.tier.wake(this);
  }

  claim(): Promise<Claim | undefined> {
    return this.tier.claim(this);
  }

  settle(attempt: TimerRecord, ending: Ending): Promise<boolean> {
    return this.tier.settle(attempt, ending);
  }
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
 * Memory: some 300 bytes per timer, for at most `nearLimit` timers. Costs no write.
 */
export class NearTier {
  readonly alarms: Alarms;
  readonly name: string;
  private readonly parts: Opened;
  private readonly rows: Rows;
  private readonly backlog: number;
  private readonly timers = new Map<string, NearTimer>();
  private covered: DuePlace = { due: 0, key: '' };
  /** Timers that have fired and were not removed. */
  private onTheirWay = 0;
  private isHeldBack = false;
  private isReading = false;
  private isEnded = false;

  constructor(name: string, parts: Opened, rows: Rows) {
    const { alarms, settings } = parts.host;
    this.name = name;
    this.alarms = alarms;
    this.parts = parts;
    this.rows = rows;
    this.backlog = Math.min(BACKLOG, settings.nearLimit);
  }

  get size(): number {
    return this.timers.size;
  }

  values(): Iterable<HeldTimer> {
    return this.timers.values();
  }

  /** Reads what has come within the horizon, page by page, with a pass of the event loop after each. */
  async read(): Promise<void> {
    const { table, host } = this.parts;
    const { horizon, nearLimit } = host.settings;
    if (this.isReading || this.size > nearLimit / 2 || this.covered.due > host.clock.now() + horizon / 2) return;
    this.isReading = true;
    try {
      const until = host.clock.now() + horizon;
      while (!this.isEnded && this.size < nearLimit) {
        this.isHeldBack = this.onTheirWay >= this.backlog;
        if (this.isHeldBack) break;
        table.refresh();
        const entries = table.due(this.name, this.covered, until, PAGE);
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
    const now = this.parts.host.clock.now();
    for (const entry of this.parts.table.due(this.name, { due: 0, key: '' }, now + 1, SWEPT)) {
      if (entry.due > now) return;
      const timer = this.timers.get(entry.key);
      if (timer === undefined) this.add(entry);
      else if (timer.state === 'waiting') this.wake(timer);
    }
  }

  /** The table has stored or moved a timer. */
  noticed(key: string, due: number): void {
    if (due > this.covered.due) {
      this.remove(key);
      return;
    }
    const mayBeAdded = this.timers.has(key) || this.size < 2 * this.parts.host.settings.nearLimit;
    if (!mayBeAdded || !this.add({ key, due })) this.covered = { due, key: '' }; // it will be read when there is room
  }

  /** The timer is no longer here. */
  remove(key: string): void {
    const timer = this.timers.get(key);
    if (timer === undefined) return;
    this.timers.delete(key);
    this.alarms.unset(timer);
    if (timer.state === 'waiting') return;
    this.onTheirWay -= 1;
    if (this.isHeldBack && this.onTheirWay <= this.backlog / 2) this.readOn();
  }

  wake(timer: NearTimer): void {
    this.alarms.unset(timer);
    timer.state = 'due';
    this.onTheirWay += 1;
    this.parts.delivery.push(timer);
  }

  /** Takes a timer from here, and for this process. */
  async claim(timer: NearTimer): Promise<Claim | undefined> {
    if (this.isEnded) return undefined;
    if (this.timers.get(timer.key) === timer) this.remove(timer.key);
    return this.rows.claim(this.name, timer.key);
  }

  settle(attempt: TimerRecord, ending: Ending): Promise<boolean> {
    return this.rows.settle(attempt, ending);
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
  private add(place: DuePlace): boolean {
    if (this.isEnded) return true;
    const timer = this.timers.get(place.key) ?? new NearTimer(this, place);
    if (timer.state !== 'waiting') return true; // on its way to a handler, which asks the table
    timer.place = place;
    this.timers.set(place.key, timer);
    if (place.due <= this.parts.host.clock.now()) this.wake(timer);
    else if (!this.alarms.set(timer)) return !this.timers.delete(place.key);
    return true;
  }
}
