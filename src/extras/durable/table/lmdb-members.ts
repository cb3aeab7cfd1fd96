import type { Database, RootDatabase } from 'lmdb';
import { performanceNow } from '../../../unfaked.ts';
import type { LmdbCommits } from './lmdb-commits.ts';
import { type Members, newVersion } from './record-table.ts';
import { fateOf, isForeign, newIdentity } from './thread-identity.ts';

/** ms between two signs of life of a process. */
const BEAT_MS = 5000;
/** ms without a sign of life after which a process counts as dead although the system still has it. */
const STALL_MS = 30_000;

/**
 * The processes that have an LMDB environment open. That a process has died is LMDB's knowledge: it keeps a table of
 * readers, and the kernel a lock for each, which ends with its process. That a thread of a process has ended the kernel
 * says, on Linux. What still exists but stands still is known by its count of beats, which rises no more. One of
 * another pid namespace is dead: the gate has let nobody in while one was alive.
 */
export class LmdbMembers implements Members {
  readonly self = newIdentity();
  private readonly root: RootDatabase;
  private readonly commits: LmdbCommits;
  /** Of each member, its beats. */
  private readonly beats: Database<number, string>;
  private readonly leaders: Database<string, string>;
  /** What this process has seen of the others: their beats, and when it saw them change, ms of the monotonic clock. */
  private readonly seen = new Map<string, { count: number; at: number; hasEnded: boolean }>();
  private pids = new Set<number>();
  private count = 0;
  /** When the last beat was written, ms of the monotonic clock; and the last of which that is certain. */
  private lastBeat = Number.NEGATIVE_INFINITY;
  private lastCertain = Number.NEGATIVE_INFINITY;

  constructor(commits: LmdbCommits) {
    this.root = commits.root;
    this.commits = commits;
    this.beats = this.root.openDB('members', {});
    this.leaders = this.root.openDB('leaders', { useVersions: true });
  }

  get hasOthers(): boolean {
    return this.seen.size > 0;
  }

  beat(): void {
    this.commits.gate.requireStore();
    const now = performanceNow();
    // the timers' own writes fail as well, and say so
    if (now - this.lastBeat >= BEAT_MS) this.write().catch(() => undefined);
    this.root.resetReadTxn();
    const beats = [...this.beats.getRange()];
    // After the beats: whoever has one has had its place among the readers before, and must not seem to have none.
    this.root.readerCheck();
    this.pids = pidsIn(this.root.readerList());
    const gone = new Set(this.seen.keys());
    for (const { key: member, value: count } of beats) {
      if (member === this.self) continue;
      gone.delete(member);
      const known = this.seen.get(member);
      const at = known?.count === count ? known.at : now;
      this.seen.set(member, { count, at, hasEnded: fateOf(member) === 'ended' });
    }
    for (const member of gone) this.seen.delete(member);
    for (const member of this.seen.keys()) {
      if (this.isAlive(member)) continue;
      this.seen.delete(member);
      // another process has, or will at its next beat
      this.commits.add(() => this.beats.remove(member)).catch(() => undefined);
    }
  }

  isAlive(member: string): boolean {
    if (member === this.self) return true;
    if (isForeign(member)) return false;
    const known = this.seen.get(member);
    // Nothing has been seen of it: it has left, or has just come.
    if (known === undefined) return this.beats.get(member) !== undefined;
    return !known.hasEnded && this.pids.has(Number.parseInt(member, 10)) && performanceNow() - known.at < STALL_MS;
  }

  renewed(): Promise<void> | undefined {
    return performanceNow() - this.lastCertain < STALL_MS / 2 ? undefined : this.write();
  }

  private async write(): Promise<void> {
    const now = performanceNow();
    this.lastBeat = now;
    this.count += 1;
    await this.commits.add(() => this.beats.put(this.self, this.count));
    this.lastCertain = now;
  }

  leaderOf(name: string): string | undefined {
    return this.leaders.get(name);
  }

  async lead(name: string, before: string | undefined): Promise<boolean> {
    const known = this.leaders.getEntry(name);
    if (known?.value !== before) return false;
    const write = (): void => void this.leaders.put(name, this.self, newVersion());
    return this.commits.addIf(this.leaders, name, known?.version, write);
  }

  async resign(): Promise<void> {
    const led = Array.from(this.leaders.getRange({ versions: true })).filter(({ value }) => value === this.self);
    const remove = (name: string) => () => void this.leaders.remove(name);
    await Promise.all(led.map(({ key, version }) => this.commits.addIf(this.leaders, key, version, remove(key))));
  }

  async leave(): Promise<void> {
    await this.commits.add(() => this.beats.remove(this.self));
  }
}

/** Of LMDB's list of readers: a line of headings, then pid, thread and transaction of each. */
const pidsIn = (list: string): Set<number> => new Set(list.split('\n').map((line) => Number.parseInt(line, 10)));
