import type { Claim, Ending, StoredTimer } from '../stored-timer.ts';
import { AlarmedTimer, type Alarms } from './alarms.ts';

/**
 * Which state of a timer may follow which:
 *
 *     young    in memory alone, with an alarm for when it is due or to be stored
 *     due      waits for a handler; it may still be moved, cancelled, stored
 *     running  an attempt is under way, and nothing else is scheduled here
 *     storing  the store may have it, and has not said so yet: only the store delivers it. What fails is tried again
 *     stored   the store's: forgotten here
 *     ended    cancelled, delivered, dead, or replaced by another: forgotten here; its attempt does not count
 */
export const FOLLOWERS = {
  young: ['young', 'due', 'storing', 'ended'],
  due: ['young', 'running', 'storing', 'ended'],
  running: ['young', 'ended'],
  storing: ['storing', 'stored', 'ended'],
  stored: [],
  ended: [],
} as const satisfies Record<string, readonly string[]>;

export type UnstoredState = keyof typeof FOLLOWERS;

/** What has the timers that are in memory alone. */
export interface UnstoredKeeper {
  readonly alarms: Alarms;
  /** ms of the monotonic clock. */
  now(): number;
  wake(timer: UnstoredTimer): void;
  claim(timer: UnstoredTimer): Promise<Claim | undefined>;
  writeEnding(timer: UnstoredTimer, ending: Ending): Promise<boolean>;
}

/** A timer that is in memory alone. */
export class UnstoredTimer extends AlarmedTimer {
  /** What is scheduled, or what the attempt was claimed as. */
  timer: StoredTimer;
  /** When it is to be stored, ms of the monotonic clock. */
  storeAt: number;
  private current: UnstoredState = 'young';
  private readonly keeper: UnstoredKeeper;

  constructor(keeper: UnstoredKeeper, timer: StoredTimer, storeAt: number) {
    super(keeper.alarms);
    this.keeper = keeper;
    this.timer = timer;
    this.storeAt = storeAt;
  }

  get name(): string {
    return this.timer.name;
  }

  get key(): string {
    return this.timer.key;
  }

  get state(): UnstoredState {
    return this.current;
  }

  /** Whether it is scheduled, and the store does not have it. */
  get isOursAlone(): boolean {
    return this.current === 'young' || this.current === 'due';
  }

  /** Whether it is scheduled: its attempt has not begun, and the store has not said that it has it. */
  get isScheduled(): boolean {
    return this.isOursAlone || this.current === 'storing';
  }

  get isForgotten(): boolean {
    return FOLLOWERS[this.current].length === 0;
  }

  get delay(): number {
    const toStore = this.storeAt - this.keeper.now();
    const { clock } = this.keeper.alarms;
    return Math.max(0, this.current === 'young' ? Math.min(clock.until(this.timer.due), toStore) : toStore);
  }

  /** Throws if the state may not follow the present one. */
  become(next: UnstoredState): void {
    const followers: readonly UnstoredState[] = FOLLOWERS[this.current];
    if (!followers.includes(next)) throw new Error(`A timer that is ${this.current} cannot become ${next}`);
    this.current = next;
  }

  wake(): void {
    this.keeper.wake(this);
  }

  claim(): Promise<Claim | undefined> {
    return this.keeper.claim(this);
  }

  writeEnding(_: StoredTimer, ending: Ending): Promise<boolean> {
    return this.keeper.writeEnding(this, ending);
  }
}
