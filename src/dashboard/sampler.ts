import { performance } from 'node:perf_hooks';
import type { DurableStats } from '../durable/durable-stats.ts';
import type { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import { process } from '../process.ts';
import { internalsOf } from '../scheduler/internals.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { LaneQueues, ShardWheel } from '../scheduler/shard-wheels.ts';
import type { ClientStats } from '../scheduler/sharing.ts';
import type { SchedulerStats, ShardStats } from '../scheduler/stats.ts';
import type { TimerCounts } from '../scheduler/stats-interval.ts';
import { between, exactView, type LatenessCounts, LatenessWindow, summed, viewOf } from './lateness-window.ts';
import { LatestAnswer } from './latest-answer.ts';
import type {
  ClientView,
  Counts,
  DurableView,
  LabelView,
  LaneView,
  LatenessViews,
  LevelView,
  Point,
  RestartView,
  Sample,
  ShardView,
} from './messages.ts';

/** The window of "now" in ms. */
const NOW = 10_000;
/** Maximum of rows that are sent of a table. */
const MOST_ROWS = 64;

/** A sample of all shards; each stream gets some of them. */
export type WholeSample = Omit<Sample, 'cost'>;

interface Before {
  /** In ms, of a clock that never falls. */
  readonly time: number;
  readonly stats: SchedulerStats;
  readonly cpu: NodeJS.CpuUsage;
  readonly loop: ReturnType<typeof performance.eventLoopUtilization>;
}

/** Makes samples from the counts of scheduler and process, by the differences between two readings. */
export class Sampler {
  private readonly scheduler: Scheduler;
  private readonly durable: LatestAnswer<DurableStats> | undefined;
  private readonly histogram: LatenessHistogram;
  /** The latenesses of this client if it is the only one, in its histogram's resolution. */
  private readonly own = new LatenessWindow<Float64Array>(NOW);
  /** The latenesses of all clients, in the resolution of the reported buckets. */
  private readonly all = new LatenessWindow<LatenessCounts>(NOW);
  private before: Before | undefined;

  /** `durable`: reads the counts of durable timers, if there are any to show. */
  constructor(scheduler: Scheduler, durable: (() => Promise<DurableStats>) | undefined) {
    this.scheduler = scheduler;
    this.durable = durable && new LatestAnswer(durable);
    this.histogram = internalsOf(scheduler).client.lateness;
  }

  /** Forgets the last reading: the next sample has no rates. */
  pause(): void {
    this.before = undefined;
    this.own.clear();
    this.all.clear();
  }

  /** Asks the shards, and compares with their last answers. `taken`: when they had answered. Rejects like `stats()`. */
  async take(restarted: RestartView[]): Promise<{ taken: number; sample: WholeSample }> {
    const durable = this.durable?.read(); // their store may be far away
    const [stats, wheels] = await Promise.all([this.scheduler.stats(), this.scheduler.wheels()]);
    const taken = performance.now();
    const { before } = this;
    const at = Date.now();
    const look = { time: taken, stats, cpu: process.cpuUsage(), loop: performance.eventLoopUtilization() };
    this.before = look;
    const elapsed = before === undefined ? 0 : Math.max(1, taken - before.time);
    const clients = clientsOf(stats);
    const counts = sumOf(clients.map(({ counts }) => counts));
    const rates = before && perSecond(ratesOf(clientsOf(before.stats), clients), elapsed);
    const size = clients.reduce((total, client) => total + client.size, 0);
    const { lateness, last } = this.latenessOf(taken, clients, stats.clients.length > 0);
    const { rss: resident, heapUsed, heapTotal, external } = process.memoryUsage();
    const lanes = wheels.flatMap((wheel) => wheel.lanes.map((lane) => laneView(wheel.shard, lane)));
    const labels = labelsOf(stats);
    const point: Point = [
      at,
      size,
      rates?.scheduled ?? null,
      rates?.moved ?? null,
      rates?.cancelled ?? null,
      rates?.delivered ?? null,
      last !== undefined && last.count > 0 ? last.p50 : null,
      last !== undefined && last.count > 0 ? last.p99 : null,
      resident,
      heapUsed,
    ];
    const sample: WholeSample = {
      at,
      size,
      counts,
      rates,
      stale: clients.reduce((total, { stale }) => total + stale, 0),
      slack: stats.slack,
      lateness,
      serving: stats.serving,
      capacity: total(stats.shards, 'capacity'),
      deaths: total(stats.shards, 'deaths'),
      restarts: total(stats.shards, 'restarts'),
      restarted,
      shards: stats.shards.map((shard) => shardView(shard, before?.stats, elapsed, wheels)),
      lanes: lanes.slice(0, MOST_ROWS),
      laneCount: lanes.length,
      clients: stats.clients.slice(0, MOST_ROWS).map(clientView),
      clientCount: stats.clients.length,
      labels: labels.slice(0, MOST_ROWS),
      labelCount: labels.length,
      durable: durable && durableView(durable),
      warnings: stats.warnings.map(({ message }) => message),
      memory: { resident, heapUsed, heapTotal, external, timers: total(stats.shards, 'bytes') },
      cpu: before && {
        process: (look.cpu.user + look.cpu.system - before.cpu.user - before.cpu.system) / 1000 / elapsed,
        loop: performance.eventLoopUtilization(look.loop, before.loop).utilization,
      },
      point,
    };
    return { taken, sample };
  }

  private latenessOf(time: number, clients: readonly Counted[], isShared: boolean) {
    const { histogram } = this;
    const counts = summed(clients.map(({ lateness }) => lateness));
    const found = isShared
      ? this.all.add(time, counts, (before) => viewOf(between(before, counts)))
      : this.own.add(time, histogram.copy(), (before) => exactView(histogram.since(before.slice()).summary()));
    const views: LatenessViews = {
      bounds: counts.bounds.slice(0, -1),
      run: isShared ? viewOf(counts) : exactView(clients[0].lateness),
      now: found?.window,
      seconds: found?.seconds ?? 0,
    };
    return { lateness: views, last: found?.last };
  }
}

/** The counts of a client, under the dashboard's names. */
interface Counted {
  readonly client: number;
  readonly size: number;
  readonly counts: Counts;
  readonly stale: number;
  readonly lateness: TimerCounts['lateness'];
}

const countsIn = ({ scheduled, rescheduled, cancelled, delivered }: TimerCounts): Counts => ({
  scheduled,
  moved: rescheduled,
  cancelled,
  delivered,
});

/** All clients if the scheduler is shared and knows them; else the one that is asked. */
function clientsOf(stats: SchedulerStats): Counted[] {
  const all: readonly (TimerCounts & { client?: number })[] = stats.clients.length > 0 ? stats.clients : [stats];
  return all.map((each) => ({
    client: each.client ?? 0,
    size: each.size,
    counts: countsIn(each),
    stale: each.stale,
    lateness: each.lateness,
  }));
}

const sumOf = (all: readonly Counts[]): Counts => ({
  scheduled: total(all, 'scheduled'),
  moved: total(all, 'moved'),
  cancelled: total(all, 'cancelled'),
  delivered: total(all, 'delivered'),
});

/** The counts of each client since the last reading: of a new client all, of one that has left none. */
function ratesOf(before: readonly Counted[], after: readonly Counted[]): Counts {
  const known = new Map(before.map(({ client, counts }) => [client, counts]));
  const none: Counts = { scheduled: 0, moved: 0, cancelled: 0, delivered: 0 };
  return sumOf(
    after.map(({ client, counts }) => {
      const from = known.get(client) ?? none;
      return {
        scheduled: counts.scheduled - from.scheduled,
        moved: counts.moved - from.moved,
        cancelled: counts.cancelled - from.cancelled,
        delivered: counts.delivered - from.delivered,
      };
    }),
  );
}

const rate = (count: number, elapsed: number): number => Math.round((count * 1000) / elapsed);

const perSecond = ({ scheduled, moved, cancelled, delivered }: Counts, elapsed: number): Counts => ({
  scheduled: rate(scheduled, elapsed),
  moved: rate(moved, elapsed),
  cancelled: rate(cancelled, elapsed),
  delivered: rate(delivered, elapsed),
});

function total<K extends string>(rows: readonly Record<K, number>[], name: K): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}

