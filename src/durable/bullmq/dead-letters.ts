import type { DeadTimer } from '../stored-timer.ts';
import { type JobData, jobDataOf, timerId, timerOf, timerPattern } from './job-data.ts';
import type { RedisConnection } from './queue-options.ts';

/** A hash of Redis: of each timer the last dead one. */
export const DEAD = 'shardwheel-dead';

/** Fields that Redis looks at in one go. */
const STEP = 1000;

type DeadData = JobData & Pick<DeadTimer, 'diedAt' | 'reason'>;

export const deadText = (dead: DeadTimer): string =>
  JSON.stringify({ ...jobDataOf(dead), diedAt: dead.diedAt, reason: dead.reason } satisfies DeadData);

/** The dead timers of a queue. What is there throughout an iteration is seen once, whatever is removed meanwhile. */
export class DeadLetters {
  private readonly client: RedisConnection;
  private readonly key: string;

  constructor(client: RedisConnection, prefix: string) {
    this.client = client;
    this.key = prefix + DEAD;
  }

  count(): Promise<number> {
    return this.client.hlen(this.key);
  }

  async add(dead: DeadTimer): Promise<void> {
    await this.client.hset(this.key, timerId(dead.name, dead.key), deadText(dead));
  }

  async remove(name: string, key: string): Promise<boolean> {
    return (await this.client.hdel(this.key, timerId(name, key))) === 1;
  }

  /** `call` bounds the time of a call, and names its error. */
  async *of(name: string, call: <T>(work: () => Promise<T>) => Promise<T>): AsyncGenerator<DeadTimer> {
    const seen = new Set<string>();
    let cursor = '0';
    do {
      const [next, pairs] = await call(() =>
        this.client.hscan(this.key, cursor, 'MATCH', timerPattern(name, ''), 'COUNT', STEP),
      );
      for (let at = 0; at < pairs.length; at += 2) {
        if (seen.has(pairs[at])) continue;
        seen.add(pairs[at]);
        const data = JSON.parse(pairs[at + 1]) as DeadData;
        yield { ...timerOf(name, data, 0), diedAt: data.diedAt, reason: data.reason };
      }
      cursor = next;
    } while (cursor !== '0');
  }
}
