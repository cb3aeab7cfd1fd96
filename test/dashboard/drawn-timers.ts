import type { Scheduler } from 'shardwheel';
import { Draws, SEED } from '../fixtures/draws.ts';

/** A program that draws its timers, and counts by itself what it has done to them. */
export class DrawnTimers {
  scheduled = 0;
  cancelled = 0;
  moved = 0;
  fired = 0;
  /** By label; '' for those without. */
  readonly live = new Map<string, Set<number>>();
  private readonly ids = new Map<number, { label: string; at: number }>();
  private readonly scheduler: Scheduler;
  private readonly draws = new Draws(SEED);

  constructor(scheduler: Scheduler) {
    this.scheduler = scheduler;
  }

  get size(): number {
    return [...this.live.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Some of everything: it ends with its delivery, is cancelled, moved, or lives on. */
  step(): void {
    const { draws, scheduler } = this;
    for (let i = 0; i < 100; i++) {
      const label = draws.pick(['', 'idle', 'request']);
      const calls = label === '' ? scheduler : scheduler.label(label);
      const at = this.scheduled;
      const id = calls.scheduleAfter(at, draws.pick([1, 20, 300, 3_600_000]) * draws.between(0.5, 1), this.fire, at);
      this.scheduled += 1;
      this.ids.set(at, { label, at: id });
      this.liveOf(label).add(at);
    }
    for (const at of [...this.ids.keys()].filter(() => draws.below(8) === 0)) {
      const { at: id, label } = this.ids.get(at) ?? { at: 0, label: '' };
      if (draws.below(2) === 0) {
        if (!scheduler.cancel(id)) throw new Error(`timer ${at} of seed ${SEED} was not live`);
        this.cancelled += 1;
        this.ids.delete(at);
        this.liveOf(label).delete(at);
      } else {
        if (!scheduler.reschedule(id, scheduler.now() + 7_200_000)) throw new Error(`timer ${at} was not live`);
        this.moved += 1;
      }
    }
  }

  private liveOf(label: string): Set<number> {
    const found = this.live.get(label) ?? new Set();
    this.live.set(label, found);
    return found;
  }

  private readonly fire = (at: number): void => {
    const { label } = this.ids.get(at) ?? { label: '' };
    if (!this.liveOf(label).delete(at)) throw new Error(`timer ${at} of seed ${SEED} was delivered twice`);
    this.ids.delete(at);
    this.fired += 1;
  };
}
