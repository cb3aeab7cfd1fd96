/**
 * What the dashboard's server sends, as server-sent events whose data are JSON:
 *
 *    hello    once, first: Hello
 *    sample   each `interval` ms: Sample
 *    waiting  a shard has not answered for `seconds`: Waiting
 *    end      the last one: Ending
 *
 * Imports nothing: pages read it, which know nothing of Node. Times are ms, sizes bytes, rates per second.
 */
export const PROTOCOL = 1;

export interface Hello {
  protocol: number;
  /** Versions of shardwheel and of Node. */
  version: string;
  node: string;
  pid: number;
  /** ms between two samples. */
  interval: number;
  shards: number;
  /** The first shard that this stream shows, and their maximum. */
  from: number;
  shown: number;
  /** The samples so far, the oldest first: see Point. */
  points: Point[];
}

/** [at, live, scheduled, moved, cancelled, delivered, p50, p99, resident, heap]; null where there was nothing to compare with. */
export type Point = [
  at: number,
  live: number,
  scheduled: number | null,
  moved: number | null,
  cancelled: number | null,
  delivered: number | null,
  p50: number | null,
  p99: number | null,
  resident: number,
  heap: number,
];

export interface Waiting {
  seconds: number;
}

export interface Ending {
  reason: string;
}

export interface Counts {
  scheduled: number;
  moved: number;
  cancelled: number;
  delivered: number;
}

export interface LatenessView {
  /** Deliveries. */
  count: number;
  /** In ms: at least this share of deliveries did not exceed it. */
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  mean: number;
  /** Deliveries by bucket of `LatenessViews.bounds`, one more than there are bounds. */
  buckets: number[];
}

export interface LatenessViews {
  /** In ms: the upper bounds of all buckets but the last, which has none. */
  bounds: number[];
  run: LatenessView;
  /** The last `seconds`; if several clients share, its percentiles are bounds of buckets. Undefined in a first sample. */
  now?: LatenessView;
  seconds: number;
}

export interface LevelView {
  slotTime: number;
  slots: number;
  hand: number;
  occupied: number;
  entries: number;
  /** Number of arcs of the ring, all equally long. */
  arcs: number;
  /** The arcs that are not empty: arc, entries, arc, entries, … */
  filled: number[];
}

export interface ShardView {
  shard: number;
  size: number;
  capacity: number;
  highWater: number;
  filed: number;
  deaths: number;
  restarts: number;
  inline: boolean;
  bytes: number;
  /** Per second; undefined in a first sample. */
  commands?: number;
  fired?: number;
  cascaded?: number;
  turns?: number;
  levels: LevelView[];
}

/** A lane: the records that wait between a client and a shard. */
export interface LaneView {
  client: number;
  shard: number;
  filed: number;
  commands: number;
  late: number;
  fired: number;
}

export interface ClientView extends Counts {
  client: number;
  thread: number;
  size: number;
  p50: number;
  p99: number;
  max: number;
}

export interface LabelView {
  label: string;
  size: number;
  scheduled: number;
  cancelled: number;
  delivered: number;
  p50: number;
  p99: number;
  max: number;
  /** For scaled timers: the minimum in ms, and the share of the time beyond it that they get now. */
  scale?: { min: number; factor: number };
}

export interface RestartView {
  at: number;
  shard: number;
  cause: string;
  rescheduled: number;
}

/** Durable timers of this process, and their store. */
export interface DurableView {
  young: number;
  scheduled: number;
  cancelled: number;
  delivered: number;
  failed: number;
  retried: number;
  died: number;
  /** Cancelled or delivered without a write. */
  endedYoung: number;
  /** Lateness of the run in ms. */
  p50: number;
  p99: number;
  max: number;
  /** Undefined while the store does not answer. */
  store?: { kind: string; stored: number; overdue: number; active: number; dead: number; near: number; writes: number };
}

export interface Sample {
  /** ms since the epoch. */
  at: number;
  /** Live timers, of all clients. */
  size: number;
  /** Counts of the run, of all present clients. */
  counts: Counts;
  /** Per second since the last sample; undefined in a first one. */
  rates?: Counts;
  /** Fired records whose timer had been cancelled or moved. */
  stale: number;
  slack: number;
  lateness: LatenessViews;
  /** What serves the shards, since when (ms of the scheduler's clock), and why. */
  serving: { by: string; since: number; reason: string; changes: number };
  /** Live timers and capacity of all shards. */
  capacity: number;
  deaths: number;
  restarts: number;
  /** The latest restarts, the newest first. */
  restarted: RestartView[];
  /** The shards that this stream shows. */
  shards: ShardView[];
  lanes: LaneView[];
  /** Total number of lanes, which may exceed the length of `lanes`. */
  laneCount: number;
  /** Empty if nothing is shared. */
  clients: ClientView[];
  clientCount: number;
  labels: LabelView[];
  labelCount: number;
  /** Undefined if the dashboard shows none, or they have not answered yet. */
  durable?: DurableView;
  warnings: string[];
  memory: { resident: number; heapUsed: number; heapTotal: number; external: number; timers: number };
  /** Shares of a core: of the process, and the share of time for which this event loop was busy. Undefined in a first sample. */
  cpu?: { process: number; loop: number };
  /** ms of the event loop that the last sample took, page included. */
  cost: number;
  /** What goes into the history. */
  point: Point;
}
