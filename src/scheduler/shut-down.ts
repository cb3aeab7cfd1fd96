import type { Client } from '../client/client.ts';
import { type UnfiredTimer, unfiredTimers } from '../client/live-timers.ts';
import type { Coordinator } from './coordinator.ts';

/** Ends a client and what serves it. Resolves with its timers that were not delivered, when all threads have ended. */
export async function shutDown(client: Client, coordinator: Coordinator, shards: number): Promise<UnfiredTimer[]> {
  const unfired = unfiredTimers(client, Math.max(1, shards));
  client.close();
  const stopped = coordinator.stop();
  await undefined; // so that a listener below that calls close() gets the same promise
  try {
    for (const lane of client.lanes) lane.handBack();
    client.home.handBack();
  } finally {
    await stopped;
  }
  return unfired;
}
