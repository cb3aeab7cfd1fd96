import { readData } from '../job-data.ts';
import type { QueueLink } from '../queue-link.ts';

/** Jobs that are looked at: those that have waited longest, and those that are due next. */
const CHECKED_JOBS = 100;

/**
 * Looks at the jobs that wait for a worker, and that are delayed: also because no worker has promoted them, or because
 * one without a handler has put them back.
 *
 *     KEYS  the jobs that wait, and that are delayed
 *     ARGV  what the keys of jobs begin with, how many of each
 */
const HEADS = `
local found = {}
local function look(jobs)
  for _, job in ipairs(jobs) do
    local fields = redis.call('HMGET', ARGV[1] .. job, 'name', 'data')
    if fields[1] and fields[2] then
      found[#found + 1] = fields[1]
      found[#found + 1] = fields[2]
    end
  end
end
look(redis.call('LRANGE', KEYS[1], -ARGV[2], -1))
look(redis.call('ZRANGE', KEYS[2], 0, ARGV[2] - 1))
return found`;

/**
 * Resolves with names of which a timer was due before that time: of those at the heads of the queue. `before`: ms since
 * 1970.
 */
export async function overdueNames(link: QueueLink, before: number): Promise<string[]> {
  const found = (await link.run(HEADS, ['wait', 'delayed'], link.prefix, `${CHECKED_JOBS}`)) as string[];
  const names = new Set<string>();
  for (let at = 0; at < found.length; at += 2) {
    const data = readData(found[at + 1]);
    if (data !== undefined && data.due < before) names.add(found[at]);
  }
  return [...names];
}
