import type { Database, RootDatabase } from 'lmdb';
import type { DeadTimer } from '../durable-store.ts';
import type { LmdbCommits } from './lmdb-commits.ts';
import { LmdbMembers } from './lmdb-members.ts';
import type { DueEntry, DuePlace, RecordTable, TimerRecord } from './record-table.ts';

/** What a record holds, in the order of its fields. The key has the name and the key; the engine keeps the version. */
type Fields = [deadline: number, due: number, attempts: number, owner: string | null, payload: Uint8Array | null];
type DeadFields = [...Fields, diedAt: number, reason: string];
type NameAndKey = [name: string, key: string];

/**
 * A RecordTable in LMDB: five databases of one environment. A `replace` is one conditional write, which the engine's own thread
 * carries out. Nothing is written in this thread, so a write never waits here for another process.
 */
export class LmdbTable implements RecordTable {
  writes = 0;
  readonly members: LmdbMembers;
  private readonly root: RootDatabase;
  private readonly commits: LmdbCommits;
  private readonly timers: Database<Fields, NameAndKey>;
  private readonly dueTimes: Database<true, [name: string, due: number, key: string]>;
  private readonly owners: Database<true, [name: string, owner: string, key: string]>;
  private readonly deadTimers: Database<DeadFields, NameAndKey>;
  private readonly nameSet: Database<true, string>;
  private readonly known: Set<string>;

  constructor(root: RootDatabase, commits: LmdbCommits) {
    this.root = root;
    this.commits = commits;
    this.timers = root.openDB('timers', { useVersions: true });
    this.dueTimes = root.openDB('due', {});
    this.owners = root.openDB('active', {});
    this.deadTimers = root.openDB('dead', {});
    this.nameSet = root.openDB('names', {});
    this.known = new Set(this.names());
    this.members = new LmdbMembers(root, this.commits);
  }

  read(name: string, key: string): TimerRecord | undefined {
    const entry = this.timers.getEntry([name, key]);
    return entry === undefined ? undefined : recordOf(name, key, entry.value, entry.version as number);
  }

  async replace(before: TimerRecord | undefined, after: TimerRecord | undefined, dead?: DeadTimer): Promise<boolean> {
    const { name, key } = (before ?? after) as TimerRecord;
    const write = (): void => {
      if (before !== undefined) {
        if (before.owner === undefined) void this.dueTimes.remove([name, before.due, key]);
        else void this.owners.remove([name, before.owner, key]);
      }
      if (after === undefined) {
        void this.timers.remove([name, key]);
      } else {
        if (after.owner === undefined) void this.dueTimes.put([name, after.due, key], true);
        else void this.owners.put([name, after.owner, key], true);
        void this.timers.put([name, key], fieldsOf(after), after.version);
        this.remember(name);
      }
      if (dead !== undefined) void this.putDead(dead);
    };
    this.writes += 1;
    const isDone = await this.commits.add(() =>
      before === undefined
        ? this.timers.ifNoExists([name, key], write)
        : this.timers.ifVersion([name, key], before.version, write),
    );
    if (isDone) this.known.add(name);
    return isDone;
  }

  bounded<T>(work: Promise<T>): Promise<T> {
    return this.commits.bounded(work);
  }

  refresh(): void {
    this.root.resetReadTxn();
  }

  due(name: string, { due, key }: DuePlace, until: number, limit: number): DueEntry[] {
    const range = this.dueTimes.getKeys({
      start: [name, due, key],
      exclusiveStart: true,
      end: [name, until, ''],
      limit,
    });
    return Array.from(range, ([, due, key]) => ({ name, due, key }));
  }

  active(name: string, limit: number): { readonly owner: string; readonly key: string }[] {
    const entries: { owner: string; key: string }[] = [];
    for (const [of, owner, key] of this.owners.getKeys({ start: [name, '', ''], limit })) {
      if (of !== name) break;
      entries.push({ owner, key });
    }
    return entries;
  }

  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[] {
    const records: TimerRecord[] = [];
    const start: NameAndKey = [name, after ?? prefix];
    const range = this.timers.getRange({ start, exclusiveStart: after !== undefined, versions: true, limit });
    for (const {
      key: [of, key],
      value,
      version,
    } of range) {
      if (of !== name) break;
      records.push(recordOf(name, key, value, version as number));
    }
    return records;
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const dead: DeadTimer[] = [];
    const range = this.deadTimers.getRange({ start: [name, after ?? ''], exclusiveStart: after !== undefined, limit });
    for (const {
      key: [of, key],
      value,
    } of range) {
      if (of !== name) break;
      const [deadline, due, attempts, , payload, diedAt, reason] = value;
      dead.push({ name, key, deadline, due, attempts, payload: payload ?? undefined, diedAt, reason });
    }
    return dead;
  }

  async bury(dead: DeadTimer): Promise<void> {
    this.writes += 1;
    await this.commits.add(() => {
      this.remember(dead.name);
      return this.putDead(dead);
    });
  }

  async removeDead(name: string, key: string): Promise<boolean> {
    this.refresh();
    if (!this.deadTimers.doesExist([name, key])) return false;
    this.writes += 1;
    await this.commits.add(() => this.deadTimers.remove([name, key]));
    return true;
  }

  names(): string[] {
    return Array.from(this.nameSet.getKeys());
  }

  sizes(): { readonly records: number; readonly active: number; readonly dead: number } {
    const entries = (database: Database) => (database.getStats() as { entryCount: number }).entryCount;
    return {
      records: entries(this.timers as Database),
      active: entries(this.owners as Database),
      dead: entries(this.deadTimers as Database),
    };
  }

  private putDead(dead: DeadTimer): Promise<boolean> {
    return this.deadTimers.put([dead.name, dead.key], [...fieldsOf(dead), dead.diedAt, dead.reason]);
  }

  /** Stores a name with its first timer; it counts as stored once a commit has succeeded, not before. */
  private remember(name: string): void {
    if (!this.known.has(name)) void this.nameSet.put(name, true);
  }

  close(): Promise<void> {
    return this.commits.bounded(this.members.leave().then(() => this.root.close()));
  }
}

const fieldsOf = (
  timer: Pick<TimerRecord, 'deadline' | 'due' | 'attempts' | 'payload'> & { owner?: string },
): Fields => [timer.deadline, timer.due, timer.attempts, timer.owner ?? null, timer.payload ?? null];

function recordOf(name: string, key: string, fields: Fields, version: number): TimerRecord {
  const [deadline, due, attempts, owner, payload] = fields;
  return { name, key, deadline, due, attempts, payload: payload ?? undefined, owner: owner ?? undefined, version };
}
