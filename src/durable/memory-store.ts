import type { DurableStore } from './durable-store.ts';
import type { DeadTimer } from './stored-timer.ts';
import type { DuePlace, Members, RecordTable, TimerRecord } from './table/record-table.ts';
import { TableStore } from './table/table-store.ts';

/**
 * Keeps timers in this thread's memory, for tests: they outlive a `close()` of the durable timers, and the store can then be opened
 * once more. `of`: another store, whose timers are this one's as well, as if two processes had one store.
 */
export function memoryStore(of?: DurableStore): DurableStore {
  const records = (of === undefined ? undefined : recordsOf.get(of)) ?? new MemoryRecords();
  const store = new TableStore('memory', async () => new MemoryTable(records));
  recordsOf.set(store, records);
  return store;
}

const recordsOf = new WeakMap<DurableStore, MemoryRecords>();

const byKey = ({ key: one }: { key: string }, { key: other }: { key: string }): number =>
  one < other ? -1 : one > other ? 1 : 0;
const byDue = (one: DuePlace, other: DuePlace): number => one.due - other.due || byKey(one, other);

class NamedRecords {
  readonly records = new Map<string, TimerRecord>();
  readonly dead = new Map<string, DeadTimer>();
  leader: string | undefined;
}

/** What the tables share that are opened on it: the data of a `memoryStore()`. */
class MemoryRecords {
  readonly names = new Map<string, NamedRecords>();
  readonly members = new Set<string>();
  private opened = 0;

  of(name: string): NamedRecords {
    let named = this.names.get(name);
    if (named === undefined) {
      named = new NamedRecords();
      this.names.set(name, named);
    }
    return named;
  }

  newMember(): string {
    this.opened += 1;
    const member = `${this.opened}`;
    this.members.add(member);
    return member;
  }
}

/** A RecordTable in this thread's memory. It sorts at each read, which is enough for tests. */
class MemoryTable implements RecordTable {
  writes = 0;
  readonly members: Members;
  private readonly data: MemoryRecords;

  constructor(data: MemoryRecords) {
    this.data = data;
    const self = data.newMember();
    this.members = {
      self,
      get hasOthers() {
        return data.members.size > 1;
      },
      beat: () => undefined,
      renewed: () => undefined,
      isAlive: (member) => data.members.has(member),
      leaderOf: (name) => data.of(name).leader,
      lead: async (name, before) => {
        const named = data.of(name);
        if (named.leader !== before) return false;
        named.leader = self;
        return true;
      },
      resign: async () => {
        for (const named of data.names.values()) if (named.leader === self) named.leader = undefined;
      },
    };
  }

  read(name: string, key: string): TimerRecord | undefined {
    return this.data.of(name).records.get(key);
  }

  async replace(before: TimerRecord | undefined, after: TimerRecord | undefined, dead?: DeadTimer): Promise<boolean> {
    const { name, key } = (before ?? after) as TimerRecord;
    const { records, dead: deadTimers } = this.data.of(name);
    if (records.get(key)?.version !== before?.version) return false;
    if (after === undefined) records.delete(key);
    else records.set(key, after);
    if (dead !== undefined) deadTimers.set(key, dead);
    this.writes += 1;
    return true;
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  refresh(): void {
    // Every read sees everything.
  }

  due(name: string, from: DuePlace, until: number, limit: number): DuePlace[] {
    const ahead = (row: TimerRecord) => row.owner === undefined && row.due < until && byDue(row, from) > 0;
    return this.rows(name, ahead).sort(byDue).slice(0, limit);
  }

  active(name: string, limit: number): { readonly owner: string; readonly key: string }[] {
    return this.rows(name, () => true)
      .flatMap(({ owner, key }) => (owner === undefined ? [] : { owner, key }))
      .slice(0, limit);
  }

  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[] {
    const isAhead = ({ key }: TimerRecord) => (after === undefined ? key >= prefix : key > after);
    return this.rows(name, isAhead).sort(byKey).slice(0, limit);
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const all = [...this.data.of(name).dead.values()].filter(({ key }) => after === undefined || key > after);
    return all.sort(byKey).slice(0, limit);
  }

  async bury(dead: DeadTimer): Promise<void> {
    this.data.of(dead.name).dead.set(dead.key, dead);
    this.writes += 1;
  }

  async removeDead(name: string, key: string): Promise<boolean> {
    return this.data.of(name).dead.delete(key);
  }

  names(): string[] {
    return [...this.data.names].filter(([, { records, dead }]) => records.size + dead.size > 0).map(([name]) => name);
  }

  sizes(): { readonly records: number; readonly active: number; readonly dead: number } {
    const sizes = { records: 0, active: 0, dead: 0 };
    for (const { records, dead } of this.data.names.values()) {
      sizes.records += records.size;
      sizes.dead += dead.size;
      for (const { owner } of records.values()) if (owner !== undefined) sizes.active += 1;
    }
    return sizes;
  }

  async close(): Promise<void> {
    this.data.members.delete(this.members.self);
  }

  private rows(name: string, isMeant: (row: TimerRecord) => boolean): TimerRecord[] {
    return [...this.data.of(name).records.values()].filter(isMeant);
  }
}
