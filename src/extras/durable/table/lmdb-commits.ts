import type { Database, Key, RootDatabase } from 'lmdb';
import { causeOf, lmdbError } from './lmdb-errors.ts';
import type { LmdbGate } from './lmdb-gate.ts';

/** Writes of one commit, at most: some 8 ms of this thread. */
const MAX_GROUP = 1000;

interface Pending {
  readonly write: () => Promise<boolean>;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Commits in groups, one at a time: what is asked for while a commit is under way belongs to the next. The engine could
 * have several under way itself. But it tells only two apart: of three, it takes the second for done when the third is,
 * and where the second has failed, as on a full disk, it calls writes safe that are lost (lmdb 3.5,
 * `queueCommitResolution`).
 *
 * All writes are conditional ones of the engine: its transactions that call back hold the lock of the file until this
 * thread comes, which waits for that lock itself when it opens the same file once more.
 */
export class LmdbCommits {
  readonly root: RootDatabase;
  readonly gate: LmdbGate;
  /** The folder of the store. */
  readonly path: string;
  private waiting: Pending[] = [];
  private isRunning = false;

  constructor(root: RootDatabase, gate: LmdbGate, path: string) {
    this.root = root;
    this.gate = gate;
    this.path = path;
  }

  /**
   * Resolves with what `write` resolves with, and not before it is on disk. `write` is called once, and writes at once;
   * what several write within a condition of the engine is committed as a whole. Rejects with DurableStoreError:
   * nothing of the commit was written, or into a store that is no longer there.
   */
  add(write: () => Promise<boolean>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ write, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  /** Writes if the entry still has this version, or if there still is none. */
  addIf<K extends Key>(
    database: Database<unknown, K>,
    key: K,
    version: number | undefined,
    write: () => void,
  ): Promise<boolean> {
    return this.add(() =>
      version === undefined ? database.ifNoExists(key, write) : database.ifVersion(key, version, write),
    );
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    await Promise.resolve(); // what is asked for in the same go belongs together
    while (this.waiting.length > 0) await this.commit();
    this.isRunning = false;
  }

  /** Never rejects. */
  private async commit(): Promise<void> {
    const group = this.waiting.splice(0, MAX_GROUP);
    const outcomes: Promise<boolean>[] = [];
    try {
      await this.gate.committed(() =>
        this.root.batch(() => {
          for (const { write } of group) outcomes.push(write());
        }),
      );
      for (const [at, { resolve }] of group.entries()) void outcomes[at].then(resolve);
    } catch (error) {
      for (const outcome of outcomes) outcome.catch(() => undefined); // it is the commit's error
      const named = lmdbError(this.path, await causeOf(error));
      for (const { reject } of group) reject(named);
    }
  }
}
