import type { QueueLink } from '../queue-link.ts';

/**
 * Gives what is scheduled other data, and the delay for them. Invariant: it is what the caller has seen, so no newer payload is lost; and no
 * attempt of it has begun. A job that is due, or that a worker has, stays where it is: its worker delays it again.
 *
 *     KEYS  the timer's deduplication key, what comes after its job, the jobs that are delayed, BullMQ's marker
 *     ARGV  what the keys of jobs begin with, the data before and after, ms since 1970
 */
const MOVE = `
if redis.call('EXISTS', KEYS[2]) == 1 then
  if redis.call('HGET', KEYS[2], 'data') ~= ARGV[2] then return 0 end
  return redis.call('HSET', KEYS[2], 'data', ARGV[3]) + 1
end
local job = redis.call('GET', KEYS[1])
local key = job and ARGV[1] .. job
if not job or redis.call('HGET', key, 'data') ~= ARGV[2] or redis.call('HEXISTS', key, 'swState') == 1 then return 0 end
redis.call('HSET', key, 'data', ARGV[3])
redis.call('HDEL', key, 'swAttempts')
if redis.call('ZSCORE', KEYS[3], job) then
  redis.call('ZADD', KEYS[3], ARGV[4] * 4096, job)
  redis.call('ZADD', KEYS[4], redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2] / 4096, '1')
end
return 1`;

/** Resolves with false if there is something else by now. `due`: in ms since 1970. */
export async function move(
  link: QueueLink,
  timer: string,
  before: string,
  after: string,
  due: number,
): Promise<boolean> {
  const keys = [`de:${timer}`, `dn:${timer}`, 'delayed', 'marker'];
  return (await link.run(MOVE, keys, link.prefix, before, after, `${Math.ceil(due)}`)) === 1;
}