function shardView(
  stats: ShardStats,
  before: SchedulerStats | undefined,
  elapsed: number,
  wheels: readonly ShardWheel[],
): ShardView {
  const { shard, size, capacity, highWater, filed, deaths, restarts, inline, bytes } = stats;
  const was = before?.shards.find((other) => other.shard === shard);
  // Its counts start again with each thread.
  const since = (name: 'commands' | 'fired' | 'cascaded' | 'turns') =>
    was && rate(stats[name] - (stats[name] < was[name] ? 0 : was[name]), elapsed);
  return {
    shard,
    size,
    capacity,
    highWater,
    filed,
    deaths,
    restarts,
    inline,
    bytes,
    commands: since('commands'),
    fired: since('fired'),
    cascaded: since('cascaded'),
    turns: since('turns'),
    levels: (wheels.find((wheel) => wheel.shard === shard)?.levels ?? []).map(levelView),
  };
}

function levelView({ arcs, ...level }: ShardWheel['levels'][number]): LevelView {
  const filled: number[] = [];
  for (const [arc, entries] of arcs.entries()) if (entries > 0) filled.push(arc, entries);
  return { ...level, arcs: arcs.length, filled };
}

const laneView = (shard: number, lane: LaneQueues): LaneView => ({ shard, ...lane });

function clientView(stats: ClientStats): ClientView {
  const { client, thread, size, lateness } = stats;
  const { p50, p99, max } = lateness;
  return { client, thread, size, ...countsIn(stats), p50, p99, max };
}

function durableView({ lateness, ...counts }: DurableStats): DurableView {
  const { p50, p99, max } = lateness;
  return { ...counts, p50, p99, max };
}

/** The labels, the largest first. */
function labelsOf(stats: SchedulerStats): LabelView[] {
  const labels = stats.labels.map(({ label, min, factor, size, scheduled, cancelled, delivered, lateness }) => {
    const { p50, p99, max } = lateness;
    const scale = min === undefined ? undefined : { min, factor };
    return { label, size, scheduled, cancelled, delivered, p50, p99, max, scale };
  });
  return labels.sort((a, b) => b.size - a.size);
}
