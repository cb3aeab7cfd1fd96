/** How often each of the four operations happened. */
export interface TimerCounts {
  created: number;
  /** Cleared while they were live. */
  cleared: number;
  refreshed: number;
  /** Calls of callbacks; an interval counts with each. */
  fired: number;
}

export interface DelayCounts extends TimerCounts {
  /** ms, whole, as Node rounds them. */
  delay: number;
}

export interface BucketCounts extends TimerCounts {
  /** In ms: delays from here on, below the next bucket's. */
  from: number;
}

/** The samples of one kind of call. */
export interface CallTimes {
  /** Calls that were timed. */
  samples: number;
  /** ns per call: the mean of the latest 1,024 without the tenth at either end. 0 if nothing was timed. */
  ns: number;
}

/** A place in the program that creates timers; all counts are estimates from samples, scaled to the exact totals. */
export interface SiteCounts extends TimerCounts {
  /** `file:line` of the call. */
  site: string;
  /** The function that contains it, if it has a name. */
  name: string;
  /** If the call is in a package: the nearest place outside node_modules that led to it. */
  from: string;
  /** In ms: the commonest delay of its sampled timers. */
  delay: number;
  samples: number;
}

/** The state at one moment; counts are since the recording began. */
export interface SeriesPoint extends TimerCounts {
  /** s since the recording began. */
  at: number;
  live: number;
  /** In ms: the longest pass since the last point. */
  pass: number;
  /** ms that the loop was not idle, since the recording began. */
  busy: number;
}

/** The data of one thread's recorder: written as JSON, each second and at the end. */
export interface ProfileData {
  format: 1;
  process: {
    pid: number;
    /** 0 is the main thread. */
    thread: number;
    /** The script and its arguments, shortened. */
    title: string;
    node: string;
    execPath: string;
  };
  /** `stopped`: after the requested seconds, by `stop()`, or at the thread's end. */
  state: 'recording' | 'stopped' | 'ended';
  /** Recorded time in s. */
  seconds: number;
  /** ms that the event loop was not idle. */
  busy: number;
  /** ms of CPU of the whole process, all threads. */
  cpu: number;
  totals: TimerCounts;
  /** The timers of `created` by function. */
  kinds: { timeouts: number; intervals: number; promises: number };
  /** clearTimeout of a timer that had fired, was cleared, or never existed. */
  needlessClears: number;
  live: number;
  peak: { live: number; at: number };
  /** Every delay's bucket; exact. */
  buckets: BucketCounts[];
  /** The commonest delays, commonest first; exact. */
  delays: DelayCounts[];
  /** Number of different delays of the program; beyond 1,000 no more are distinguished. */
  differentDelays: number;
  calls: { create: CallTimes; clear: CallTimes; refresh: CallTimes };
  /** Sampled timers that were cleared, by their lifetime in ms, rounded up to a power of two. */
  lifetimes: number[];
  /** Passes of the timer phase that called something. */
  passes: { count: number; milliseconds: number; longest: { milliseconds: number; fired: number; at: number } };
  /** Of all fired timers. Node's own clock has whole ms, so each value is accurate to half of one. */
  lateness: { count: number; p50: number; p90: number; p99: number; p999: number; max: number };
  /** Fired timers that were late by less than 2^i ms, and by at least half of it. */
  latenessBuckets: number[];
  /** Sampled timers that fired before their delay had passed, by the real clock. In ms. */
  early: { sampled: number; early: number; max: number };
  sites: SiteCounts[];
  siteSamples: number;
  /** Timers of Node's own parts, as far as they can be seen. */
  internal: { created: number; refreshed: number; fired: number };
  series: SeriesPoint[];
}
