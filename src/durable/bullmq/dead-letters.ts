import type { DeadTimer } from '../stored-timer.ts';
import { type JobData, jobDataOf, timerOf, timerPattern } from './job-data.ts';
import type { QueueLink } from './queue-link.ts';

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
      const data = JSON.parse(pairs[at + 1]) as DeadData;
      yield { ...timerOf(name, data, 0), diedAt: data.diedAt, reason: data.reason };
    }
  }
}
