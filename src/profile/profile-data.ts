/** How often each of the four things happened. */
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
  /** ms; delays from here on, and below the next bucket's. */
  from: number;
}

/** What the samples of one kind of call say. */
export interface CallTimes {
  /** Calls that were timed. */
  samples: number;
  /** ns per call: the mean of the latest 1,024 without the tenth at either end. 0 where nothing was timed. */
  ns: number;
}

/** A place in the program that creates timers; all counts are estimates from samples, scaled to the exact totals. */
export interface SiteCounts extends TimerCounts {
  /** `file:line` of the call. */
  site: string;
  /** The function that it stands in, where it has a name. */
  name: string;
  /** Where the call is in a package: the nearest place outside of node_modules that led to it. */
  from: string;
  /** ms; that of most of its sampled timers. */
  delay: number;
  samples: number;
}

/** The state at one moment; counts are since the recording began. */
export interface SeriesPoint extends TimerCounts {
  /** s since the recording began. */
  at: number;
  live: number;
  /** ms; the longest pass since the point before. */
  pass: number;
  /** ms that the loop was not idle, since the recording began. */
  busy: number;
}

/** What one thread's recorder has seen: written as JSON, each second and at the end. */
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
  /** `stopped`: after the seconds that were asked for, by `stop()`, or at the thread's end. */
  state: 'recording' | 'stopped' | 'ended';
  /** s that were recorded. */
  seconds: number;
  /** ms that the event loop was not idle. */
  busy: number;
  /** ms of CPU that the whole process took, all threads. */
  cpu: number;
  totals: TimerCounts;
  /** Of `created`: how many by which function. */
  kinds: { timeouts: number; intervals: number; promises: number };
  /** clearTimeout of a timer that had fired, was cleared, or never was. */
  needlessClears: number;
  live: number;
  peak: { live: number; at: number };
  /** Every delay's bucket; exact. */
  buckets: BucketCounts[];
  /** The commonest delays, commonest first; exact. */
  delays: DelayCounts[];
  /** Different delays that the program has used; beyond 1,000 no more are told apart. */
  differentDelays: number;
  calls: { create: CallTimes; clear: CallTimes; refresh: CallTimes };
  /** Of sampled timers that were cleared: how many had lived so many ms, by the power of two above. */
  lifetimes: number[];
  /** Passes of the timer phase that called something. */
  passes: { count: number; milliseconds: number; longest: { milliseconds: number; fired: number; at: number } };
  /** Of everything that fired; Node's own clock has whole ms, so each is known to within half of one. */
  lateness: { count: number; p50: number; p90: number; p99: number; p999: number; max: number };
  /** Of everything that fired: how many were late by less than 2^i ms, and not by less than half of it. */
  latenessBuckets: number[];
  /** Of sampled timers that fired: how many came before their delay had passed, by the real clock. ms. */
  early: { sampled: number; early: number; max: number };
  sites: SiteCounts[];
  siteSamples: number;
  /** Timers of Node's own parts, as far as they can be seen. */
  internal: { created: number; refreshed: number; fired: number };
  series: SeriesPoint[];
}
