import { setImmediate } from '../../../time/native-timers.ts';
import type { Claim, Ending } from '../stored-timer.ts';
import { AlarmedTimer } from '../unstored/alarms.ts';
import type { WallClock } from '../wall-clock.ts';
import { DueOrder } from './due-order.ts';
import type { DuePlace, TimerRecord } from './record-table.ts';
import type { Opened, Rows } from './rows.ts';

/** Entries read from the index in one go: some 0.5 ms of LMDB. */
const PAGE = 500;
/** Overdue entries that a sweep looks at. */
const SWEPT = 100;

/** What the tiers of all names have together. */
export interface NearShare {
  readonly parts: Opened;
  readonly rows: Rows;
  /**
   * Most timers of a name that are due and wait. What waits survives the collections of the young generation, which
   * copy it.
   */
  readonly backlog: number;
  /** Whether a name that has `size` timers in memory may have more, if all may have `limit`. */
  hasRoom(size: number, limit: number): boolean;
  /** Something may be due that was not. */
  begin(): void;
}

/**
 * A timer of the table that is due soon:
 *
 *     near ──due──▶ due ────────▶ begun ──claim──▶ forgotten, as it is when it is cancelled, or moved away
 *       ▲────moved───┘
 */
export class NearTimer extends AlarmedTimer {
  state: 'near' | 'due' | 'begun' = 'near';
  place: DuePlace;
  private readonly tier: NearTier;

  constructor(tier: NearTier, place: DuePlace) {
    super(tier.share.parts.core.alarms);
    this.tier = tier;
    this.place = place;
  }

  get name(): string {
    return this.tier.name;
  }

  get key(): string {
    return this.place.key;
  }

  get due(): number {
    return this.place.due;
  }

  get delay(): number {
    return Math.max(0, this.tier.clock.until(this.place.due));
  }

  wake(): void {
    this.tier.wake(this);
  }

  claim(): Promise<Claim | undefined> {
    return this.tier.claim(this);
  }

  writeEnding(attempt: TimerRecord, ending: Ending): Promise<boolean> {
    return this.tier.share.rows.writeEnding(attempt, ending);
  }
}

/**
 * The timers of one name that are due soon: a disposable index over the table.
 *
 *     0 ──── now ─────────── covered ───── now + horizon ─────▶ due time
 *     │ in order │◀─ in the wheel ─▶│◀─ read next ─▶│   in the table alone
 *
 * Each entry of the table that is due before `covered` is here: in the wheel, in the order of what is due, or on its
 * way to a handler; and what is in order is due before `covered`. What there is no room for lowers it. Processes that
 * share the table may break that, and so may a clock that is set: `sweep` looks at the head of the index, and finds
 * what is due and not here. What is here and no longer in the table does no harm, as the table decides again when it is
 * due.
 *
 * Memory: some 300 bytes per timer. Costs no write.
 */
export class NearTier {
  readonly name: string;
  readonly share: NearShare;
  private readonly timers = new Map<string, NearTimer>();
  private readonly due = new DueOrder<NearTimer>();
  private covered: DuePlace = { due: 0, key: '' };
  /** Of the horizon. */
  private reading: 'resting' | 'reading' | 'ended' = 'resting';

  constructor(name: string, share: NearShare) {
    this.name = name;
    this.share = share;
  }

  get size(): number {
    return this.timers.size;
  }

  values(): Iterable<AlarmedTimer> {
    return this.timers.values();
  }

  /** The due time of the oldest that waits, ms since 1970; undefined if none does. */
  get oldest(): number | undefined {
    return this.due.oldest?.due;
  }

  /** Takes the oldest that waits, for an attempt. */
  take(): NearTimer | undefined {
    const timer = this.due.takeOldest();
    if (timer !== undefined) timer.state = 'begun';
    return timer;
  }

  /**
   * Reads what is due and has not been read, before what waits runs out: else this name's next would not be its oldest.
   * That has room however many are near.
   */
  refill(): void {
    let outcome = 'more';
    while (outcome === 'more' && this.covered.due <= this.clock.now() && this.due.size <= this.share.backlog / 2) {
      const until = this.hasRoom ? this.horizonEnd : this.clock.now() + 1;
      outcome = this.readPage(until, Math.min(PAGE, this.share.backlog - this.due.size));
    }
  }

