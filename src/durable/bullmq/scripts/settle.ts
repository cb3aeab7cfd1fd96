import type { QueueLink } from '../queue-link.ts';

/**
 * Keeps what becomes of a job after an attempt has failed. Invariant: that counts only under the job's newest lock, and unless the job
 * was cancelled or another comes after it. Then the job is scheduled again, with the new data; or it has ended, and is kept as dead.
 *
 *     KEYS  the job, its lock, what comes after it, the dead
 *     ARGV  the lock's token, the new data or '', the timer, it as a dead one
 */
const SETTLE = `
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 'lost' end
if redis.call('HGET', KEYS[1], 'swState') == 'ended' or redis.call('EXISTS', KEYS[3]) == 1 then return 'ended' end
if ARGV[2] ~= '' then
  redis.call('HSET', KEYS[1], 'data', ARGV[2])
  redis.call('HDEL', KEYS[1], 'swState', 'swAttempts')
else
  redis.call('HSET', KEYS[4], ARGV[3], ARGV[4])
  redis.call('HSET', KEYS[1], 'swState', 'ended')
end
return 'kept'`;

export async function settle(
  link: QueueLink,
  keys: readonly [job: string, lock: string, next: string, dead: string],
  token: string,
  become: { data: string } | { timer: string; dead: string },
): Promise<'lost' | 'ended' | 'kept'> {
  const args = 'data' in become ? [become.data, '', ''] : ['', become.timer, become.dead];
  return (await link.run(SETTLE, keys, token, ...args)) as 'lost' | 'ended' | 'kept';
}
