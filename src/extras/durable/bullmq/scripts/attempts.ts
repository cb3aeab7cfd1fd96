import { newJobId } from '../job-data.ts';
import type { QueueLink } from '../queue-link.ts';

/**
 * Begins an attempt of the job that a worker has taken. Invariant: of a job, an attempt begins only under its newest
 * lock, with its newest data, and unless it has ended or another comes after it; and it is counted before, once also if
 * the call is sent again since its answer was lost; and its lock is renewed, also to complete what has ended: BullMQ's
 * worker takes as many jobs as it may before it hands over the first.
 *
 *     KEYS  the job, its lock, what comes after it
 *     ARGV  the lock's token, the data that the worker knows, ms for which the lock holds, what the claim is known by
 */
const CLAIM = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[2], ARGV[3])
local fields = redis.call('HMGET', KEYS[1], 'data', 'swState', 'swClaim', 'swAttempts')
if fields[2] == 'ended' or redis.call('EXISTS', KEYS[3]) == 1 then return 'ended' end
if fields[1] ~= ARGV[2] then return {fields[1]} end
if fields[2] == 'running' and fields[3] == ARGV[4] then return tonumber(fields[4]) end
redis.call('HSET', KEYS[1], 'swState', 'running', 'swClaim', ARGV[4])
return redis.call('HINCRBY', KEYS[1], 'swAttempts', 1)`;

/** Resolves with the number of attempts beyond those in the data, or with other data that the job has by now. */
export async function claim(
  link: QueueLink,
  keys: readonly [job: string, lock: string, next: string],
  token: string,
  data: string,
  id: string,
): Promise<number | { data: string } | 'lost' | 'ended'> {
  const answer = await link.run(CLAIM, keys, token, data, `${link.place.stalledAfter}`, id);
  return Array.isArray(answer) ? { data: answer[0] as string } : (answer as number | 'lost' | 'ended');
}

/**
 * Keeps what becomes of a job after an attempt has failed. Invariant: that counts only under the job's newest lock, and
 * unless the job was cancelled or another comes after it. Then the job is scheduled again, with the new data; or it has
 * ended, and is kept as dead. A call that is sent again since its answer was lost is answered as before.
 *
 *     KEYS  the job, its lock, what comes after it, the dead
 *     ARGV  the lock's token, what the call is known by, the new data or '', the timer, it as a dead one
 */
const SETTLE = `
if redis.call('HGET', KEYS[1], 'swEnding') == ARGV[2] then return 'kept' end
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
if redis.call('HGET', KEYS[1], 'swState') == 'ended' or redis.call('EXISTS', KEYS[3]) == 1 then return 'ended' end
redis.call('HSET', KEYS[1], 'swEnding', ARGV[2])
if ARGV[3] ~= '' then
  redis.call('HSET', KEYS[1], 'data', ARGV[3])
  redis.call('HDEL', KEYS[1], 'swState', 'swAttempts')
else
  redis.call('HSET', KEYS[4], ARGV[4], ARGV[5])
  redis.call('HSET', KEYS[1], 'swState', 'ended')
end
return 'kept'`;

export async function writeEnding(
  link: QueueLink,
  keys: readonly [job: string, lock: string, next: string, dead: string],
  token: string,
  become: { data: string } | { timer: string; dead: string },
): Promise<'lost' | 'ended' | 'kept'> {
  const args = 'data' in become ? [become.data, '', ''] : ['', become.timer, become.dead];
  return (await link.run(SETTLE, keys, token, newJobId(''), ...args)) as 'lost' | 'ended' | 'kept';
}
