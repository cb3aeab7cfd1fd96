import type { QueueLink } from '../queue-link.ts';

/**
 * Begins an attempt of the job that a worker has taken. Invariant: of a job, an attempt begins only under its newest lock, with its
 * newest data, and unless it has ended or another comes after it; and it is counted before, and its lock renewed: BullMQ's worker takes
 * as many jobs as it may before it hands over the first.
 *
 *     KEYS  the job, its lock, what comes after it
 *     ARGV  the lock's token, the data that the worker knows, ms for which the lock holds
 */
const CLAIM = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
local fields = redis.call('HMGET', KEYS[1], 'data', 'swState')
if fields[2] == 'ended' or redis.call('EXISTS', KEYS[3]) == 1 then return 'ended' end
if fields[1] ~= ARGV[2] then return {fields[1]} end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
redis.call('HSET', KEYS[1], 'swState', 'running')
return redis.call('HINCRBY', KEYS[1], 'swAttempts', 1)`;

/** Resolves with the number of attempts beyond those in the data, or with other data that the job has by now. */
export async function claim(
  link: QueueLink,
  keys: readonly [job: string, lock: string, next: string],
  token: string,
  data: string,
): Promise<number | { data: string } | 'lost' | 'ended'> {
  const answer = await link.run(CLAIM, keys, token, data, `${link.stalledAfter}`);
  return Array.isArray(answer) ? { data: answer[0] as string } : (answer as number | 'lost' | 'ended');
}
