import type { Database, RangeOptions, RootDatabase } from 'lmdb';
import { type DeadTimer, damagedTimer } from '../stored-timer.ts';
import { copyStore } from './lmdb-backup.ts';
import type { LmdbCommits } from './lmdb-commits.ts';
import { lmdbError } from './lmdb-errors.ts';
import { LmdbMembers } from './lmdb-members.ts';
import type { DuePlace, RecordTable, TimerRecord } from './record-table.ts';

/**
 * What a record holds, in the order of its fields. Its key in the engine is the timer's name and key; the engine keeps
 * the version.
 */
type Fields = [
  deadline: number,
  due: number,
  attempts: number,
  owner: string | null,
  payload: Uint8Array | null,
  state?: TimerRecord['state'],
];
type DeadFields = [
  deadline: number,
  due: number,
  attempts: number,
  payload: Uint8Array | null,
  diedAt: number,
  reason: string,
];
type NameAndKey = [name: string, key: string];

/** A key's part that comes after all texts. */
const AFTER_TEXTS = new Uint8Array([0xff]);

/**
 * A RecordTable in LMDB: five databases of one environment, in which those of the members are two more. A `replace` is
 * one conditional write, which the engine's own thread carries out. Nothing is written in this thread, so a write never
 * waits here for another process.
 */
export class LmdbTable implements RecordTable {
  writes = 0;
  readonly members: LmdbMembers;
  private readonly commits: LmdbCommits;
  private readonly timers: Database<Fields, NameAndKey>;
  private readonly dueTimes: Database<true, [name: string, due: number, key: string]>;
  private readonly owners: Database<true, [name: string, owner: string, key: string]>;
  private readonly deadTimers: Database<DeadFields, NameAndKey>;
  /** What stands in the two, for what cannot be decoded. */
  private readonly timerBytes: Database<Buffer, NameAndKey>;
  private readonly deadBytes: Database<Buffer, NameAndKey>;
  private readonly nameSet: Database<true, string>;
  private readonly known: Set<string>;
  private readonly openAt: (path: string) => RootDatabase;
  /** Copies under way: the engine makes them in a thread of its own, of memory that `close` unmaps. */
  private readonly copies = new Set<Promise<void>>();

  /** `openAt` opens another store, as this one was opened. */
  constructor(commits: LmdbCommits, openAt: (path: string) => RootDatabase) {
    const { root } = commits;
    this.commits = commits;
    this.openAt = openAt;
    this.timers = root.openDB('timers', { useVersions: true });
    this.dueTimes = root.openDB('due', {});
    this.owners = root.openDB('active', {});
    this.deadTimers = root.openDB('dead', {});
    this.timerBytes = root.openDB('timers', { useVersions: true, encoding: 'binary' });
    this.deadBytes = root.openDB('dead', { encoding: 'binary' });
    this.nameSet = root.openDB('names', {});
    this.known = new Set(this.names());
    this.members = new LmdbMembers(commits);
  }

  read(name: string, key: string): TimerRecord | undefined {
    return this.reading(() => {
      try {
        const entry = this.timers.getEntry([name, key]);
        return entry === undefined ? undefined : recordOf(name, key, entry.value, entry.version as number);
      } catch {
        return this.damaged(name, key); // throws as well unless it is the record alone
      }
    });
  }

