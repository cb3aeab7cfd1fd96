import type { QueueLink } from '../queue-link.ts';

/**
 * Cancels a timer. Invariant: after it no attempt begins. A job that no worker has is removed; one that a worker has is marked as ended,
 * which does not need its lock: the worker sees that before it begins an attempt, or when that has failed. What comes after it is
 * removed. Returns 1 if any of that was still to come.
 *
 *     KEYS  the timer's deduplication key, what comes after its job, the jobs that workers have, that are delayed, have a priority,
 *           wait, and wait in a queue that is paused
 *     ARGV  what the keys of jobs begin with
 */
const CANCEL = `
local job = redis.call('GET', KEYS[1])
local next = redis.call('DEL', KEYS[2])
if not job then return next end
local key = ARGV[1] .. job
if redis.call('EXISTS', key) == 0 then return next end
local state = redis.call('HGET', key, 'swState')
if redis.call('LPOS', KEYS[3], job) then
  redis.call('HSET', key, 'swState', 'ended')
else
  if redis.call('ZREM', KEYS[4], job) + redis.call('ZREM', KEYS[5], job) == 0 and redis.call('LREM', KEYS[6], 1, job) == 0 then
    redis.call('LREM', KEYS[7], 1, job)
  end
  redis.call('DEL', key, KEYS[1])
end
return (state ~= 'ended' or next == 1) and 1 or 0`;

export async function cancel(link: QueueLink, timer: string): Promise<boolean> {
  const keys = [`de:${timer}`, `dn:${timer}`, 'active', 'delayed', 'prioritized', 'wait', 'paused'];
  return (await link.run(CANCEL, keys, link.prefix)) === 1;
}
