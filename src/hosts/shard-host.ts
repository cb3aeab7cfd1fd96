import type { ShardControl } from '../shard/shard-control.ts';

/** @internal */
export type ControlCall = keyof ShardControl;

/** Runs a shard: on a thread, or inline in the caller's thread. @internal */
export interface ShardHost {
  /** Resolves when the shard is up. */
  readonly ready: Promise<void>;
  /** Whether it runs in the client's thread. */
  readonly isInline: boolean;
  /** Number of its threads that have died, and of its failures inline. */
  readonly deaths: number;
  /** Called when the client has published, or has taken fired records: an inline shard takes its turn now. */
  afterPublish(): void;
  /** Called before the client takes fired records: an inline shard fires due timers. */
  catchUp(): void;
  /** Makes a control call. If the shard dies before it answers, its successor is asked. */
  call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>>;
  stop(): Promise<void>;
}

/** A successor has replaced a shard that died. */
export interface ShardRestart {
  shard: number;
  /** What ended the last one: the error that was thrown, or one with the exit code. */
  cause: Error;
  /** Number of live timers that were indexed again. */
  rescheduled: number;
  /** Deaths since the shard was last served, including threads that died before they were up, and failures inline. */
  deaths: number;
}
