import type { Scheduler } from 'shardwheel';
import { expect } from 'vitest';
import type { Draws } from '../fixtures/draws.ts';
import { type Family, valueIn } from './exposition.ts';

/** What a test has had a scheduler do, counted by the test itself. */
export class Ledger {
  scheduled = 0;
  rescheduled = 0;
  cancelled = 0;
  /** ms, of all that was delivered. */
  readonly latenesses: number[] = [];
  private readonly scheduler: Scheduler;
  private readonly draws: Draws;
  private readonly ids: number[] = [];
  private readonly deadlines = new Map<number, number>();

  constructor(scheduler: Scheduler, draws: Draws) {
    this.scheduler = scheduler;
    this.draws = draws;
  }

  get delivered(): number {
    return this.latenesses.length;
  }

  get live(): number {
    return this.deadlines.size;
  }

  /** Schedules, cancels, moves. */
  work(operations: number, spread: number): void {
    const { draws, scheduler, ids } = this;
    const now = scheduler.now();
    for (let i = 0; i < operations; i++) {
      const deadline = now + draws.between(0, spread);
      const id = scheduler.schedule(draws.below(1000), deadline, this.fired, undefined);
      this.scheduled += 1;
      this.deadlines.set(id, deadline);
      ids.push(id);
      const other = draws.pick(ids);
      const act = draws.below(4);
      if (act === 0 && scheduler.cancel(other)) {
        this.cancelled += 1;
        this.deadlines.delete(other);
      }
      if (act === 1 && this.deadlines.has(other)) {
        const moved = now + draws.between(0, spread);
        expect(scheduler.reschedule(other, moved)).toBe(true);
        this.rescheduled += 1;
        this.deadlines.set(other, moved);
      }
    }
  }

  private readonly fired = (_: undefined, id: number): void => {
    this.latenesses.push(this.scheduler.now() - (this.deadlines.get(id) as number));
    this.deadlines.delete(id);
  };

  /** What the exposition says of a client is what is written here, lateness to within the histogram's resolution. */
  expectIn(families: Map<string, Family>, client: string): void {
    const value = (name: string) => valueIn(families, `shardwheel_${name}`, { client });
    expect({
      live: value('timers_live'),
      scheduled: value('timers_scheduled_total'),
      rescheduled: value('timers_rescheduled_total'),
      cancelled: value('timers_cancelled_total'),
      delivered: value('timers_delivered_total'),
    }).toEqual({
      live: this.live,
      scheduled: this.scheduled,
      rescheduled: this.rescheduled,
      cancelled: this.cancelled,
      delivered: this.delivered,
    });
    expectLatenesses(families, { client }, this.latenesses);
  }
}

/** The histogram of lateness of a series is that of a list, ms. */
export function expectLatenesses(
  families: Map<string, Family>,
  labels: Record<string, string>,
  latenesses: readonly number[],
): void {
  const name = 'shardwheel_timer_lateness_seconds';
  expect(valueIn(families, `${name}_count`, labels)).toBe(latenesses.length);
  const sum = latenesses.reduce((total, lateness) => total + lateness, 0) / 1000;
  const told = valueIn(families, `${name}_sum`, labels) as number;
  expect(Math.abs(told - sum)).toBeLessThanOrEqual(sum * 0.004 + 5e-7 * latenesses.length);
  const buckets = (families.get(name) as Family).lines.filter(
    ({ labels: { le, ...others } }) => le !== undefined && JSON.stringify(others) === JSON.stringify(labels),
  );
  expect(buckets.length).toBeGreaterThan(10);
  for (const { labels, value } of buckets) {
    const bound = Number(labels.le.replace('+Inf', 'Infinity')) * 1000;
    expect(value).toBeLessThanOrEqual(latenesses.filter((lateness) => lateness <= bound).length);
    expect(value).toBeGreaterThanOrEqual(latenesses.filter((lateness) => lateness < bound * 0.996).length);
  }
}
