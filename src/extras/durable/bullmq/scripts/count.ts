import type { QueueLink } from '../queue-link.ts';

/**
 * Counts at one moment what is scheduled: all jobs but those that workers have and that run or have ended, unless
 * another comes after them. A job goes from one list to another meanwhile, so several reads would count it twice or not
 * at all. It costs a look at each job that a worker has.
 *
 *     KEYS  the jobs that are delayed, have a priority, wait, wait in a queue that is paused, and that workers have
 *     ARGV  what the keys of jobs, and of what comes after a timer's job, begin with
 */
const COUNT = `
local count = redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2])
count = count + redis.call('LLEN', KEYS[3]) + redis.call('LLEN', KEYS[4])
for _, job in ipairs(redis.call('LRANGE', KEYS[5], 0, -1)) do
  local timer = string.match(job, '^(.*)/')
  local isScheduled = redis.call('EXISTS', ARGV[1] .. job) == 1 and redis.call('HEXISTS', ARGV[1] .. job, 'swState') == 0
  if isScheduled or timer and redis.call('EXISTS', ARGV[2] .. timer) == 1 then count = count + 1 end
end
return count`;

export async function countScheduled(link: QueueLink): Promise<number> {
  const keys = ['delayed', 'prioritized', 'wait', 'paused', 'active'];
  return (await link.run(COUNT, keys, link.prefix, `${link.prefix}dn:`)) as number;
}
