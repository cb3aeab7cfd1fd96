import { jobTime, SCORES_PER_MS } from '../job-time.ts';
import type { QueueLink } from '../queue-link.ts';

/**
 * Cancels a timer. Invariant: after it no attempt begins. A job that no worker has is removed; one that a worker has is
 * marked as ended, which does not need its lock: the worker sees that before it begins an attempt, or when that has
 * failed. What comes after it is removed. Returns 1 if any of that was still to come.
 *
 *     KEYS  the timer's deduplication key, what comes after its job, the jobs that workers have, that are delayed, have
 *           a priority, wait, and wait in a queue that is paused
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

/**
 * Gives what is scheduled other data, and the delay for them. Invariant: it is what the caller has seen, so no newer
 * payload is lost; and no attempt of it has begun. A job that is due, or that a worker has, stays where it is: its
 * worker delays it again.
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
  redis.call('ZADD', KEYS[3], ARGV[4] * ${SCORES_PER_MS}, job)
  redis.call('ZADD', KEYS[4], redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')[2] / ${SCORES_PER_MS}, '1')
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
  return (await link.run(MOVE, keys, link.prefix, before, after, `${Math.ceil(jobTime(link.clock, due))}`)) === 1;
}

/**
 * Schedules a timer whose job BullMQ has not replaced, as it is due. Invariant: what was scheduled last comes next, and
 * never beside an attempt. It gets the place of a job that waits for a worker; where a worker has the job, it comes
 * after it: BullMQ makes it a job when that one completes. This does not need the lock of the job.
 *
 *     KEYS  the timer's deduplication key, what comes after its job, the jobs that workers have, and that are delayed
 *     ARGV  what the keys of jobs begin with, the name, the data, the id of the job that comes after, '1' if nothing
 *           may be scheduled: the job's attempt is under way, or it has ended, and nothing comes after it
 */
const SUPERSEDE = `
local job = redis.call('GET', KEYS[1])
local key = job and ARGV[1] .. job
if not job or redis.call('EXISTS', key) == 0 or redis.call('ZSCORE', KEYS[4], job) then return 0 end
local isScheduled = redis.call('EXISTS', KEYS[2]) == 1 or redis.call('HEXISTS', key, 'swState') == 0
if ARGV[5] == '1' and isScheduled then return 0 end
if redis.call('LPOS', KEYS[3], job) then
  local opts = cjson.decode(redis.call('HGET', key, 'opts'))
  opts['delay'] = 0
  redis.call('HSET', KEYS[2], 'name', ARGV[2], 'data', ARGV[3], 'opts', cjson.encode(opts), 'jid', ARGV[4])
else
  redis.call('HSET', key, 'data', ARGV[3])
  redis.call('HDEL', key, 'swState', 'swAttempts')
end
return 1`;

/**
 * Resolves with false if BullMQ can replace the job by now, or there is none; or something is scheduled that may not
 * be.
 */
export async function supersede(
  link: QueueLink,
  timer: string,
  job: { name: string; data: string; id: string },
  onlyAttempt: boolean,
): Promise<boolean> {
  const keys = [`de:${timer}`, `dn:${timer}`, 'active', 'delayed'];
  return (await link.run(SUPERSEDE, keys, link.prefix, job.name, job.data, job.id, onlyAttempt ? '1' : '')) === 1;
}
