import type { ProfileData } from './profile-data.ts';

/** ns per operation, on one kind of timers. */
export interface TimerCosts {
  /** Setting and clearing a timer, cleared in the same ms. */
  young: number;
  /** Setting and clearing a timer that lived for longer than a few ms. */
  old: number;
  refresh: number;
  /** From the event loop's waking to the callback's end, the callback being empty. */
  fire: number;
}

/** Measured on this machine after the program, with as many live timers as it had. */
export interface Calibration {
  live: number;
  node: TimerCosts;
  shardwheel: TimerCosts;
}

/** What timers take of an event loop's busy time: shares, 0 to 1. */
export interface Estimate {
  /** Setting, clearing, refreshing: from samples in the program itself. */
  calls: number;
  /** Calling callbacks, without the callbacks: exact counts times the measured cost. */
  firing: number;
  /** What both would be with shardwheel. */
  withShardwheel: number;
  /** Of timers that were cleared: how many had lived for no more than 4 ms. */
  young: number;
}

export interface Verdict {
  need: 'none' | 'little' | 'passes' | 'gain' | 'unknown';
  headline: string;
  reason: string;
}

/** One event loop of the report. */
export interface LoopReport {
  data: ProfileData;
  estimate: Estimate | undefined;
  verdict: Verdict;
}

/** Everything that terminal, JSON and page show. */
export interface ReportData {
  /** ISO 8601. */
  date: string;
  command: string;
  /** How the program ended; '' if it goes on. */
  end: string;
  machine: string;
  calibration: Calibration | undefined;
  /** Those with most timer operations first. */
  loops: LoopReport[];
  /** What the figures leave out. */
  limits: string[];
}
