import { join } from 'node:path';
import { process } from '../../process.ts';
import { setTimeout } from '../../time/native-timers.ts';
import type { Patience } from '../patience.ts';
import { hasThreadEnded, newIdentity } from './thread-identity.ts';

const fs = process.getBuiltinModule('node:fs');

/** ms between two looks at others. */
const LOOK_MS = 2;
const BUSY = 'busy-';

/**
 * Keeps commits and the opening of a store apart. LMDB, as it opens a file, stores the number of the last transaction, which it has read
 * before, where all processes have it, without its lock (lmdb 3.5, `mdb_env_open2`). The next writer would overwrite what was committed
 * between the two, though it was confirmed.
 *
 *     commit   I am busy ─▶ does nobody open? ─▶ commit ─▶ I am not busy          each tells first, and then looks at the other:
 *     open     I open    ─▶ is nobody busy?   ─▶ open   ─▶ I do not open          so of two that meet one waits, or both
 *
 * What a dead thread has left is removed. Costs three system calls for each commit.
 */
export class LmdbGate {
  private readonly folder: string;
  private readonly opening: string;
  private readonly busyFile: string;
  private readonly busy: number;

  /** `path`: the folder of the store. */
  constructor(path: string) {
    this.folder = join(path, 'gate');
    fs.mkdirSync(this.folder, { recursive: true });
    this.opening = join(this.folder, 'opening');
    this.busyFile = join(this.folder, BUSY + newIdentity());
    this.busy = fs.openSync(this.busyFile, 'w');
  }

  /** Calls `open` while nobody commits or opens. Rejects with the error if others have not let it do so in the time. */
  async opened<T>(open: () => Promise<T>, { time, error }: Pick<Patience, 'time' | 'error'>): Promise<T> {
    const end = performance.now() + time;
    const pause = async (): Promise<void> => {
      if (performance.now() > end) throw error();
      await shortPause();
    };
    while (!this.takeOpening()) await pause();
    try {
      while (fs.readdirSync(this.folder).some((name) => isBusy(join(this.folder, name), name))) await pause();
      return await open();
    } finally {
      fs.rmSync(this.opening, { force: true });
    }
  }

  /** Calls `commit` while nobody opens the store. */
  async committed<T>(commit: () => Promise<T>): Promise<T> {
    for (;;) {
      fs.writeSync(this.busy, '1', 0);
      if (!fs.existsSync(this.opening) || this.removeStale()) break;
      fs.writeSync(this.busy, '0', 0);
      await shortPause();
    }
    try {
      return await commit();
    } finally {
      fs.writeSync(this.busy, '0', 0);
    }
  }

  close(): void {
    fs.closeSync(this.busy);
    fs.rmSync(this.busyFile, { force: true });
  }

  private takeOpening(): boolean {
    try {
      fs.writeFileSync(`${this.busyFile}.opening`, newIdentity());
      fs.linkSync(`${this.busyFile}.opening`, this.opening);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      this.removeStale();
      return false;
    } finally {
      fs.rmSync(`${this.busyFile}.opening`, { force: true });
    }
  }

  /** Removes the note of a thread that has ended while it opened. Returns whether nobody opens. */
  private removeStale(): boolean {
    const holder = textOf(this.opening);
    if (holder === '') return !fs.existsSync(this.opening);
    if (!hasThreadEnded(holder)) return false;
    fs.rmSync(this.opening, { force: true });
    return false; // look again: another may open by now
  }
}

function isBusy(file: string, name: string): boolean {
  if (!name.startsWith(BUSY) || name.endsWith('.opening')) return false;
  if (textOf(file) !== '1') return false;
  if (!hasThreadEnded(name.slice(BUSY.length))) return true;
  fs.rmSync(file, { force: true });
  return false;
}

function textOf(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return ''; // it has been removed
  }
}

const shortPause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
