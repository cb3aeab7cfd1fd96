import type { Attempts } from '../attempts/attempts.ts';
import type { DurableCore } from '../attempts/durable-core.ts';
import { DurableStoreError, DurableTimersClosedError } from '../durable-error.ts';
import { type Kept, replaces } from '../kept.ts';
import {
  type Claim,
  type DeadTimer,
  type DueTimer,
  damagedTimer,
  dueTime,
  type Ending,
  type Overtaken,
  type StoredTimer,
} from '../stored-timer.ts';
import { type DuePlace, newVersion, type RecordTable, type TimerRecord } from './record-table.ts';

/** What a row is to become, if it may be changed. */
type Change = { readonly after: TimerRecord | undefined; readonly dead?: DeadTimer } | undefined;

/** What a store has while it is open. */
export interface Opened {
  readonly table: RecordTable;
  readonly core: DurableCore;
  readonly attempts: Attempts;
}

/**
 * What becomes of the row of a key. Each arrow is one `replace`, so of two processes that try one succeeds, and the
 * other looks again:
 *
 *                ┌──────put, move──────┐
 *     absent ──put──▶ scheduled ◀──again── running ──done, dead──▶ absent
 *        ▲              │   │  └──claim──▶  │   │
 *        └────remove────┘   │               │   └──put──▶ superseded ──attempt ends──▶ scheduled
 *                           └◀─owner died───┤                │  ▲ put
 *                                           └──remove──▶ cancelled ──attempt ends──▶ absent
 *
 * Whoever runs the attempt owns the row, until the attempt ends or the owner dies: so attempts of a key never overlap,
 * whatever is called meanwhile, and in whichever process.
 */
export abstract class Rows {
  protected opened: Opened | undefined;

  /** This process has changed a row. */
  protected abstract changed(name: string, key: string, after: TimerRecord | undefined): void;

  protected get parts(): Opened {
    if (this.opened === undefined) throw new DurableTimersClosedError();
    return this.opened;
  }

  protected get table(): RecordTable {
    return this.parts.table;
  }

  /** The table, as it has been committed. */
  protected get fresh(): RecordTable {
    const { table } = this.parts;
    table.refresh();
    return table;
  }

  /** What of a row is scheduled: not what is under way or was cancelled. */
  protected scheduledOf(row: TimerRecord | undefined): TimerRecord | undefined {
    const current = this.current(row);
    return isScheduled(current) ? current : undefined;
  }

  put(timer: StoredTimer, kept?: Kept): Promise<boolean> {
    return this.change(timer.name, timer.key, (row) => {
      if (isScheduled(row) && !replaces(timer, row, kept)) return undefined;
      if (row?.owner === undefined) return { after: scheduled(timer) };
      return { after: { ...timer, owner: row.owner, state: 'superseded', version: newVersion() } };
    });
  }

  move(name: string, key: string, deadline: number): Promise<boolean> {
    return this.change(name, key, (row) => {
      if (row?.state === 'damaged') throw DurableStoreError.damaged(row);
      if (!isScheduled(row)) return undefined;
      return { after: { ...row, deadline, due: dueTime(deadline), attempts: 0, version: newVersion() } };
    });
  }

  remove(name: string, key: string): Promise<boolean> {
    return this.change(name, key, (row) => {
      if (row === undefined || row.state === 'cancelled') return undefined;
      return { after: row.owner === undefined ? undefined : { ...row, state: 'cancelled', version: newVersion() } };
    });
  }

  /** Takes a timer that is due for this process, with one attempt more. One that is damaged dies. */
  async claim({ name, key, due }: Pick<DueTimer, 'name'> & DuePlace): Promise<Claim | undefined> {
    const { clock } = this.parts.core;
    const { members } = this.table;
    await members.renewed();
    let attempt: TimerRecord | undefined;
    const isClaimed = await this.change(name, key, (row) => {
      if (row?.state !== 'scheduled' || row.due > clock.now()) return undefined;
      attempt = { ...row, attempts: row.attempts + 1, owner: members.self, state: 'running', version: newVersion() };
      return { after: attempt };
    });
    // Another process may cancel it while the answer to this one is on its way.
    if (isClaimed && attempt !== undefined) {
      const { version } = attempt;
      return { attempt, over: () => this.overtaken(name, key, version) };
    }
    const row = this.table.read(name, key);
    if (row?.state === 'scheduled') this.changed(name, key, row); // it is due later
    if (row?.state === 'damaged') await this.buryDamaged(name, key, due);
    return undefined;
  }

