import type { Database, RootDatabase } from 'lmdb';
import type { DeadTimer } from '../stored-timer.ts';
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
    this.nameSet = root.openDB('names', {});
    this.known = new Set(this.names());
    this.members = new LmdbMembers(commits);
  }

  read(name: string, key: string): TimerRecord | undefined {
    const entry = this.reading(() => this.timers.getEntry([name, key]));
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
    return this.reading(() =>
      Array.from(this.timers.getRange(range), ({ key: [, key], value, version }) =>
        recordOf(name, key, value, version as number),
      ),
    );
  }

  dead(name: string, after: string | undefined, limit: number): DeadTimer[] {
    const exclusiveStart = after !== undefined;
    const range = { start: [name, after ?? ''], exclusiveStart, end: [name, AFTER_TEXTS], limit };
    return this.reading(() =>
      Array.from(this.deadTimers.getRange(range), ({ key: [, key], value }) => {
        const [deadline, due, attempts, payload, diedAt, reason] = value;
        return { name, key, deadline, due, attempts, payload: payload ?? undefined, diedAt, reason };
      }),
    );
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

function recordOf(name: string, key: string, fields: Fields, version: number): TimerRecord {
  const [deadline, due, attempts, by, bytes, state = 'scheduled'] = fields;
  const [owner, payload] = [by ?? undefined, bytes ?? undefined];
  return { name, key, deadline, due, attempts, payload, owner, state, version };
}
