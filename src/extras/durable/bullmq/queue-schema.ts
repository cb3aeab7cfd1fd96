import { DurableStoreError } from '../durable-error.ts';
import type { QueueLink } from './queue-link.ts';

/** The version of the jobs' data. */
const SCHEMA = '2';

/** Refuses a queue of another version; a new one gets this. */
export async function checkSchema({ client, prefix, place }: QueueLink): Promise<void> {
  const key = `${prefix}shardwheel-schema`;
  await client.set(key, SCHEMA, 'NX');
  const found = await client.get(key);
  if (found !== SCHEMA) throw DurableStoreError.otherVersion(`the queue ${place.queue}`, found, Number(SCHEMA));
}
