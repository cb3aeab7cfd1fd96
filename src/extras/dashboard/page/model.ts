import type { Lateness } from '../../../metrics/lateness-histogram.ts';
import { type Hello, MAX_POINTS, type Point, type Sample } from '../messages.ts';

/** Timers per second. */
type Rates = Record<'scheduled' | 'rescheduled' | 'cancelled' | 'delivered', number>;

/** Deliveries and percentiles, and the deliveries by bucket, one more than there are bounds. */
export interface LatenessView extends Omit<Lateness, 'sum' | 'buckets'> {
  mean: number;
  buckets: number[];
}

/** A point, and what has changed since the one before; undefined where that cannot be compared. */
export interface Trend extends Point {
  rates?: Rates;
  /** Of the deliveries since. */
  lateness?: LatenessView;
  /** Shares of a core: of the process, and the share of time for which its event loop was busy. */
  cores?: { process: number; loop: number };
}

type ShardStats = Sample['stats']['shards'][number];
type Counter = 'commands' | 'fired' | 'cascaded' | 'turns';

export interface ShardView extends ShardStats {
  /** Per second; undefined if there was nothing to compare with. */
  rates?: Record<Counter, number>;
  levels: Sample['wheels'][number]['levels'];
}

/** A sample with what differs from earlier ones: what the page and `watch` show, and `watch --json` prints. */
export interface View extends Omit<Sample, 'point'>, Trend {
  /** The shards whose wheels the sample has. */
  shards: ShardView[];
  /** The lanes of these shards. */
  lanes: (Sample['wheels'][number]['lanes'][number] & { shard: number })[];
  /** Of the whole run, and of the last `seconds`. */
  overall: LatenessView;
  recent?: LatenessView;
  seconds: number;
}

/** ms of "now". */
const NOW_MS = 10_000;

const perSecond = (count: number, milliseconds: number): number =>
  Math.round((count * 1000) / Math.max(1, milliseconds));

/** Makes views of samples, by differences between their cumulative counts. */
export class Model {
  /** The latest, the oldest first. */
  readonly trends: Trend[] = [];
  readonly bounds: readonly number[];
  private before: Sample | undefined;

  constructor({ bounds, points }: Pick<Hello, 'bounds' | 'points'>) {
    this.bounds = bounds;
    for (const point of points) this.add(point);
  }

  take(sample: Sample): View {
    const { before } = this;
    this.before = sample;
    const { point, stats, wheels } = sample;
    const trend = this.add(point);
    const elapsed = before?.point.run === point.run ? point.time - before.point.time : undefined;
    // Percentiles of a single client's run are known more finely than by buckets.
    const overall = latenessSince(undefined, point, this.bounds);
    if (stats.clients.length === 0) {
      const { p50, p90, p99, p999, max } = stats.lateness;
      Object.assign(overall, { p50, p90, p99, p999, max });
    }
    const first = this.trends.findLast(({ run, time }) => run === point.run && time <= point.time - NOW_MS);
    const from = first ?? (this.trends.find(({ run }) => run === point.run) as Trend);
    const { point: _, ...facts } = sample;
    return {
      ...facts,
      ...trend,
      shards: stats.shards.flatMap((now) => {
        const wheel = wheels.find(({ shard }) => shard === now.shard);
        const was = elapsed && before?.stats.shards.find(({ shard }) => shard === now.shard);
        return wheel ? { ...now, levels: wheel.levels, rates: was ? ratesOf(was, now, elapsed) : undefined } : [];
      }),
      lanes: wheels.flatMap(({ lanes, shard }) => lanes.map((lane) => ({ ...lane, shard }))),
      overall,
      recent: from === trend ? undefined : latenessSince(from, point, this.bounds),
      seconds: (point.time - from.time) / 1000,
    };
  }

  private add(point: Point): Trend {
    const before = this.trends.at(-1);
    const trend = before?.run === point.run ? { ...point, ...changes(before, point, this.bounds) } : point;
    this.trends.push(trend);
    if (this.trends.length > MAX_POINTS) this.trends.shift();
    return trend;
  }
}

function changes(before: Point, after: Point, bounds: readonly number[]): Omit<Trend, keyof Point> {
  const elapsed = after.time - before.time;
  const rate = (name: keyof Rates): number => perSecond(after[name] - before[name], elapsed);
  const active = after.active - before.active;
  return {
    rates: {
      scheduled: rate('scheduled'),
      rescheduled: rate('rescheduled'),
      cancelled: rate('cancelled'),
      delivered: rate('delivered'),
    },
    lateness: latenessSince(before, after, bounds),
    cores: {
      process: (after.cpu - before.cpu) / 1000 / Math.max(1, elapsed),
      loop: active / Math.max(1, active + after.idle - before.idle),
    },
  };
}

/** A shard's counts start again with each thread. */
function ratesOf(was: ShardStats, now: ShardStats, elapsed: number): Record<Counter, number> {
  const rate = (name: Counter): number => perSecond(now[name] - (now[name] < was[name] ? 0 : was[name]), elapsed);
  return { commands: rate('commands'), fired: rate('fired'), cascaded: rate('cascaded'), turns: rate('turns') };
}

/**
 * The deliveries since a point, or all. Percentiles are rounded up to the bound of a bucket, but at most the maximum of
 * the run.
 */
function latenessSince(before: Point | undefined, { late }: Point, bounds: readonly number[]): LatenessView {
  const counts = late.buckets.map((count, bucket) => count - (before?.late.buckets[bucket] ?? 0));
  const count = counts[counts.length - 1];
  const upTo = (share: number): number => {
    const wanted = Math.ceil(count * share);
    const bucket = counts.findIndex((each) => each >= wanted);
    return count === 0 ? 0 : Math.min(bounds[bucket] ?? late.max, late.max);
  };
  return {
    count,
    p50: upTo(0.5),
    p90: upTo(0.9),
    p99: upTo(0.99),
    p999: upTo(0.999),
    max: upTo(1),
    mean: count === 0 ? 0 : (late.sum - (before?.late.sum ?? 0)) / count,
    buckets: counts.map((each, bucket) => each - (counts[bucket - 1] ?? 0)),
  };
}
