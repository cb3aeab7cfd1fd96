import type { ShardControl } from '../shard/shard-control.ts';

export type ControlCall = keyof ShardControl;

/** A lane that its client can tell the progress of, while a thread serves it. */
export interface LaneOnThread {
  /** See `ShardHost.firedUpTo`. Precondition: the thread has taken the lane. */
  firedByThread(): number;
}

/** Where a shard runs: on a thread of its own, or inline in the caller's. */
export interface ShardHost {
  /** The shard is up. */
  readonly ready: Promise<void>;
  /** It runs in the client's thread. */
  readonly isInline: boolean;
  /** Threads of it that have died, and failures of it inline. */
  readonly deaths: number;
  /** The client has published, or has taken fired records: an inline shard takes its turn now. */
  afterPublish(): void;
  /** The client is about to take fired records: an inline shard fires what has come due. */
  catchUp(): void;
  /** The tick up to which all that is published of a lane has been fired; -1 where that is not known. */
  firedUpTo(lane: LaneOnThread): number;
  /** A control call; where the shard dies before it answers, its successor is asked. */
  call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>>;
  stop(): Promise<void>;
}

/** A shard died and another has taken its place. */
export interface ShardRestart {
  shard: number;
  /** What ended the last: the error that was thrown, or one with the exit code. */
  cause: Error;
  /** Live timers that were indexed again. */
  rescheduled: number;
  /** Deaths since the shard was served last: threads that died before they were up, and failures inline, count as well. */
  deaths: number;
}
