import { setImmediate, setTimeout } from '../../time/native-timers.ts';
import type { StoreHost } from '../durable-store.ts';
import { Fifo } from '../fifo.ts';
import { pauseAfter } from '../retry-policy.ts';
import type { NearTier, NearTimer } from './near-tier.ts';
import { newVersion, type RecordTable, type TimerRecord } from './record-table.ts';

/** ms until an operation of the table that failed is tried again. */
const RETRY_PAUSE_MS = 1000;
/** Deliveries that are begun in one go: some 2 ms. */
const MOST_BEGUN = 100;

/**
 * Delivers the timers that the near tiers fire, at most `concurrency` at a time, in the order in which they came.
 *
 *     fired ─▶ waiting ─▶ claimed: the record has this process as its owner, one attempt more ─▶ handler ─▶ removed, or due again
 *
 * A claim is a `replace`: of all processes that try, one succeeds. It is committed before the handler begins, so an attempt that
 * kills its process has been counted. Two deliveries of a key never overlap in a process: the second waits.
 */
export class Deliveries {
  private readonly table: RecordTable;
  private readonly host: StoreHost;
  private readonly waiting = new Fifo<NearTimer>();
  /** The keys with a delivery under way, each with the next timer of the key if it is due already. */
  private readonly busy = new Map<string, NearTimer | undefined>();
  private isClosed = false;
  private isResuming = false;
  private becameIdle: (() => void) | undefined;

  constructor(table: RecordTable, host: StoreHost) {
    this.table = table;
    this.host = host;
  }

  push(timer: NearTimer): void {
    this.waiting.push(timer);
    if (!this.isResuming) this.begin();
  }

  /** Begins no further delivery. Resolves when those under way have ended. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.busy.size === 0) return;
    await new Promise<void>((resolve) => {
      this.becameIdle = resolve;
    });
  }

  private readonly begin = (): void => {
    this.isResuming = false;
    for (let begun = 0; !this.isClosed && this.busy.size < this.host.concurrency; begun++) {
      if (begun === MOST_BEGUN) {
        this.resume();
        return;
      }
      const timer = this.waiting.shift();
      if (timer === undefined) return;
      const id = `${timer.tier.name}\0${timer.key}`;
      const isBusy = this.busy.has(id);
      this.busy.set(id, isBusy ? timer : undefined);
      if (!isBusy) void this.deliver(timer).finally(() => this.end(id));
    }
  };

  private resume(): void {
    if (this.isResuming) return;
    this.isResuming = true;
    setImmediate(this.begin);
  }

  private end(id: string): void {
    const next = this.busy.get(id);
    this.busy.delete(id);
    if (next !== undefined) this.waiting.push(next);
    if (!this.isResuming) this.begin();
    if (this.isClosed && this.busy.size === 0) this.becameIdle?.();
  }

  private async deliver({ tier, key, due }: NearTimer): Promise<void> {
    let record: TimerRecord | undefined;
    try {
      record = await this.claim(tier, key);
    } catch (error) {
      this.host.failed(error as Error);
      await this.pause();
      tier.noticed(key, due);
      return;
    }
    if (record === undefined) return;
    const failure = await this.host.run(record).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (failure === undefined) await this.insist(() => this.table.replace(record, undefined));
    else if (record.attempts >= this.host.retry.attempts) await this.bury(record, failure.error);
    else await this.putBack(tier, record);
  }

  /** Takes the timer from the near tier. Returns its record, as this process's, if it is due and nobody else's. */
  private async claim(tier: NearTier, key: string): Promise<TimerRecord | undefined> {
    tier.remove(key);
    const renewed = this.table.members.renewed();
    if (renewed !== undefined) await renewed;
    for (;;) {
      const record = this.table.read(tier.name, key);
      if (record === undefined || record.owner !== undefined) return undefined;
      if (record.due > Date.now()) {
        tier.noticed(key, record.due);
        return undefined;
      }
      if (record.attempts >= this.host.retry.attempts) {
        await this.bury(record, new Error('The process died during the last attempt'));
        return undefined;
      }
      const { self: owner } = this.table.members;
      const claimed = { ...record, attempts: record.attempts + 1, owner, version: newVersion() };
      if (await this.table.replace(record, claimed)) return claimed;
      this.table.refresh();
    }
  }

  private async bury(record: TimerRecord, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const dead = { ...record, diedAt: Date.now(), reason };
    if (await this.insist(() => this.table.replace(record, undefined, dead))) this.host.died(dead);
  }

  private async putBack(tier: NearTier, record: TimerRecord): Promise<void> {
    const due = Date.now() + pauseAfter(record.attempts, this.host.retry);
    const again = { ...record, due, owner: undefined, version: newVersion() };
    if (await this.insist(() => this.table.replace(record, again))) tier.noticed(record.key, due);
  }

  /**
   * Repeats what the table cannot do at present; until it can, the timer is this process's. Gives up when the store is closed: the
   * timer is then delivered again, as if the process had died.
   */
  private async insist(work: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.host.failed(error as Error);
        if (this.isClosed) return false;
        await this.pause();
      }
    }
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}
