import { warnOnce } from '../../../warn-once.ts';
import { DurableStoreError } from '../durable-error.ts';
import type { QueueLink } from './queue-link.ts';
import type { RedisClient } from './redis-connection.ts';

/**
 * Refuses a Redis that removes keys when its memory is full: confirmed timers, where it may remove any; the locks of
 * timers under way, where only what expires. Of a Redis that does not say so it warns. Resolves with whether Redis
 * answers INFO.
 */
export async function refuseEviction(link: QueueLink): Promise<boolean> {
  let answersInfo = true;
  for (const server of link.client.nodes?.('master') ?? [link.client]) {
    const info = await answered(link, () => infoOf(server));
    answersInfo &&= info !== undefined;
    const policy = info ?? (await answered(link, () => configOf(server)));
    if (policy === undefined) warnUnknown(link.place.queue);
    else if (policy !== 'noeviction') throw DurableStoreError.evicts(link.place.queue, policy);
  }
  return answersInfo;
}

const infoOf = async (server: RedisClient): Promise<string | undefined> =>
  /^maxmemory_policy:(\S+)/m.exec(await server.info('memory'))?.[1];

const configOf = async (server: RedisClient): Promise<string | undefined> =>
  (await server.config('GET', 'maxmemory-policy'))[1];

/** Undefined if Redis denies the command, or does not know it. Rejects if it does not answer. */
async function answered(link: QueueLink, read: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await link.call(read);
  } catch (error) {
    if ((error as DurableStoreError).code === 'ERR_STORE_UNREACHABLE') throw error;
    return undefined;
  }
}

function warnUnknown(queue: string): void {
  const message = `Redis does not say its maxmemory-policy, by INFO nor by CONFIG GET. It has to be 'noeviction': else confirmed timers of the queue ${queue} may be lost`;
  warnOnce('SHARDWHEEL_EVICTION_UNKNOWN', () => message);
}
