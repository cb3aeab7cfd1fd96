import { type DeadTimer, damagedTimer, type StoredTimer } from '../stored-timer.ts';
import { type JobData, jobDataOf, nameAndKeyOf, readData, timerIdOf, timerOf, timerPattern } from './job-data.ts';
import type { QueueLink } from './queue-link.ts';
import { look, scheduledOf } from './scripts/look.ts';
import { movingJobs } from './scripts/moving.ts';

/** Timers that are looked at in one go. */
const LOOKED_AT = 1000;

/**
 * Yields what is scheduled of a name with keys that begin with the prefix, each timer once, in steps that do not block
 * Redis. `skipped` is called with the key of one that cannot be read.
 */
export async function* scanTimers(
  link: QueueLink,
  name: string,
  prefix: string,
  skipped: (key: string) => void,
): AsyncGenerator<StoredTimer> {
  const seen = new Set<string>();
  for await (const jobs of scanJobs(link, name, prefix)) {
    const fresh = jobs.map(timerIdOf).filter((timer) => !seen.has(timer) && seen.add(timer));
    const found = await link.call(() => Promise.all(fresh.map((timer) => look(link, timer))));
    for (const [at, each] of found.entries()) {
      const timer = scheduledOf(name, each);
      if (timer === 'damaged') skipped(nameAndKeyOf(fresh[at]).key);
      else if (timer !== undefined) yield timer;
    }
  }
}

/**
 * Ids of jobs, some more than once. Jobs that are due go from list to list, also back and forth, and a scan may miss
 * them. So they are read last, all lists at one moment: what was delayed throughout the scan was seen, and what was not
 * is due by then.
 */
async function* scanJobs(link: QueueLink, name: string, prefix: string): AsyncGenerator<string[]> {
  const pattern = timerPattern(name, prefix);
  for await (const pairs of link.scan('zscan', 'delayed', pattern)) yield pairs.filter((_, at) => at % 2 === 0);
  const moving = await link.call(() => movingJobs(link, pattern.slice(0, -1)));
  for (let at = 0; at < moving.length; at += LOOKED_AT) yield moving.slice(at, at + LOOKED_AT);
}

/** A hash of Redis: of each timer, by its id, the last dead one. */
export const DEAD = 'shardwheel-dead';

type DeadData = JobData & Pick<DeadTimer, 'diedAt' | 'reason'>;

export const deadText = (dead: DeadTimer): string =>
  JSON.stringify({ ...jobDataOf(dead), diedAt: dead.diedAt, reason: dead.reason } satisfies DeadData);

/** Yields the dead timers of a name. What is there throughout is seen once, whatever is removed meanwhile. */
export async function* scanDead(link: QueueLink, name: string): AsyncGenerator<DeadTimer> {
  const seen = new Set<string>();
  for await (const pairs of link.scan('hscan', DEAD, timerPattern(name, ''))) {
    for (let at = 0; at < pairs.length; at += 2) {
      if (seen.has(pairs[at])) continue;
      seen.add(pairs[at]);
      const data = readData<DeadData>(pairs[at + 1]);
      if (data === undefined) yield damagedTimer(name, nameAndKeyOf(pairs[at]).key, Buffer.from(pairs[at + 1]), 0, 0);
      else yield { ...timerOf(name, data, 0), diedAt: data.diedAt, reason: data.reason };
    }
  }
}
