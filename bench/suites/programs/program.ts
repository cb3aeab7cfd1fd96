import type { LatenessHistogram } from '../../../src/metrics/lateness-histogram.ts';
import type { Scheduler } from '../../../src/scheduler/scheduler.ts';
import type { SubjectEntry } from '../../engine/suite.ts';

/** Whose functions a program finds as its global timers; with 'none' those of a second and more are not set at all. */
export type TimersKind = 'node' | 'inline' | 'shard' | 'none';

/** The subject without timers of a second and more. */
export const NONE = 'no timers';

export interface ProgramSubject extends SubjectEntry {
  readonly timers: TimersKind;
}

/** A program under load, on the timers that are installed while it starts, works and stops. */
export interface RunningProgram {
  /** How many there are of what has timers: connections, entries, sessions. */
  readonly live: number;
  /** One slice of load. Returns how many operations it had; records how long each took that somebody waited for, ms. */
  work(waits: LatenessHistogram): Promise<number>;
  /**
   * Where one serves all slices: moves what it has set to the timers that are installed now. Not there where nothing
   * stays set.
   */
  move?(): void;
  /** Ends it. Throws where it did wrong. */
  stop(): Promise<void>;
}

export interface Program {
  /** The second word of its suite's name. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** What is counted, in the singular; and what is live, where it is so many that their memory says something. */
  readonly operation: string;
  readonly live?: string;
  /** Of the full size, when memory is measured; 1 unless said otherwise. */
  readonly memoryPart?: number;
  /** Of each subject in a process. */
  readonly slices: number;
  /** Whether one that is begun once serves the slices of all subjects, not each slice one of its own. */
  readonly isKept?: boolean;
  /** The latency that users would notice. */
  readonly wait: string;
  readonly subjects: readonly ProgramSubject[];
  /** `part`: how much of the full size, 1 for all of it. The scheduler is there where the timers are shardwheel's. */
  start(part: number, subject: ProgramSubject, scheduler: Scheduler | undefined): Promise<RunningProgram>;
}
