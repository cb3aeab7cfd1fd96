import { clearTimeout, setImmediate, setTimeout } from '../../time/native-timers.ts';
import type { Alarm } from '../alarms.ts';
import { DurableStoreError, DurableTimersClosedError } from '../durable-error.ts';
import type { StoreStats } from '../durable-stats.ts';
import type { DurableStore, StoreHost } from '../durable-store.ts';
import type { DeadTimer, StoredTimer } from '../stored-timer.ts';
import { NearTier } from './near-tier.ts';
import type { RecordTable, TimerRecord } from './record-table.ts';
import { Recovery } from './recovery.ts';
import { Rows } from './rows.ts';

/** ms between two looks at who leads, and at the head of the index. */
const BEAT_MS = 500;
/** ms between two looks at the head of the index while other processes have the table open: they may schedule what is due before. */
const SHARED_BEAT_MS = 25;
/** Records read in one go. */
const PAGE = 500;
/** Timers under way that are looked at in one go: the most that `concurrency` can be. */
const ACTIVE = 10_000;
/** Overdue timers that are counted. */
const COUNTED = 10_000;

interface Opened {
  readonly host: StoreHost;
  readonly table: RecordTable;
  readonly rows: Rows;
}

/**
 * A DurableStore on a RecordTable: the table is the truth, and the wheel holds what is near.
 *
 * For each name one of the processes that serve it leads: it has the near tier, and delivers. Who leads is recorded in the table;
 * when the leader has died another takes its place, and puts back what the dead one had under way. Leading is only a division of
 * labour: that a timer is delivered by one process is due to the claim, so two that both believe to lead do no harm.
 */
export class TableStore implements DurableStore {
  readonly kind: DurableStore['kind'];
  private readonly openTable: () => Promise<RecordTable>;
  private opened: Opened | undefined;
  private readonly served = new Set<string>();
  private readonly tiers = new Map<string, NearTier>();
  private recovery: Recovery | undefined;
  private state: 'closed' | 'open' | 'stopped' = 'closed';
  private lastBeat = Number.NEGATIVE_INFINITY;
  private stepping: Promise<void> | undefined;
  private nextBeat: NodeJS.Timeout | undefined;

  constructor(kind: DurableStore['kind'], openTable: () => Promise<RecordTable>) {
    this.kind = kind;
    this.openTable = openTable;
  }

  async open(host: StoreHost): Promise<void> {
    if (this.state !== 'closed') throw DurableStoreError.inUse(this.kind);
    this.state = 'open';
    try {
      const table = await this.openTable();
      const changed = (name: string, key: string, after: TimerRecord | undefined): void => {
        const tier = this.tiers.get(name);
        if (after?.state === 'scheduled') tier?.noticed(key, after.due);
        else tier?.remove(key);
      };
      this.opened = { host, table, rows: new Rows(table, { changed, failed: host.failed }) };
      this.recovery = new Recovery(table, host);
    } catch (error) {
      this.state = 'closed';
      throw error;
    }
    host.alarms.add(() => this.alarms());
    this.beat();
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return this.parts.table.bounded(work);
  }

  serve(name: string): void {
    this.served.add(name);
    this.lastBeat = Number.NEGATIVE_INFINITY;
    void this.step();
  }

  put(timer: StoredTimer): Promise<void> {
    return this.parts.rows.put(timer);
  }

  move(name: string, key: string, deadline: number): Promise<boolean> {
    return this.parts.rows.move(name, key, deadline);
  }

  remove(name: string, key: string): Promise<boolean> {
    return this.parts.rows.remove(name, key);
  }

  has(name: string, key: string): boolean {
    const { table } = this.parts;
    table.refresh();
    return table.read(name, key) !== undefined;
  }

  async get(name: string, key: string): Promise<StoredTimer | undefined> {
    return this.parts.rows.find(name, key);
  }

  async count(name: string | undefined): Promise<number> {
    const { table, rows } = this.parts;
    table.refresh();
    let count = name === undefined ? table.sizes().records : 0;
    if (name !== undefined) for await (const page of this.pages(name, '')) count += page.length;
    // Rows of which nothing is scheduled are under way: few.
    for (const of of name === undefined ? table.names() : []) {
      for (const { key } of table.active(of, ACTIVE))
        if (rows.scheduledOf(table.read(of, key)) === undefined) count -= 1;
    }
    return count;
  }

