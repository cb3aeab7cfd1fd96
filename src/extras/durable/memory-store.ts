import { InvalidArgumentError } from '../../errors.ts';
import { DurableStoreError } from './durable-error.ts';
import type { DurableStore } from './durable-store.ts';
import { type DeadTimer, idOf } from './stored-timer.ts';
import type { DuePlace, Members, RecordTable, TimerRecord } from './table/record-table.ts';
import { TableStore } from './table/table-store.ts';

/**
 * Keeps timers in this thread's memory, for tests: they outlive a `close()` of the durable timers, and the store can
 * then be opened once more. `of`: another `memoryStore()`, whose timers are this one's as well, as if two processes had
 * one store.
 * @throws InvalidArgumentError for another `of`.
 */
export function memoryStore(of?: DurableStore): DurableStore {
  const records = of === undefined ? new MemoryRecords() : recordsOf.get(of);
  if (records === undefined) throw new InvalidArgumentError('of', 'must be a store that memoryStore() has made', of);
  const store = new TableStore('memory', async () => new MemoryTable(records));
  recordsOf.set(store, records);
  return store;
}

const recordsOf = new WeakMap<DurableStore, MemoryRecords>();

const byKey = ({ key: one }: { key: string }, { key: other }: { key: string }): number =>
  one < other ? -1 : one > other ? 1 : 0;
const byDue = (one: DuePlace, other: DuePlace): number => one.due - other.due || byKey(one, other);

/** What the tables share that are opened on it: the data of a `memoryStore()`. */
class MemoryRecords {
  readonly records = new Map<string, TimerRecord>();
  readonly dead = new Map<string, DeadTimer>();
  /** By name. */
  readonly leaders = new Map<string, string>();
  readonly members = new Set<string>();
  opened = 0;
}

/** A RecordTable in this thread's memory. It filters and sorts all at each read, which is enough for tests. */
class MemoryTable implements RecordTable {
  writes = 0;
  readonly members: Members;
  private readonly data: MemoryRecords;

  constructor(data: MemoryRecords) {
    this.data = data;
    data.opened += 1;
    const self = `${data.opened}`;
    data.members.add(self);
    this.members = {
      self,
      get hasOthers() {
        return data.members.size > 1;
      },
      beat: () => undefined,
      renewed: () => undefined,
      isAlive: (member) => data.members.has(member),
      leaderOf: (name) => data.leaders.get(name),
      lead: async (name, before) => {
        if (data.leaders.get(name) !== before) return false;
        data.leaders.set(name, self);
        return true;
      },
      resign: async () => {
        for (const [name, leader] of data.leaders) if (leader === self) data.leaders.delete(name);
      },
    };
  }

  read(name: string, key: string): TimerRecord | undefined {
    return this.data.records.get(idOf({ name, key }));
  }

  async replace(before: TimerRecord | undefined, after: TimerRecord | undefined, dead?: DeadTimer): Promise<boolean> {
    const id = idOf((before ?? after) as TimerRecord);
    const { records } = this.data;
    if (records.get(id)?.version !== before?.version) return false;
    if (after === undefined) records.delete(id);
    else records.set(id, after);
    if (dead !== undefined) this.data.dead.set(id, dead);
    this.writes += 1;
    return true;
  }

  refresh(): void {
    // Every read sees everything.
  }

  due(name: string, from: DuePlace, until: number, limit: number): DuePlace[] {
    const isAhead = (row: TimerRecord) => row.owner === undefined && row.due < until && byDue(row, from) > 0;
    return this.rows(name, isAhead).sort(byDue).slice(0, limit);
  }

  active(name: string, limit: number): { readonly owner: string; readonly key: string }[] {
    const all = this.rows(name, () => true);
    return all.flatMap(({ owner, key }) => (owner === undefined ? [] : { owner, key })).slice(0, limit);
  }

  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[] {
    const isAhead = ({ key }: TimerRecord) => (after === undefined ? key >= prefix : key > after);
    return this.rows(name, isAhead).sort(byKey).slice(0, limit);
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const isAhead = (dead: DeadTimer) => dead.name === name && (after === undefined || dead.key > after);
    return [...this.data.dead.values()].filter(isAhead).sort(byKey).slice(0, limit);
  }

  async bury(dead: DeadTimer): Promise<void> {
    this.data.dead.set(idOf(dead), dead);
    this.writes += 1;
  }

  async removeDead(name: string, key: string): Promise<boolean> {
    return this.data.dead.delete(idOf({ name, key }));
  }

  names(): string[] {
    return [...new Set(Array.from(this.data.records.values(), ({ name }) => name))];
  }

  sizes(): { readonly records: number; readonly active: number; readonly dead: number } {
    const { records, dead } = this.data;
    const active = [...records.values()].filter(({ owner }) => owner !== undefined).length;
    return { records: records.size, active, dead: dead.size };
  }

  async backup(): Promise<void> {
    throw DurableStoreError.noBackup('memoryStore', 'what is to be kept is for another store');
  }

  async close(): Promise<void> {
    this.data.members.delete(this.members.self);
  }

  private rows(name: string, isMeant: (row: TimerRecord) => boolean): TimerRecord[] {
    return [...this.data.records.values()].filter((row) => row.name === name && isMeant(row));
  }
}
