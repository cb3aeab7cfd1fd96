import type { Scheduler } from 'shardwheel';
import { expect } from 'vitest';
import type { Draws } from '../fixtures/draws.ts';
import { type Line, valueIn } from './exposition.ts';

/** What became of some timers: of all, or of those of a label. */
class Page {
  live = 0;
  scheduled = 0;
  cancelled = 0;
  /** ms, of those that were delivered. */
  readonly latenesses: number[] = [];

  get delivered(): number {
    return this.latenesses.length;
  }
}

interface Entry {
  deadline: number;
  readonly pages: readonly Page[];
}

/** What a test has had a scheduler do, counted by the test itself. */
export class Ledger {
  readonly all = new Page();
  readonly byLabel: ReadonlyMap<string, Page>;
  rescheduled = 0;
  private readonly scheduler: Scheduler;
  private readonly draws: Draws;
  private readonly ids: number[] = [];
  private readonly entries = new Map<number, Entry>();

  /** A part of the timers has one of these labels. */
  constructor(scheduler: Scheduler, draws: Draws, labels: readonly string[] = []) {
    this.scheduler = scheduler;
    this.draws = draws;
    this.byLabel = new Map(labels.map((label) => [label, new Page()]));
  }

  /** Whether nothing is left that is due at a time, ms. */
  isDelivered(now: number): boolean {
    return [...this.entries.values()].every(({ deadline }) => deadline > now);
  }

  /** Schedules, cancels, moves: to deadlines from `from` to `to` ms from now. */
  work(operations: number, to: number, from = 0): void {
    const { draws, scheduler, ids } = this;
    const now = scheduler.now();
    const labels = [undefined, ...this.byLabel.keys()];
    for (let i = 0; i < operations; i++) {
      const deadline = now + draws.between(from, to);
      const label = draws.pick(labels);
      const starts = label === undefined ? scheduler : scheduler.label(label);
      const id = starts.schedule(draws.below(1000), deadline, this.fired, undefined);
      this.begin(id, deadline, label);
      ids.push(id);
      const other = draws.pick(ids);
      const act = draws.below(4);
      if (act === 0 && scheduler.cancel(other)) {
        for (const page of this.end(other).pages) page.cancelled += 1;
      }
      if (act === 1) {
        const entry = this.entries.get(other);
        const moved = now + draws.between(from, to);
        expect(scheduler.reschedule(other, moved)).toBe(entry !== undefined);
        if (entry === undefined) continue;
        this.rescheduled += 1;
        entry.deadline = moved;
      }
    }
  }

  private begin(id: number, deadline: number, label: string | undefined): void {
    const pages = label === undefined ? [this.all] : [this.all, this.byLabel.get(label) as Page];
    expect(this.entries.has(id)).toBe(false);
    this.entries.set(id, { deadline, pages });
    for (const page of pages) {
      page.scheduled += 1;
      page.live += 1;
    }
  }

  private end(id: number): Entry {
    const entry = this.entries.get(id) as Entry;
    expect(entry, 'a timer ends once').toBeDefined();
    this.entries.delete(id);
    for (const page of entry.pages) page.live -= 1;
    return entry;
  }

  private readonly fired = (_: undefined, id: number): void => {
    const { deadline, pages } = this.end(id);
    for (const page of pages) page.latenesses.push(this.scheduler.now() - deadline);
  };

  /**
   * What is told of a client is what is written here, lateness to within the histogram's resolution: on a manual clock,
   * where a callback reads the time of its delivery. On a real one time passes between the two, and lateness is left
   * out.
   */
  expectIn(lines: readonly Line[], client: string, isManual = true): void {
    const told = valueIn(lines, 'shardwheel_timers_rescheduled_total', { client });
    expect(told).toBe(this.rescheduled);
    expectPage(lines, 'shardwheel_', { client }, this.all, isManual);
    for (const [label, page] of this.byLabel) {
      if (page.scheduled > 0) expectPage(lines, 'shardwheel_label_', { client, label }, page, isManual);
    }
  }
}

function expectPage(
  lines: readonly Line[],
  prefix: string,
  labels: Record<string, string>,
  page: Page,
  hasLateness: boolean,
): void {
  const value = (name: string) => valueIn(lines, `${prefix}timers_${name}`, labels);
  const told = [value('live'), value('scheduled_total'), value('cancelled_total'), value('delivered_total')];
  expect(told).toEqual([page.live, page.scheduled, page.cancelled, page.delivered]);
  if (hasLateness) expectLatenesses(lines, labels, page.latenesses, `${prefix}timer_lateness_seconds`);
}

/** The histogram of lateness of a series is that of a list, ms. */
export function expectLatenesses(
  lines: readonly Line[],
  labels: Record<string, string>,
  latenesses: readonly number[],
  name = 'shardwheel_timer_lateness_seconds',
): void {
  expect(valueIn(lines, `${name}_count`, labels)).toBe(latenesses.length);
  const sum = latenesses.reduce((total, lateness) => total + lateness, 0) / 1000;
  const told = valueIn(lines, `${name}_sum`, labels) as number;
  expect(Math.abs(told - sum)).toBeLessThanOrEqual(sum * 0.004 + 5e-7 * latenesses.length);
  const buckets = lines.filter(
    (line) =>
      line.name === `${name}_bucket` && Object.entries(labels).every(([key, text]) => line.labels[key] === text),
  );
  expect(buckets.length).toBeGreaterThan(10);
  for (const { labels, value } of buckets) {
    const bound = Number(labels.le.replace('+Inf', 'Infinity')) * 1000;
    expect(value).toBeLessThanOrEqual(latenesses.filter((lateness) => lateness <= bound).length);
    expect(value).toBeGreaterThanOrEqual(latenesses.filter((lateness) => lateness < bound * 0.996).length);
  }
}
