import type { DeadTimer } from '../stored-timer.ts';
import type { DuePlace, Members, RecordTable, TimerRecord } from './record-table.ts';

/** Sorted strings, by binary search: O(n) to insert, which is enough for tests. */
class SortedKeys<K> {
  readonly all: K[] = [];
  private readonly compare: (one: K, other: K) => number;

  constructor(compare: (one: K, other: K) => number) {
    this.compare = compare;
  }

  /** The place of the first key that is not less. */
  at(key: K): number {
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(this.all[middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The place of the first key that is greater. */
  after(key: K): number {
    const at = this.at(key);
    return at < this.all.length && this.compare(this.all[at], key) === 0 ? at + 1 : at;
  }

  add(key: K): void {
    this.all.splice(this.at(key), 0, key);
  }

  remove(key: K): void {
    this.all.splice(this.at(key), 1);
  }
}

const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
const byDue = (one: DuePlace, other: DuePlace): number => one.due - other.due || byText(one.key, other.key);

class NamedRecords {
  readonly records = new Map<string, TimerRecord>();
  readonly keys = new SortedKeys(byText);
  readonly due = new SortedKeys<DuePlace>(byDue);
  readonly active = new Map<string, string>();
  readonly dead = new Map<string, DeadTimer>();
  leader: string | undefined;
}

/** What the tables share that are opened on it: the data of a `memoryStore()`. */
export class MemoryRecords {
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

/** A RecordTable in this thread's memory. */
export class MemoryTable implements RecordTable {
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
    const { records, keys, due, active, dead: deadTimers } = this.data.of(name);
    if (records.get(key)?.version !== before?.version) return false;
    if (before !== undefined && before.owner === undefined) due.remove({ due: before.due, key });
    if (before?.owner !== undefined) active.delete(key);
    if (after === undefined) records.delete(key);
    else records.set(key, after);
    if (before === undefined) keys.add(key);
    if (after === undefined) keys.remove(key);
    if (after !== undefined && after.owner === undefined) due.add({ due: after.due, key });
    if (after?.owner !== undefined) active.set(key, after.owner);
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
    const { due } = this.data.of(name);
    const end = due.at({ due: until, key: '' });
    const start = due.after(from);
    return due.all.slice(start, Math.min(end, start + limit));
  }

  active(name: string, limit: number): { readonly owner: string; readonly key: string }[] {
    const entries = [...this.data.of(name).active].slice(0, limit);
    return entries.map(([key, owner]) => ({ owner, key }));
  }

  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[] {
    const { keys, records } = this.data.of(name);
    const start = after === undefined ? keys.at(prefix) : keys.after(after);
    return keys.all.slice(start, start + limit).map((key) => records.get(key) as TimerRecord);
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const all = [...this.data.of(name).dead.values()].sort((one, other) => byText(one.key, other.key));
    return all.filter(({ key }) => after === undefined || key > after).slice(0, limit);
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
    const sum = (of: (named: NamedRecords) => number) =>
      [...this.data.names.values()].reduce((total, named) => total + of(named), 0);
    return {
      records: sum(({ records }) => records.size),
      active: sum(({ active }) => active.size),
      dead: sum(({ dead }) => dead.size),
    };
  }

  async close(): Promise<void> {
    this.data.members.delete(this.members.self);
  }
}
