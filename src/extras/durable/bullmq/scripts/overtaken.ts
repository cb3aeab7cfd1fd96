import type { Overtaken } from '../../stored-timer.ts';
import type { QueueLink } from '../queue-link.ts';

/** Jobs that Redis looks at in one go. */
const STEP = 1000;

/**
 * Looks which jobs that workers have do not count any more.
 *
 *     KEYS  of each: the job, what comes after it
 */
const OVERTAKEN = `
local found = {}
for at = 1, #KEYS, 2 do
  local isEnded = redis.call('HGET', KEYS[at], 'swState') == 'ended'
  found[#found + 1] = redis.call('EXISTS', KEYS[at + 1]) == 1 and 'superseded' or isEnded and 'cancelled' or ''
end
return found`;

/** Resolves with what has become of each job. */
export async function overtaken(
  link: QueueLink,
  jobs: readonly (readonly [job: string, next: string])[],
): Promise<(Overtaken | '')[]> {
  const steps: Promise<unknown>[] = [];
  for (let at = 0; at < jobs.length; at += STEP) steps.push(link.run(OVERTAKEN, jobs.slice(at, at + STEP).flat()));
  return ((await Promise.all(steps)) as (Overtaken | '')[][]).flat();
}
