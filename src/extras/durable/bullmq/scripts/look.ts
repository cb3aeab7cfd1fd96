import { DurableStoreError } from '../../durable-error.ts';
import type { StoredTimer } from '../../stored-timer.ts';
import { readData, timerOf } from '../job-data.ts';
import type { QueueLink } from '../queue-link.ts';

/** What Redis has of a timer. */
export interface Look {
  /** Its job. */
  readonly job: string | null;
  readonly data: string | null;
  /**
   * 'running' while an attempt runs; 'ended' once the job is over, though a worker may still have it. Else it is
   * scheduled.
   */
  readonly state: string | null;
  /** Attempts that have begun, beyond those in the data. */
  readonly attempts: number;
  /** The data of what comes after the job. */
  readonly next: string | null;
}

/** Reads at one moment the job of a timer, and what comes after it. */
const READ_TIMER = `
local job = redis.call('GET', KEYS[1])
local fields = job and redis.call('HMGET', ARGV[1] .. job, 'data', 'swState', 'swAttempts') or {}
return {job, fields[1] or false, fields[2] or false, fields[3] or false, redis.call('HGET', KEYS[2], 'data')}`;

export async function look(link: QueueLink, timer: string): Promise<Look> {
  const answer = await link.run(READ_TIMER, [`de:${timer}`, `dn:${timer}`], link.prefix);
  const [job, data, state, attempts, next] = answer as (string | null)[];
  return { job, data, state, attempts: Number(attempts), next };
}

/** What is scheduled of what Redis has; 'damaged' if that cannot be read. */
export function scheduledOf(name: string, { data, state, attempts, next }: Look): StoredTimer | 'damaged' | undefined {
  const text = next ?? (state === null ? data : null);
  if (text === null) return undefined;
  const read = readData(text);
  return read === undefined ? 'damaged' : timerOf(name, read, next === null ? attempts : 0);
}

/** What is scheduled. Throws DurableStoreError if it cannot be read. */
export function readableOf(name: string, key: string, found: Look): StoredTimer | undefined {
  const timer = scheduledOf(name, found);
  if (timer === 'damaged') throw DurableStoreError.damaged({ name, key });
  return timer;
}
