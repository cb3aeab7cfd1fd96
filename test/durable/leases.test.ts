import { afterEach, expect, test } from 'vitest';
import { QueueLeases } from '../../src/extras/durable/bullmq/queue-leases.ts';
import type { QueueLink } from '../../src/extras/durable/bullmq/queue-link.ts';
import type { QueueTake } from '../../src/extras/durable/bullmq/queue-take.ts';
import { pause } from './conformance/stores.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
process.on('unhandledRejection', note);
afterEach(() => void unhandled.splice(0));

test.each([
  ['the renewal, then the look', 5, 15],
  ['the look, then the renewal', 15, 5],
  ['both at once', 5, 5],
])('whichever fails, nothing is left unhandled: %s', async (_, renewedAfter, lookedAfter) => {
  const failed: Error[] = [];
  const fails = async (after: number): Promise<never> => {
    await pause(after);
    throw new Error('Connection is closed.');
  };
  const link = { place: { stalledAfter: 100 }, run: () => fails(lookedAfter), client: {}, prefix: '' };
  const leases = new QueueLeases(link as unknown as QueueLink, (error) => failed.push(error));
  const take = { hasBegun: true, token: 't', lockedUntil: Number.POSITIVE_INFINITY, jobAndNext: ['j', 'n'] };
  leases.add('j', take as unknown as QueueTake);
  leases.start({ extendJobLocks: () => fails(renewedAfter) });
  await expect.poll(() => failed.length).toBeGreaterThan(0);
  leases.stop();
  await pause(50);
  expect(unhandled).toEqual([]);
});
