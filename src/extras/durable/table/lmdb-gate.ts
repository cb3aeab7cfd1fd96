import { join } from 'node:path';
import { process } from '../../../process.ts';
import { setTimeout } from '../../../time/native-timers.ts';
import { performanceNow } from '../../../unfaked.ts';
import { DurableStoreError } from '../durable-error.ts';
import type { Patience } from '../patience.ts';
import { LifeSigns } from './life-signs.ts';
import { LmdbNote, stateIn } from './lmdb-note.ts';
import { fateOf, isForeign, newIdentity, textOf, unlessMissing } from './thread-identity.ts';

const fs = process.getBuiltinModule('node:fs');

/**
 * ms between two looks at others, and how much longer one who opens may wait, so that of two that meet one comes back
 * first.
 */
const CHECK_MS = 2;
const SPREAD_MS = 6;
/** ms between two looks at processes of other pid namespaces. */
const FOREIGN_CHECK_MS = 50;
/**
 * ms without a beat after which one counts as dead: of another pid namespace; of this one, if the kernel does not tell
 * its fate.
 */
const FOREIGN_SILENCE_MS = 10_000;
const UNKNOWN_SILENCE_MS = 30_000;

/**
 * Keeps commits and the opening of a store apart. LMDB, as it opens a file, stores the number of the last transaction,
 * which it has read before, where all processes have it, without its lock (lmdb 3.5, `mdb_env_open2`). The next writer
 * would overwrite what was committed between the two, though it was confirmed.
 *
 *     commit   I am busy ─▶ does nobody open? ─▶ commit ─▶ I am not busy
 *     open     I open ─▶ does no other? ─▶ is nobody busy? ─▶ open ─▶ I do not
 *
 * Each tells first, and then looks at the others: so of two that meet one waits, or both. Each tells by a file of its
 * own, which nobody else writes: so what a dead thread has left may be removed at any time. The folder of those who
 * open goes with the last of them, so that a commit mostly needs no list of it: it costs seven system calls.
 *
 * LMDB tells readers apart, and the dead from the living, by process id. So a store is open in one pid namespace at a
 * time: whoever opens it tells, and then looks whether one of another beats. Before and after each commit it is asked
 * whether the store is still this one's.
 */
export class LmdbGate {
  private readonly path: string;
  private readonly openings: string;
  private readonly commits: string;
  private readonly self = newIdentity();
  private readonly signs = new LifeSigns();
  private readonly note: LmdbNote;
  /** Which file the store is, by its device and number. */
  private file: string | undefined;
  private lost: DurableStoreError | undefined;

  /** `path`: the folder of the store, absolute. */
  constructor(path: string) {
    this.path = path;
    this.openings = join(path, 'gate/openings');
    this.commits = join(path, 'gate/commits');
    fs.mkdirSync(this.commits, { recursive: true });
    this.note = new LmdbNote(this.commits, this.self);
  }

  /**
   * Calls `open` while nobody commits or opens. Rejects with the error if others have not let it do so in the time;
   * with ERR_STORE_IN_USE if one of another pid namespace has the store open.
   */
  async opened<T>(open: () => Promise<T>, { time, error }: Pick<Patience, 'time' | 'error'>): Promise<T> {
    await this.aloneInNamespace();
    const end = performanceNow() + time;
    const pause = async (spread: number): Promise<void> => {
      if (performanceNow() > end) throw error();
      await shortPause(CHECK_MS + Math.random() * spread);
    };
    while (!this.tellsThatItOpens()) await pause(SPREAD_MS);
    try {
      while (this.others(this.commits).some((file) => stateIn(textOf(file)) === '1')) await pause(0);
      // it has stood still as it came here
      if (this.note.isRemoved) throw DurableStoreError.takenOver(this.path, FOREIGN_SILENCE_MS);
      const opened = await open();
      this.file = this.fileNow();
      this.note.says('0');
      return opened;
    } finally {
      this.tellsNoMore();
    }
  }

