/** How the timers of an event loop are served. */
export type Service = 'native' | 'inline' | 'shard';
export const services = ['native', 'inline', 'shard'] as const;

export const serviceTitles: Readonly<Record<Service, string>> = {
  native: 'node:timers',
  inline: 'shardwheel, inline',
  shard: 'shardwheel, a shard',
};

/** CPU that grows with the rate of connections, and CPU that a turn takes beside: both ms. */
export interface CpuCost {
  readonly perConnection: number;
  readonly perTurn: number;
}

/** What the timers of one event loop cost, beyond what the same loop does without them. */
export interface ServiceCosts {
  readonly loop: CpuCost;
  readonly shard: CpuCost;
  /** V8's helpers: garbage collection and compilation beside the loop. */
  readonly helpers: CpuCost;
  /** The collector's pauses: how many for each connection, and their lengths in ms. Part of `loop`. */
  readonly pauses: { readonly perConnection: number; readonly lengths: readonly number[] };
  /** Lateness in ms without interference: evenly spaced quantiles, rising. */
  readonly lateness: readonly number[];
  readonly bytesPerTimer: number;
  /** For one loop and, if there are shards, one shard, whatever the number of timers; includes working memory. */
  readonly bytesAtRest: number;
}

/** Measured on this machine, for timers as the plan has them. */
export interface Costs {
  readonly machine: { readonly node: string; readonly cores: number; readonly model: string };
  /**
   * What a connection costs an event loop beside its timers, ms: `--work`, or that of a TCP connection that is
   * accepted, answered once and closed.
   */
  readonly work: number;
  readonly isWorkMeasured: boolean;
  /** Live timers for which they were measured, on one event loop. */
  readonly live: number;
  /** How the timers were described: costs hold for these alone. */
  readonly timers: string;
  readonly services: Readonly<Record<Service, ServiceCosts>>;
}
