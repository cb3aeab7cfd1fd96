import { clearTimeout, setImmediate, setTimeout } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { DurableStoreError } from '../durable-error.ts';
import type { StoreStats } from '../durable-stats.ts';
import type { DurableStore } from '../durable-store.ts';
import type { Patience } from '../patience.ts';
import type { DeadTimer, StoredTimer } from '../stored-timer.ts';
import { NearTiers } from './near-tiers.ts';
import { pages, type RecordTable, type TimerRecord } from './record-table.ts';
import { Recovery } from './recovery.ts';
import { Rows } from './rows.ts';

/** ms between two looks at who leads, and at the head of the index. */
const BEAT_MS = 500;
/**
 * ms between two looks at the head of the index while other processes have the table open: they may schedule what is
 * due before.
 */
const SHARED_BEAT_MS = 25;
/** Records read in one go. */
const PAGE = 500;
/** Timers under way that are looked at in one go: the most that `concurrency` can be. */
const ACTIVE = 10_000;
/** Names that are looked at in one go: some 1 ms of LMDB. */
const NAMES = 100;
/** Overdue timers that are counted. */
const COUNTED = 10_000;

/**
 * A DurableStore on a RecordTable: the table is the truth, and the wheel holds what is near.
 *
 * For each name one of the processes that serve it leads: it has the name's near tier, and delivers, the oldest of all
 * names first. Who leads is recorded in the table; when the leader has died another takes its place, and puts back what
 * the dead one had under way. Leading is only a division of labour: that a timer is delivered by one process is due to
 * the claim, so two that both believe to lead do no harm.
 */
export class TableStore extends Rows implements DurableStore {
  readonly kind: DurableStore['kind'];
  /** Of an engine that may not answer. */
  private readonly patience: Patience | undefined;
  private readonly openTable: () => Promise<RecordTable>;
  private readonly delivered = new Set<string>();
  private near: NearTiers | undefined;
  private recovery: Recovery | undefined;
  private state: 'closed' | 'open' | 'stopped' = 'closed';
  private lastBeat = Number.NEGATIVE_INFINITY;
  private stepping: Promise<void> | undefined;
  private nextBeat: NodeJS.Timeout | undefined;
  private unfollow: () => void = () => undefined;

  constructor(kind: DurableStore['kind'], openTable: () => Promise<RecordTable>, patience?: Patience) {
    super();
    this.kind = kind;
    this.patience = patience;
    this.openTable = openTable;
  }

  async open(core: DurableCore, attempts: Attempts): Promise<void> {
    if (this.state !== 'closed') throw DurableStoreError.inUse(this.kind);
    this.state = 'open';
    try {
      const table = await this.openTable();
      this.opened = { table, core, attempts };
      this.near = new NearTiers(this.opened, this);
      this.recovery = new Recovery(table, core);
    } catch (error) {
      this.state = 'closed';
      throw error;
    }
    this.unfollow = core.clock.follow(() => void this.lastStep().then(() => this.step()));
    this.beat();
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return this.patience?.bounded(work) ?? work;
  }

  deliver(name: string): void {
    this.delivered.add(name);
    this.lastBeat = Number.NEGATIVE_INFINITY;
    void this.step();
  }

  has(name: string, key: string): boolean {
    return this.fresh.read(name, key) !== undefined;
  }

  async get(name: string, key: string): Promise<StoredTimer | undefined> {
    const row = this.fresh.read(name, key);
    if (row?.state === 'damaged') throw DurableStoreError.damaged(row);
    return this.scheduledOf(row);
  }

  async count(): Promise<number> {
    const table = this.fresh;
    let count = table.sizes().records;
    // Rows of which nothing is scheduled are under way: few.
    for (const name of table.names()) {
      const underWay = table.active(name, ACTIVE).map(({ key }) => table.read(name, key));
      count -= underWay.filter((row) => this.scheduledOf(row) === undefined).length;
    }
    return count;
  }

