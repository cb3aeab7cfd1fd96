import { type DeadTimer, damagedTimer, type StoredTimer } from '../stored-timer.ts';
import { type JobData, jobDataOf, nameAndKeyOf, readData, timerIdOf, timerOf, timerPattern } from './job-data.ts';
import type { QueueLink } from './queue-link.ts';
import { look, scheduledOf } from './scripts/look.ts';

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
  for await (const jobs of scanJobs(link, timerPattern(name, prefix))) {
    const fresh = jobs.map(timerIdOf).filter((timer) => !seen.has(timer) && seen.add(timer));
    const found = await link.call(() => Promise.all(fresh.map((timer) => look(link, timer))));
    for (const [at, each] of found.entries()) {
      const timer = scheduledOf(name, each);
      if (timer === 'damaged') skipped(nameAndKeyOf(fresh[at]).key);
      else if (timer !== undefined) yield timer;
    }
  }
}

/** Resolves with how many of the jobs that workers have are followed by another, or have not begun. */
export async function countHeld(link: QueueLink): Promise<number> {
  const held = await link.call(() => link.client.lrange(`${link.prefix}active`, 0, -1));
  const found = await link.call(() => Promise.all(held.map((job) => look(link, timerIdOf(job)))));
  return found.filter((each) => scheduledOf('', each) !== undefined).length;
}

/** Ids of jobs, some more than once. */
async function* scanJobs(link: QueueLink, pattern: string): AsyncGenerator<string[]> {
  const { client, prefix } = link;
  for await (const pairs of link.scan('zscan', 'delayed', pattern)) yield pairs.filter((_, at) => at % 2 === 0);
  for (const list of ['wait', 'paused', 'active']) {
    const jobs = await link.call(() => client.lrange(prefix + list, 0, -1));
    yield jobs.filter((job) => job.startsWith(pattern.slice(0, -1)));
  }
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
