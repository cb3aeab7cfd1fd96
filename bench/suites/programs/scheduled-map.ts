import type { Scheduler, TimerId } from 'shardwheel';

/**
 * A map whose entries expire, as a program would write it on a scheduler: no closure per entry, and the id beside the
 * value.
 */
export class ScheduledMap<V> {
  readonly #entries = new Map<number, { value: V; timer: TimerId }>();
  readonly #scheduler: Scheduler;
  readonly #expire = (key: number): void => {
    this.#entries.delete(key);
  };

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: number): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: number, value: V, ttl: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#entries.set(key, { value, timer: this.#scheduler.scheduleAfter(key, ttl, this.#expire, key) });
      return;
    }
    entry.value = value;
    this.#scheduler.rescheduleAfter(entry.timer, ttl);
  }

  clear(): void {
    for (const { timer } of this.#entries.values()) this.#scheduler.cancel(timer);
    this.#entries.clear();
  }
}
