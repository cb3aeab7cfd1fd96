import { join } from 'node:path';
import { process } from '../../process.ts';
import { setTimeout } from '../../time/native-timers.ts';
import type { Patience } from '../patience.ts';
import { hasThreadEnded, newIdentity, textOf, unlessMissing } from './thread-identity.ts';

const fs = process.getBuiltinModule('node:fs');

/** ms between two looks at others, and how much longer one who opens may wait, so that of two that meet one comes back first. */
const LOOK_MS = 2;
const SPREAD_MS = 6;

/**
 * Keeps commits and the opening of a store apart. LMDB, as it opens a file, stores the number of the last transaction, which it has read
 * before, where all processes have it, without its lock (lmdb 3.5, `mdb_env_open2`). The next writer would overwrite what was committed
 * between the two, though it was confirmed.
 *
 *     commit   I am busy ─▶ does nobody open? ─▶ commit ─▶ I am not busy          each tells first, and then looks at the others:
 *     open     I open ─▶ does no other? ─▶ is nobody busy? ─▶ open ─▶ I do not    so of two that meet one waits, or both
 *
 * Each tells by a file of its own, which nobody else writes: so what a dead thread has left may be removed at any time. The folder of
 * those who open goes with the last of them, so that a commit mostly needs no list of it: it costs three system calls.
 */
export class LmdbGate {
  private readonly openings: string;
  private readonly commits: string;
  private readonly self = newIdentity();
  private readonly busy: number;

  /** `path`: the folder of the store. */
  constructor(path: string) {
    this.openings = join(path, 'gate/openings');
    this.commits = join(path, 'gate/commits');
    fs.mkdirSync(this.commits, { recursive: true });
    this.busy = fs.openSync(join(this.commits, this.self), 'w');
  }

  /** Calls `open` while nobody commits or opens. Rejects with the error if others have not let it do so in the time. */
  async opened<T>(open: () => Promise<T>, { time, error }: Pick<Patience, 'time' | 'error'>): Promise<T> {
    const end = performance.now() + time;
    const pause = async (spread: number): Promise<void> => {
      if (performance.now() > end) throw error();
      await shortPause(spread);
    };
    while (!this.tellsThatItOpens()) await pause(SPREAD_MS);
    try {
      while (this.others(this.commits).some((file) => textOf(file) === '1')) await pause(0);
      return await open();
    } finally {
      this.tellsNoMore();
    }
  }

  /** Calls `commit` while nobody opens the store. */
  async committed<T>(commit: () => Promise<T>): Promise<T> {
    try {
      fs.writeSync(this.busy, '1', 0);
      while (this.isOpened()) {
        fs.writeSync(this.busy, '0', 0);
        await shortPause(0);
        fs.writeSync(this.busy, '1', 0);
      }
      return await commit();
    } finally {
      fs.writeSync(this.busy, '0', 0);
    }
  }

  close(): void {
    fs.closeSync(this.busy);
    fs.rmSync(join(this.commits, this.self), { force: true });
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

  /** The files in a folder of the other threads. Removes those of threads that have ended. */
  private others(folder: string): string[] {
    const files = unlessMissing(() => fs.readdirSync(folder), []).filter((name) => name !== this.self);
    const ended = files.filter(hasThreadEnded);
    for (const name of ended) fs.rmSync(join(folder, name), { force: true });
    return files.filter((name) => !ended.includes(name)).map((name) => join(folder, name));
  }
}

const shortPause = (spread: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, LOOK_MS + Math.random() * spread));