  /**
   * Calls `commit` while nobody opens the store. Rejects if the store is no longer there: what was committed is not in
   * it.
   */
  async committed<T>(commit: () => Promise<T>): Promise<T> {
    try {
      this.note.says('1');
      while (this.isOpened()) {
        this.note.says('0');
        await shortPause(CHECK_MS);
        this.note.says('1');
      }
      this.requireStore();
      const done = await commit();
      this.requireStore();
      return done;
    } finally {
      this.note.says('0');
    }
  }

  /** Throws what the last look has found, if the store was no longer there. */
  requireNotLost(): void {
    if (this.lost !== undefined) throw this.lost;
  }

  /** Looks whether the store is still at its path, and this namespace's. Throws DurableStoreError. */
  requireStore(): void {
    this.lost = this.loss();
    this.requireNotLost();
  }

  close(): void {
    this.note.close();
  }

  private loss(): DurableStoreError | undefined {
    if (this.file === undefined || this.fileNow() !== this.file) return DurableStoreError.gone(this.path);
    return this.note.isRemoved ? DurableStoreError.takenOver(this.path, FOREIGN_SILENCE_MS) : undefined;
  }

  private fileNow(): string | undefined {
    const stat = fs.statSync(join(this.path, 'data.mdb'), { throwIfNoEntry: false });
    return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
  }

  /**
   * Resolves when nobody of another pid namespace has the store open, or is about to; those without a beat count as
   * dead, and what they have left is removed. Of two that are about to, the one with the lesser identity waits until
   * the other has given up.
   */
  private async aloneInNamespace(): Promise<void> {
    for (;;) {
      const foreign = this.notes(this.commits).filter(isForeign);
      if (foreign.length === 0) return;
      for (const name of foreign) {
        const text = textOf(join(this.commits, name));
        const { silence, hasBeaten } = this.signs.look(name, text);
        if (silence >= FOREIGN_SILENCE_MS) this.remove(name);
        else if (hasBeaten && (stateIn(text) !== 'o' || name < this.self)) throw DurableStoreError.foreign(this.path);
      }
      await shortPause(FOREIGN_CHECK_MS);
    }
  }

  /** Returns whether no other opens. Of two that meet each may leave it to the other, and comes back. */
  private tellsThatItOpens(): boolean {
    if (this.isOpened()) return false;
    const tell = (): boolean => {
      fs.mkdirSync(this.openings, { recursive: true });
      fs.writeFileSync(join(this.openings, this.self), '');
      return true;
    };
    if (unlessMissing(tell, false) && !this.isOpened()) return true; // missing: another has just removed the folder
    this.tellsNoMore();
    return false;
  }

  private tellsNoMore(): void {
    fs.rmSync(join(this.openings, this.self), { force: true });
    fs.rmdir(this.openings, () => undefined); // fails if another opens
  }

  /** Whether another thread opens the store. */
  private isOpened(): boolean {
    return fs.existsSync(this.openings) && this.others(this.openings).length > 0;
  }

  /** The files in a folder of the other threads of this namespace. Removes those of threads that have ended. */
  private others(folder: string): string[] {
    const files = this.notes(folder).filter((name) => !isForeign(name));
    const ended = files.filter((name) => this.hasEnded(name));
    for (const name of ended) this.remove(name);
    return files.filter((name) => !ended.includes(name)).map((name) => join(folder, name));
  }

  private hasEnded(name: string): boolean {
    const fate = fateOf(name);
    if (fate !== 'unknown') return fate === 'ended';
    return this.signs.look(name, textOf(join(this.commits, name))).silence >= UNKNOWN_SILENCE_MS;
  }

  private notes(folder: string): string[] {
    return unlessMissing(() => fs.readdirSync(folder), []).filter((name) => name !== this.self);
  }

  private remove(name: string): void {
    this.signs.forget(name);
    for (const folder of [this.openings, this.commits]) fs.rmSync(join(folder, name), { force: true });
  }
}

const shortPause = (time: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, time));
