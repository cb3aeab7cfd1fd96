import { Alarm, type Alarms } from './alarms.ts';
import type { DueTimer, Ending } from './delivery.ts';
import type { StoredTimer } from './stored-timer.ts';

/** Who keeps timers in memory. */
export interface UnstoredOwner {
  readonly alarms: Alarms;
  wake(timer: UnstoredTimer): void;
  claim(timer: UnstoredTimer): StoredTimer | undefined;
  settle(timer: UnstoredTimer, ending: Ending): Promise<boolean>;
}

/** A timer that is in memory alone. */
export class UnstoredTimer extends Alarm implements DueTimer {
  state: 'young' | 'due' | 'running' | 'ended' | 'storing' = 'young';
  readonly id: string;
  timer: StoredTimer;
  /** When it is to be stored, ms of the monotonic clock. */
  storeAt: number;
  private readonly owner: UnstoredOwner;

  constructor(owner: UnstoredOwner, id: string, timer: StoredTimer, youth: number) {
    super();
    this.owner = owner;
    this.id = id;
    this.timer = timer;
    this.storeAt = performance.now() + youth;
  }

  get name(): string {
    return this.timer.name;
  }

  get key(): string {
    return this.timer.key;
  }

  get wakesAt(): number {
    const toStore = Date.now() + this.storeAt - performance.now();
    return this.state === 'young' ? Math.min(this.timer.due, toStore) : toStore;
  }

  protected get alarms(): Alarms {
    return this.owner.alarms;
  }

  wake(): void {
    this.owner.wake(this);
  }

  async claim(): Promise<StoredTimer | undefined> {
    return this.owner.claim(this);
  }

  settle(_: StoredTimer, ending: Ending): Promise<boolean> {
    return this.owner.settle(this, ending);
  }
}
