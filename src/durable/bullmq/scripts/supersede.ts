import type { QueueLink } from '../queue-link.ts';

/**
 * Schedules a timer whose job BullMQ has not replaced, as it is due. Invariant: what was scheduled last comes next, and never beside an
 * attempt. It gets the place of a job that waits for a worker; where a worker has the job, it comes after it: BullMQ makes it a job
 * when that one completes. This does not need the lock of the job.
 *
 *     KEYS  the timer's deduplication key, what comes after its job, the jobs that workers have, and that are delayed
 *     ARGV  what the keys of jobs begin with, the name, the data, the id of the job that comes after
 */
const SUPERSEDE = `
local job = redis.call('GET', KEYS[1])
local key = job and ARGV[1] .. job
if not job or redis.call('EXISTS', key) == 0 or redis.call('ZSCORE', KEYS[4], job) then return 0 end
if redis.call('LPOS', KEYS[3], job) then
  local opts = cjson.decode(redis.call('HGET', key, 'opts'))
  opts['delay'] = 0
  redis.call('HSET', KEYS[2], 'name', ARGV[2], 'data', ARGV[3], 'opts', cjson.encode(opts), 'jid', ARGV[4])
else
  redis.call('HSET', key, 'data', ARGV[3])
  redis.call('HDEL', key, 'swState', 'swAttempts')
end
return 1`;

/** Resolves with false if BullMQ can replace the job by now, or there is none. */
export async function supersede(
  link: QueueLink,
  timer: string,
  job: { name: string; data: string; id: string },
): Promise<boolean> {
  const keys = [`de:${timer}`, `dn:${timer}`, 'active', 'delayed'];
  return (await link.run(SUPERSEDE, keys, link.prefix, job.name, job.data, job.id)) === 1;
}
