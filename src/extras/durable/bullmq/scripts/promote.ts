import { scoresBeyond } from '../job-time.ts';
import type { QueueLink } from '../queue-link.ts';

/**
 * Makes jobs due, in their order, and wakes a worker.
 *
 *     KEYS  the jobs that are delayed, BullMQ's marker
 *     ARGV  the least and the most score of these jobs
 */
const PROMOTE = `
local jobs = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2])
for place, job in ipairs(jobs) do redis.call('ZADD', KEYS[1], place, job) end
if #jobs > 0 then redis.call('ZADD', KEYS[2], 0, '0') end`;

/**
 * Hands BullMQ what a manual clock has come to. Called after each write as well: the clock may have been advanced
 * meanwhile.
 */
export async function promote(link: QueueLink): Promise<void> {
  if (!link.clock.isManual) return;
  const [least, most] = scoresBeyond(link.clock);
  await link.run(PROMOTE, ['delayed', 'marker'], `${least}`, `${most}`);
}
