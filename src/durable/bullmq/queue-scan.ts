import type { Queue } from 'bullmq';
import type { JobData } from './job-data.ts';
import { jobPattern, timerId } from './job-ids.ts';
import type { RedisConnection } from './queue-options.ts';

/** Members of a set that Redis looks at in one go. */
const STEP = 1000;

/** Finds jobs by what their ids contain, in steps that do not block Redis. */
export class QueueScan {
  private readonly queue: Queue<JobData>;
  private readonly client: RedisConnection;
  private readonly call: <T>(work: () => Promise<T>) => Promise<T>;

  /** `call` bounds the time of a call, and names its error. */
  constructor(queue: Queue<JobData>, client: RedisConnection, call: <T>(work: () => Promise<T>) => Promise<T>) {
    this.queue = queue;
    this.client = client;
    this.call = call;
  }

  /** Ids of the jobs of a name whose keys begin with the prefix; each once, by the timers that they belong to. */
  async *timers(name: string, prefix: string): AsyncGenerator<string[]> {
    const pattern = jobPattern(name, prefix);
    const start = pattern.slice(0, -1);
    const seen = new Set<string>();
    const fresh = (ids: readonly string[]): string[] =>
      ids.filter((id) => {
        const timer = id.slice(0, id.lastIndexOf('/'));
        if (!id.startsWith(start) || seen.has(timer)) return false;
        seen.add(timer);
        return true;
      });
    for await (const ids of this.scan('delayed', pattern)) yield fresh(ids);
    const { queue, client } = this;
    for (const list of ['wait', 'active']) yield fresh(await this.call(() => client.lrange(queue.toKey(list), 0, -1)));
  }

  async *failed(name: string, key: string): AsyncGenerator<string> {
    const timer = timerId(name, key);
    for await (const ids of this.scan('failed', `${timer}/*`)) yield* ids;
  }

  /** Members of one of BullMQ's sorted sets. */
  private async *scan(set: string, pattern: string): AsyncGenerator<string[]> {
    const { queue, client } = this;
    let cursor = '0';
    do {
      const [next, pairs] = await this.call(() =>
        client.zscan(queue.toKey(set), cursor, 'MATCH', pattern, 'COUNT', STEP),
      );
      yield pairs.filter((_, at) => at % 2 === 0);
      cursor = next;
    } while (cursor !== '0');
  }
}
