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
