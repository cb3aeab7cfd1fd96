import type { StoredTimer } from '../stored-timer.ts';
import { timerPattern } from './job-data.ts';
import { type QueueJobs, scheduledOf } from './queue-jobs.ts';
import { look } from './scripts/look.ts';

/** Members of a set that Redis looks at in one go. */
const STEP = 1000;

/** Bounds the time of a call, and names its error. */
export type Call = <T>(work: () => Promise<T>) => Promise<T>;

/** Finds what is scheduled by what the ids of jobs begin with, in steps that do not block Redis. */
export class QueueScan {
  private readonly jobs: QueueJobs;
  private readonly call: Call;

  constructor(jobs: QueueJobs, call: Call) {
    this.jobs = jobs;
    this.call = call;
  }

  /** Of a name whose keys begin with the prefix, each timer once. */
  async *timers(name: string, prefix: string): AsyncGenerator<StoredTimer> {
    const { client, prefix: queue } = this.jobs;
    for await (const timers of this.ids(timerPattern(name, prefix))) {
      const found = await this.call(() => Promise.all(timers.map((timer) => look(client, queue, timer))));
      for (const each of found) {
        const timer = scheduledOf(name, each);
        if (timer !== undefined) yield timer;
      }
    }
  }

  /** Resolves with how many of the jobs that workers have are followed by another, or have not begun. */
  async countHeld(): Promise<number> {
    const { client, prefix: queue } = this.jobs;
    const held = await this.call(() => client.lrange(`${queue}active`, 0, -1));
    const found = await this.call(() => Promise.all(held.map((id) => look(client, queue, timerOf(id)))));
    return found.filter((each) => scheduledOf('', each) !== undefined).length;
  }

  /** Ids of timers, each once. */
  private async *ids(pattern: string): AsyncGenerator<string[]> {
    const { client, prefix: queue } = this.jobs;
    const start = pattern.slice(0, -1);
    const seen = new Set<string>();
    const fresh = (ids: readonly string[]): string[] =>
      ids
        .filter((id) => id.startsWith(start))
        .map(timerOf)
        .filter((timer) => !seen.has(timer) && seen.add(timer));
    let cursor = '0';
    do {
      const [next, pairs] = await this.call(() =>
        client.zscan(`${queue}delayed`, cursor, 'MATCH', pattern, 'COUNT', STEP),
      );
      yield fresh(pairs.filter((_, at) => at % 2 === 0));
      cursor = next;
    } while (cursor !== '0');
    for (const list of ['wait', 'paused', 'active'])
      yield fresh(await this.call(() => client.lrange(queue + list, 0, -1)));
  }
}

/** The timer of a job's id. */
const timerOf = (id: string): string => id.slice(0, id.lastIndexOf('/'));