  async replace(before: TimerRecord | undefined, after: TimerRecord | undefined, dead?: DeadTimer): Promise<boolean> {
    const { name, key } = (before ?? after) as TimerRecord;
    const isDamaged = before?.state === 'damaged';
    const dueTimes = isDamaged ? this.entriesOf(this.dueTimes, name, key) : [];
    const owners = isDamaged ? this.entriesOf(this.owners, name, key) : [];
    const write = (): void => {
      for (const entry of dueTimes) void this.dueTimes.remove(entry);
      for (const entry of owners) void this.owners.remove(entry);
      if (before !== undefined && !isDamaged) {
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
    const isDone = await this.commits.addIf(this.timers, [name, key], before?.version, write);
    if (isDone) this.known.add(name);
    return isDone;
  }

  refresh(): void {
    this.commits.root.resetReadTxn();
  }

  due(name: string, { due, key }: DuePlace, until: number, limit: number): DuePlace[] {
    const range = { start: [name, due, key], exclusiveStart: true, end: [name, until, ''], limit };
    return this.reading(() => Array.from(this.dueTimes.getKeys(range), ([, due, key]) => ({ due, key })));
  }

  active(name: string, limit: number): { readonly owner: string; readonly key: string }[] {
    const range = { start: [name, '', ''], end: [name, AFTER_TEXTS], limit };
    return this.reading(() => Array.from(this.owners.getKeys(range), ([, owner, key]) => ({ owner, key })));
  }

  records(name: string, prefix: string, after: string | undefined, limit: number): TimerRecord[] {
    const exclusiveStart = after !== undefined;
    const range = { start: [name, after ?? prefix], exclusiveStart, end: [name, AFTER_TEXTS], versions: true, limit };
    return this.reading(() => {
      try {
        return Array.from(this.timers.getRange(range), ({ key: [, key], value, version }) =>
          recordOf(name, key, value, version as number),
        );
      } catch {
        // one of them is damaged: each by itself
        const keys = Array.from(this.timers.getKeys({ ...range, versions: false }), ([, key]) => key);
        return keys.flatMap((key) => this.read(name, key) ?? []);
      }
    });
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const exclusiveStart = after !== undefined;
    const range = { start: [name, after ?? ''], exclusiveStart, end: [name, AFTER_TEXTS], limit };
    return this.reading(() => {
      try {
        return Array.from(this.deadTimers.getRange(range), ({ key: [, key], value }) => deadOf(name, key, value));
      } catch {
        // one of them is damaged: each by itself
        const keys = Array.from(this.deadTimers.getKeys(range), ([, key]) => key);
        return keys.flatMap((key) => this.readDead(name, key) ?? []);
      }
    });
  }

  private readDead(name: string, key: string): DeadTimer | undefined {
    try {
      const value = this.deadTimers.get([name, key]);
      return value === undefined ? undefined : deadOf(name, key, value);
    } catch {
      // throws as well unless it is the record alone
      const bytes = this.deadBytes.get([name, key]);
      return bytes === undefined ? undefined : damagedTimer(name, key, bytes, 0, 0);
    }
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
    if (!this.reading(() => this.deadTimers.doesExist([name, key]))) return false;
    this.writes += 1;
    await this.commits.add(() => this.deadTimers.remove([name, key]));
    return true;
  }

  names(): string[] {
    return this.reading(() => Array.from(this.nameSet.getKeys()));
  }

  sizes(): { readonly records: number; readonly active: number; readonly dead: number } {
    const entries = (database: Pick<Database, 'getStats'>): number =>
      this.reading(() => (database.getStats() as { entryCount: number }).entryCount);
    return { records: entries(this.timers), active: entries(this.owners), dead: entries(this.deadTimers) };
  }

  private putDead({ name, key, deadline, due, attempts, payload, diedAt, reason }: DeadTimer): Promise<boolean> {
    return this.deadTimers.put([name, key], [deadline, due, attempts, payload ?? null, diedAt, reason]);
  }

  /** A record that cannot be decoded. */
  private damaged(name: string, key: string): TimerRecord | undefined {
    const entry = this.timerBytes.getEntry([name, key]);
    if (entry === undefined) return undefined;
    const known = { name, key, payload: entry.value, version: entry.version as number };
    return { ...known, deadline: 0, due: 0, attempts: 0, owner: undefined, state: 'damaged' };
  }

  /** The entries of a timer in an index, whatever its record says: a look at all of its name. */
  private entriesOf<K extends [name: string, at: string | number, key: string]>(
    index: Database<true, K>,
    name: string,
    key: string,
  ): K[] {
    const range = { start: [name], end: [name, AFTER_TEXTS] } as unknown as RangeOptions;
    return this.reading(() => Array.from(index.getKeys(range)).filter(([, , other]) => other === key));
  }

  /** A read, of a file that may be damaged, or gone. */
  private reading<T>(read: () => T): T {
    this.commits.gate.requireNotLost();
    try {
      return read();
    } catch (error) {
      throw lmdbError(this.commits.path, error);
    }
  }

  /** Stores a name with its first timer; it counts as stored once a commit has succeeded, not before. */
  private remember(name: string): void {
    if (!this.known.has(name)) void this.nameSet.put(name, true);
  }

  async backup(path: string): Promise<void> {
    this.commits.gate.requireStore();
    const copy = copyStore(this.commits.root, path, this.openAt);
    this.copies.add(copy);
    await copy.finally(() => this.copies.delete(copy));
  }

  async close(): Promise<void> {
    const { root, gate } = this.commits;
    await this.members.leave().catch(() => undefined); // the others see that the process has left
    await Promise.allSettled(this.copies);
    try {
      gate.requireStore();
    } finally {
      await root.close();
      gate.close();
    }
  }
}

function fieldsOf({ deadline, due, attempts, owner, payload, state }: TimerRecord): Fields {
  const fields: Fields = [deadline, due, attempts, owner ?? null, payload ?? null];
  if (owner !== undefined) fields.push(state);
  return fields;
}

/** Throws if it is damaged. */
function recordOf(name: string, key: string, fields: Fields, version: number): TimerRecord {
  const [deadline, due, attempts, by, bytes, state = 'scheduled'] = fields;
  requireNumbers(deadline, due, attempts);
  const [owner, payload] = [by ?? undefined, bytes ?? undefined];
  return { name, key, deadline, due, attempts, payload, owner, state, version };
}

/** Throws if it is damaged. */
function deadOf(name: string, key: string, fields: DeadFields): DeadTimer {
  const [deadline, due, attempts, payload, diedAt, reason] = fields;
  requireNumbers(deadline, due, attempts);
  return { name, key, deadline, due, attempts, payload: payload ?? undefined, diedAt, reason };
}

function requireNumbers(deadline: number, due: number, attempts: number): void {
  if (Number.isFinite(deadline) && Number.isFinite(due) && Number.isFinite(attempts)) return;
  throw new TypeError('It has not the fields of a timer');
}