  async *timers(name: string, prefix: string): AsyncGenerator<StoredTimer> {
    for await (const page of this.pages(name, prefix)) yield* page;
  }

  async *dead(name: string): AsyncGenerator<DeadTimer> {
    let after: string | undefined;
    for (;;) {
      this.parts.table.refresh();
      const page = this.parts.table.dead(name, after, PAGE);
      yield* page;
      if (page.length < PAGE) return;
      after = page[PAGE - 1].key;
    }
  }

  bury(dead: DeadTimer): Promise<void> {
    return this.parts.table.bury(dead);
  }

  removeDead(name: string, key: string): Promise<boolean> {
    return this.parts.table.removeDead(name, key);
  }

  async stats(): Promise<StoreStats> {
    const { table } = this.parts;
    table.refresh();
    const { records, active, dead } = table.sizes();
    const now = Date.now();
    let overdue = 0;
    for (const name of table.names()) {
      overdue += table.due(name, { due: 0, key: '' }, now, COUNTED - overdue).length;
    }
    const near = [...this.tiers.values()].reduce((sum, { size }) => sum + size, 0);
    return { kind: this.kind, stored: records, overdue, active, dead, near, writes: table.writes };
  }

  async stop(): Promise<void> {
    if (this.opened === undefined) return;
    this.state = 'stopped';
    for (const tier of this.tiers.values()) tier.end();
    this.tiers.clear();
    this.served.clear();
    this.recovery?.end();
    const { table } = this.opened;
    await table.bounded(this.lastStep().then(() => table.members.resign()));
  }

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    const { table } = this.opened;
    this.opened = undefined;
    clearTimeout(this.nextBeat);
    const closed = this.lastStep().then(() => table.close());
    await table.bounded(
      closed.then(() => {
        this.state = 'closed';
      }),
    );
  }

  private lastStep(): Promise<void> {
    return this.stepping ?? Promise.resolve();
  }

  private get parts(): Opened {
    if (this.opened === undefined) throw new DurableTimersClosedError();
    return this.opened;
  }

  private *alarms(): Generator<Alarm> {
    for (const tier of this.tiers.values()) yield* tier.values();
  }

  /** Pages of what is scheduled, with a pass of the event loop after each. */
  private async *pages(name: string, prefix: string): AsyncGenerator<TimerRecord[]> {
    let after: string | undefined;
    for (;;) {
      const { table, rows } = this.parts;
      table.refresh();
      const page = table.records(name, prefix, after, PAGE);
      const end = page.findIndex(({ key }) => !key.startsWith(prefix));
      yield page.slice(0, end < 0 ? page.length : end).flatMap((row) => rows.scheduledOf(row) ?? []);
      if (end >= 0 || page.length < PAGE) return;
      after = page[PAGE - 1].key;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private readonly beat = (): void => {
    const { table } = this.parts;
    void this.step();
    // A timer of Node's: the scheduler may be the caller's, and have no room.
    this.nextBeat = setTimeout(this.beat, table.members.hasOthers ? SHARED_BEAT_MS : BEAT_MS);
  };

  /** Never rejects. */
  private step(): Promise<void> {
    this.stepping ??= this.takeStep()
      .catch((error: unknown) => this.opened?.host.failed(error as Error))
      .finally(() => {
        this.stepping = undefined;
      });
    return this.stepping;
  }

  private async takeStep(): Promise<void> {
    const { table } = this.parts;
    table.refresh();
    if (performance.now() - this.lastBeat >= BEAT_MS) {
      this.lastBeat = performance.now();
      table.members.beat();
      for (const name of this.served) await this.chooseLeader(name);
    }
    for (const tier of this.tiers.values()) {
      tier.sweep();
      tier.read().catch((error: unknown) => this.opened?.host.failed(error as Error));
    }
  }

  private async chooseLeader(name: string): Promise<void> {
    const { host, table, rows } = this.parts;
    const { members } = table;
    const leader = members.leaderOf(name);
    const isVacant = leader === undefined || !members.isAlive(leader);
    const leads = leader === members.self || (isVacant && (await members.lead(name, leader)));
    if (this.state !== 'open') return;
    const tier = this.tiers.get(name);
    if (!leads) {
      tier?.end();
      this.tiers.delete(name);
      return;
    }
    await rows.release(name, ACTIVE);
    if (tier !== undefined || this.state !== 'open') return;
    this.tiers.set(name, new NearTier(name, table, { ...host, rows }));
    this.recovery?.begin(name);
  }
}
