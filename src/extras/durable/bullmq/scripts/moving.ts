import { SCORES_PER_MS } from '../job-time.ts';
import type { QueueLink } from '../queue-link.ts';

/**
 * ms from now: what is delayed for longer has not been put back for want of a handler, by whichever process's clock.
 * Far above the longest put-back.
 */
const PUT_BACK_MS = 60_000;

/**
 * Reads at one moment the jobs that are due, or nearly: in whichever list they are.
 *
 *     KEYS  the jobs that are delayed, have a priority, wait, wait in a queue that is paused, and that workers have
 *     ARGV  the most score of a delayed one, what the ids begin with
 */
const MOVING = `
local found = {}
local function add(jobs)
  for _, job in ipairs(jobs) do
    if string.sub(job, 1, #ARGV[2]) == ARGV[2] then found[#found + 1] = job end
  end
end
add(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1]))
add(redis.call('ZRANGE', KEYS[2], 0, -1))
for at = 3, 5 do add(redis.call('LRANGE', KEYS[at], 0, -1)) end
return found`;

/** Resolves with the ids of jobs that begin so. */
export async function movingJobs(link: QueueLink, prefix: string): Promise<string[]> {
  const keys = ['delayed', 'prioritized', 'wait', 'paused', 'active'];
  const most = (Date.now() + PUT_BACK_MS) * SCORES_PER_MS;
  return (await link.run(MOVING, keys, `${most}`, prefix)) as string[];
}