  /** What cannot be read is kept as dead, so that it is seen, and not taken again and again. */
  private async buryDamaged(name: string, key: string, due: number): Promise<void> {
    const { core } = this.parts;
    let dead: DeadTimer | undefined;
    const isBuried = await this.change(name, key, (row) => {
      if (row?.state !== 'damaged') return undefined;
      dead = damagedTimer(name, key, row.payload as Uint8Array, due, core.clock.now());
      return { after: undefined, dead };
    });
    if (!isBuried || dead === undefined) return;
    core.failed(DurableStoreError.damaged(dead));
    core.died(dead);
  }

  /**
   * Resolves with false if the attempt no longer counts: also if another process took this one for dead, and has the
   * row.
   */
  async writeEnding(attempt: TimerRecord, ending: Ending): Promise<boolean> {
    const { name, key } = attempt;
    let counts = false;
    const isWritten = await this.change(name, key, (row) => {
      if (row?.owner !== this.table.members.self) return undefined;
      counts = row.state === 'running';
      if (!counts) return { after: released(row) };
      if (row.version !== attempt.version) return undefined;
      if (ending.kind === 'again') return { after: scheduled(ending.timer) };
      return { after: undefined, dead: ending.kind === 'dead' ? ending.timer : undefined };
    });
    if (!isWritten) this.parts.core.failed(DurableStoreError.lockLost(name, key));
    return isWritten && counts;
  }

  /** What has become of this process's attempt of that version. */
  private overtaken(name: string, key: string, version: number): Overtaken | undefined {
    const row = this.fresh.read(name, key);
    if (row?.version === version) return undefined;
    if (row?.owner !== this.table.members.self) return 'lost';
    return row.state === 'cancelled' ? 'cancelled' : 'superseded';
  }

  /** Puts back what processes had under way that have died. */
  protected async release(name: string, limit: number): Promise<void> {
    const { members } = this.table;
    const orphans = this.table.active(name, limit).filter(({ owner }) => !members.isAlive(owner));
    const putBack = (current: TimerRecord | undefined, row: TimerRecord | undefined): Change =>
      current === row ? undefined : { after: current };
    await Promise.all(orphans.map(({ key }) => this.change(name, key, putBack)));
    const damaged = orphans.filter(({ key }) => this.table.read(name, key)?.state === 'damaged');
    await Promise.all(damaged.map(({ key }) => this.buryDamaged(name, key, 0)));
  }

  /**
   * Changes a row as `step` says. Resolves with false, and nothing is changed, if by the newest state it is not to be
   * changed.
   */
  private async change(
    name: string,
    key: string,
    step: (current: TimerRecord | undefined, row: TimerRecord | undefined) => Change,
  ): Promise<boolean> {
    for (let isFresh = false; ; isFresh = true) {
      if (isFresh) this.table.refresh();
      const row = this.table.read(name, key);
      const change = step(this.current(row), row);
      if (change === undefined) {
        if (isFresh) return false;
      } else if (await this.table.replace(row, change.after, change.dead)) {
        this.changed(name, key, change.after);
        return true;
      }
    }
  }

  /** A row, as if what a dead process had under way were put back. */
  private current(row: TimerRecord | undefined): TimerRecord | undefined {
    return row?.owner === undefined || this.table.members.isAlive(row.owner) ? row : released(row);
  }
}

const scheduled = (timer: StoredTimer): TimerRecord => ({
  ...timer,
  owner: undefined,
  state: 'scheduled',
  version: newVersion(),
});

const isScheduled = (row: TimerRecord | undefined): row is TimerRecord =>
  row?.state === 'scheduled' || row?.state === 'superseded';

/** A row whose attempt is over. */
const released = (row: TimerRecord): TimerRecord | undefined =>
  row.state === 'cancelled' ? undefined : scheduled(row);
