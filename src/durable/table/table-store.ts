import { clearTimeout, setImmediate, setTimeout } from '../../time/native-timers.ts';
import { dueTime } from '../due-time.ts';
import { DurableStoreError } from '../durable-error.ts';
import type { DeadTimer, DurableStore, StoredTimer, StoreHost, StoreStats } from '../durable-store.ts';
import { Deliveries } from './deliveries.ts';
import { NearTier } from './near-tier.ts';
import { newVersion, type RecordTable, type TimerRecord } from './record-table.ts';
import { Recovery } from './recovery.ts';

/** ms between two looks at who leads, and at the head of the index. */
const BEAT_MS = 500;
/** ms between two looks at the head of the index while other processes have the table open: they may schedule what is due before. */
const SHARED_BEAT_MS = 25;
/** Records read in one go. */
const PAGE = 500;
/** Timers under way of which those of dead processes are put back in one go: the most that `concurrency` can be. */
const RELEASED = 10_000;
/** Overdue timers that are counted. */
const COUNTED = 10_000;

interface Opened {
  readonly host: StoreHost;
  readonly table: RecordTable;
  readonly deliveries: Deliveries;
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
  private isOpening = false;
  private isClosed = false;
  private lastBeat = Number.NEGATIVE_INFINITY;
  private stepping: Promise<void> | undefined;
  private nextBeat: NodeJS.Timeout | undefined;

  constructor(kind: DurableStore['kind'], openTable: () => Promise<RecordTable>) {
    this.kind = kind;
    this.openTable = openTable;
  }

  async open(host: StoreHost): Promise<void> {
    if (this.isOpening) throw DurableStoreError.inUse(this.kind);
    this.isOpening = true;
    try {
      const table = await this.openTable();
      this.opened = { host, table, deliveries: new Deliveries(table, host) };
      this.recovery = new Recovery(table, host);
    } catch (error) {
      this.isOpening = false;
      throw error;
    }
    this.isClosed = false;
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

  async put(timer: StoredTimer): Promise<void> {
    const { table } = this.parts;
    for (;;) {
      const before = table.read(timer.name, timer.key);
      if (await table.replace(before, { ...timer, owner: undefined, version: newVersion() })) break;
      table.refresh();
    }
    this.tiers.get(timer.name)?.noticed(timer.key, timer.due);
  }

  async move(name: string, key: string, deadline: number): Promise<boolean> {
    const { table } = this.parts;
    const due = dueTime(deadline);
    for (;;) {
      const before = this.fresh(name, key);
      if (before === undefined || this.isBegun(before)) return false;
      const after = { ...before, deadline, due, attempts: 0, owner: undefined, version: newVersion() };
      if (await table.replace(before, after)) break;
    }
    this.tiers.get(name)?.noticed(key, due);
    return true;
  }

  has(name: string, key: string): boolean {
    return this.fresh(name, key) !== undefined;
  }

  async remove(name: string, key: string): Promise<boolean> {
    const { table } = this.parts;
    for (;;) {
      const before = this.fresh(name, key);
      if (before === undefined || this.isBegun(before)) return false;
      if (await table.replace(before, undefined)) break;
    }
    this.tiers.get(name)?.remove(key);
    return true;
  }

  async get(name: string, key: string): Promise<StoredTimer | undefined> {
    return this.fresh(name, key);
  }

  async count(name: string | undefined): Promise<number> {
    const { table } = this.parts;
    table.refresh();
    if (name === undefined) return table.sizes().records;
    let count = 0;
    for await (const page of this.pages(name, '')) count += page.length;
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

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    this.isClosed = true;
    const { table, deliveries } = this.opened;
    clearTimeout(this.nextBeat);
    await this.stepping;
    for (const tier of this.tiers.values()) tier.end();
    this.tiers.clear();
    this.recovery?.end();
    await deliveries.close();
    this.opened = undefined;
    this.served.clear();
    await table.close();
    this.isOpening = false;
  }

  private get parts(): Opened {
    return this.opened as Opened;
  }

  /** Whether a process that lives delivers it. */
  private isBegun({ owner }: TimerRecord): boolean {
    return owner !== undefined && this.parts.table.members.isAlive(owner);
  }

  private fresh(name: string, key: string): TimerRecord | undefined {
    const { table } = this.parts;
    table.refresh();
    return table.read(name, key);
  }

  /** Pages of records, with a pass of the event loop after each. */
  private async *pages(name: string, prefix: string): AsyncGenerator<TimerRecord[]> {
    let after: string | undefined;
    for (;;) {
      const page = this.parts.table.records(name, prefix, after, PAGE);
      const end = page.findIndex(({ key }) => !key.startsWith(prefix));
      yield end < 0 ? page : page.slice(0, end);
      if (end >= 0 || page.length < PAGE) return;
      after = page[PAGE - 1].key;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  private readonly beat = (): void => {
    if (this.isClosed) return;
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
    const { table } = this.parts;
    const { members } = table;
    const leader = members.leaderOf(name);
    const isVacant = leader === undefined || !members.isAlive(leader);
    const leads = leader === members.self || (isVacant && (await members.lead(name, leader)));
    if (this.isClosed) return;
    const tier = this.tiers.get(name);
    if (!leads) {
      tier?.end();
      this.tiers.delete(name);
      return;
    }
    await this.release(name);
    if (tier !== undefined || this.isClosed) return;
    const { host, deliveries } = this.parts;
    const begun = new NearTier(name, table, host, (timer) => deliveries.push(timer));
    this.tiers.set(name, begun);
    this.recovery?.begin(name);
  }

  /** Puts back what processes had under way that have died. */
  private async release(name: string): Promise<void> {
    const { table } = this.parts;
    const { members } = table;
    const orphans = table.active(name, RELEASED).filter(({ owner }) => !members.isAlive(owner));
    await Promise.all(
      orphans.map(async ({ owner, key }) => {
        const record = table.read(name, key);
        if (record?.owner !== owner) return;
        await table.replace(record, { ...record, owner: undefined, version: newVersion() });
      }),
    );
  }
}