  /** Reads what has come within the horizon, page by page, with a pass of the event loop after each. */
  async read(): Promise<void> {
    if (this.reading !== 'resting' || !this.isLow) return;
    this.reading = 'reading';
    try {
      const until = this.horizonEnd;
      while (this.reading === 'reading' && this.hasRoom && this.readPage(until, PAGE) === 'more') {
        await new Promise((resolve) => setImmediate(resolve));
        this.share.begin();
      }
    } finally {
      if (this.reading === 'reading') this.reading = 'resting';
    }
  }

  /** Finds what is due and not here: from another process, or because the clock was set. */
  sweep(): void {
    const now = this.clock.now();
    for (const entry of this.parts.table.due(this.name, { due: 0, key: '' }, now + 1, SWEPT)) {
      if (entry.due <= now) this.keep(entry);
    }
  }

  /** The table has stored or moved a timer. */
  noticed(key: string, due: number): void {
    const hasRoom = (): boolean => this.timers.has(key) || this.share.hasRoom(this.size, 2 * this.nearLimit);
    if (due > this.covered.due) this.remove(key);
    else if (due <= this.clock.now() || hasRoom()) this.keep({ key, due });
    else this.uncover(due);
  }

  /** The timer is no longer here. */
  remove(key: string): void {
    const timer = this.timers.get(key);
    if (timer === undefined) return;
    if (timer.state === 'due') this.due.remove(timer);
    this.forget(timer);
  }

  wake(timer: NearTimer): void {
    this.wait(timer);
    this.share.begin();
  }

  /** Takes a timer from here, and for this process. */
  async claim(timer: NearTimer): Promise<Claim | undefined> {
    if (this.reading === 'ended') return undefined;
    if (this.timers.get(timer.key) === timer) this.forget(timer);
    return this.share.rows.claim(timer);
  }

  end(): void {
    this.reading = 'ended';
    for (const key of [...this.timers.keys()]) this.remove(key);
  }

  get clock(): WallClock {
    return this.parts.core.clock;
  }

  private get parts(): Opened {
    return this.share.parts;
  }

  private get nearLimit(): number {
    return this.parts.core.settings.nearLimit;
  }

  private get horizonEnd(): number {
    return this.clock.now() + this.parts.core.settings.horizon;
  }

  /** Whether more is to be read: half of what may be here is used up, and half of the horizon. */
  private get isLow(): boolean {
    const { horizon } = this.parts.core.settings;
    return this.share.hasRoom(this.size, this.nearLimit / 2) && this.covered.due <= this.clock.now() + horizon / 2;
  }

  private get hasRoom(): boolean {
    return this.share.hasRoom(this.size, this.nearLimit);
  }

  private readPage(until: number, limit: number): 'more' | 'all' | 'full' {
    if (this.due.size >= this.share.backlog) return 'full';
    const { table } = this.parts;
    table.refresh();
    const entries = table.due(this.name, this.covered, until, limit);
    for (const entry of entries) {
      this.covered = entry;
      this.keep(entry);
      if (this.covered !== entry) return 'full';
    }
    if (entries.length === limit) return 'more';
    this.covered = { due: until, key: '' };
    return 'all';
  }

  private keep(place: DuePlace): void {
    const timer = this.timers.get(place.key) ?? new NearTimer(this, place);
    if (timer.state === 'begun') return; // on its way to a handler, which asks the table
    if (timer.state === 'due') {
      if (timer.due === place.due) return;
      this.due.remove(timer);
    }
    timer.state = 'near';
    timer.place = place;
    this.timers.set(place.key, timer);
    if (place.due <= this.clock.now()) this.wait(timer);
    // the scheduler, which may be the caller's, has no room
    else if (!this.parts.core.alarms.set(timer)) this.letGo(timer);
  }

  /**
   * The timer waits until it is the oldest of those that may begin; unless older ones have not been read, and this is
   * with them.
   */
  private wait(timer: NearTimer): void {
    if (timer.due > this.covered.due) {
      this.forget(timer);
      return;
    }
    this.parts.core.alarms.unset(timer);
    timer.state = 'due';
    this.due.add(timer);
    if (this.due.size <= this.share.backlog) return;
    const newest = this.due.takeNewest();
    if (newest !== undefined) this.letGo(newest);
  }

  /** There is no room for the timer: it is read again. */
  private letGo(timer: NearTimer): void {
    this.forget(timer);
    this.uncover(timer.due);
  }

  private uncover(due: number): void {
    if (due <= this.covered.due) this.covered = { due, key: '' };
  }

  private forget(timer: NearTimer): void {
    this.timers.delete(timer.key);
    this.parts.core.alarms.unset(timer);
  }
}
