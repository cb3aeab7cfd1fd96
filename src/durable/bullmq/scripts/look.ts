import type { RedisConnection } from '../queue-options.ts';

/** What Redis has of a timer. */
export interface Look {
  /** Its job. */
  readonly job: string | null;
  readonly data: string | null;
  /** 'running' while an attempt runs; 'ended' once the job is over, though a worker may still have it. Else it is scheduled. */
  readonly state: string | null;
  /** Attempts that have begun, beyond those in the data. */
  readonly attempts: number;
  /** The data of what comes after the job. */
  readonly next: string | null;
}

/** Reads at one moment the job of a timer, and what comes after it. */
const LOOK = `
local job = redis.call('GET', KEYS[1])
local fields = job and redis.call('HMGET', ARGV[1] .. job, 'data', 'swState', 'swAttempts') or {}
return {job, fields[1] or false, fields[2] or false, fields[3] or false, redis.call('HGET', KEYS[2], 'data')}`;

export async function look(client: RedisConnection, prefix: string, timer: string): Promise<Look> {
  const answer = await client.eval(LOOK, 2, `${prefix}de:${timer}`, `${prefix}dn:${timer}`, prefix);
  const [job, data, state, attempts, next] = answer as (string | null)[];
  return { job, data, state, attempts: Number(attempts), next };
}