  async *timers(name: string, prefix: string): AsyncGenerator<StoredTimer> {
    const read = (last: TimerRecord | undefined) => this.fresh.records(name, prefix, last?.key, PAGE);
    for await (const page of pages(PAGE, read)) {
      const fitting = page.filter(({ key }) => key.startsWith(prefix));
      for (const damaged of fitting.filter(({ state }) => state === 'damaged')) {
        this.failed(DurableStoreError.damaged(damaged));
      }
      yield* fitting.flatMap((row) => this.scheduledOf(row) ?? []);
      if (fitting.length < page.length) return;
    }
  }

  async *dead(name: string): AsyncGenerator<DeadTimer> {
    const read = (last: DeadTimer | undefined) => this.fresh.dead(name, last?.key, PAGE);
    for await (const page of pages(PAGE, read)) yield* page;
  }

  bury(dead: DeadTimer): Promise<void> {
    return this.table.bury(dead);
  }

  removeDead(name: string, key: string): Promise<boolean> {
    return this.table.removeDead(name, key);
  }

  backup(path: string): Promise<void> {
    return this.table.backup(path);
  }

  async stats(): Promise<StoreStats> {
    const table = this.fresh;
    const { records, active, dead } = table.sizes();
    const now = this.parts.core.clock.now();
    let overdue = 0;
    for (const name of table.names()) {
      const due = table.due(name, { due: 0, key: '' }, now + 1, COUNTED - overdue);
      overdue += due.filter((place) => place.due <= now).length;
    }
    const near = this.near?.size ?? 0;
    return { kind: this.kind, stored: records, overdue, active, dead, near, writes: table.writes };
  }

  async overdueNames(before: number): Promise<string[]> {
    const names = this.fresh.names();
    const found: string[] = [];
    for (const [at, name] of names.entries()) {
      if (this.fresh.due(name, { due: 0, key: '' }, before, 1).length > 0) found.push(name);
      if (at % NAMES === NAMES - 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return found;
  }

  async stop(): Promise<void> {
    if (this.opened === undefined) return;
    this.state = 'stopped';
    this.near?.end();
    this.delivered.clear();
    this.recovery?.end();
    const { table } = this.opened;
    await this.bounded(this.lastStep().then(() => table.members.resign()));
  }

  async close(): Promise<void> {
    if (this.opened === undefined) return;
    const { table } = this.opened;
    this.opened = undefined;
    clearTimeout(this.nextBeat);
    this.unfollow();
    const end = async (): Promise<void> => {
      await this.lastStep();
      await table.close();
      this.state = 'closed';
    };
    await this.bounded(end());
  }

  protected changed(name: string, key: string, after: TimerRecord | undefined): void {
    if (after?.state === 'scheduled') this.near?.noticed(name, key, after.due);
    else this.near?.gone(name, key);
  }

  private lastStep(): Promise<void> {
    return this.stepping ?? Promise.resolve();
  }

  private readonly beat = (): void => {
    void this.step();
    // A timer of Node's: the scheduler may be the caller's, and have no room.
    this.nextBeat = setTimeout(this.beat, this.table.members.hasOthers ? SHARED_BEAT_MS : BEAT_MS);
  };

  /** Never rejects. */
  private step(): Promise<void> {
    this.stepping ??= this.takeStep()
      .catch(this.failed)
      .finally(() => {
        this.stepping = undefined;
      });
    return this.stepping;
  }

  private readonly failed = (error: unknown): void => this.opened?.core.failed(error);

  private async takeStep(): Promise<void> {
    const { members } = this.fresh;
    if (performanceNow() - this.lastBeat >= BEAT_MS) {
      this.lastBeat = performanceNow();
      members.beat();
      if (members.hasOthers) this.parts.attempts.tellOvertaken();
      for (const name of this.delivered) await this.chooseLeader(name);
    }
    this.near?.look();
  }

  private async chooseLeader(name: string): Promise<void> {
    const { members } = this.table;
    const leader = members.leaderOf(name);
    const isVacant = leader === undefined || !members.isAlive(leader);
    const leads = leader === members.self || (isVacant && (await members.lead(name, leader)));
    if (this.state !== 'open') return;
    if (!leads) {
      this.near?.remove(name);
      return;
    }
    await this.release(name, ACTIVE);
    if (this.near?.has(name) || this.state !== 'open') return;
    this.near?.add(name);
    this.recovery?.begin(name);
  }
}
