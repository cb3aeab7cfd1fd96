import type { SchedulerHandle } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';

const COUNT = 5000;
const well = { ended: COUNT, doubled: 0, early: 0 };

const gone: [name: string, end: (owner: ClientThread) => Promise<unknown>, reason: RegExp][] = [
  ['closes it', (owner) => owner.run(({ scheduler }) => scheduler.close().then(() => undefined)), /has been closed/],
  ['exits', (owner) => owner.run(() => process.exit(0)).catch(() => undefined), /thread .* has ended/],
  ['is terminated', (owner) => owner.worker.terminate(), /thread .* has ended/],
  [
    'crashes',
    (owner) => {
      void owner.run(() => void setImmediate(() => void Promise.reject(new Error('of its own'))));
      return owner.ended;
    },
    /thread .* has ended/,
  ],
];

describe.each([0, 1, 2])('guarantee 13, a client outlives its owner: shards %i', { concurrent: true }, (shards) => {
  test.each(gone)('whose thread %s', async (_, end, reason) => {
    await using owner = ClientThread.own({ shards, capacity: 2 ** 16 });
    const handle = await owner.run(({ scheduler }) => scheduler.share());
    await using first = ClientThread.connect(handle as SchedulerHandle);
    await using second = ClientThread.connect(handle as SchedulerHandle);
    await Promise.all([first.scheduleAll(COUNT, 1000), second.scheduleAll(COUNT, 1000)]);
    await end(owner);
    for (const client of [first, second]) {
      await until(async () => (await client.sum()).ended === COUNT);
      expect(await client.sum()).toEqual(well);
      const stats = () => client.run(({ scheduler }) => scheduler.stats());
      await until(async () => reason.test((await stats()).serving.reason));
      const { serving, shards: served } = await stats();
      expect(serving.by).toBe('inline');
      expect(served.map((shard) => shard.inline)).toEqual(served.map(() => true));
      const errors = await client.run(({ book }) => book.errors);
      // Without threads it is as before: it has served its own timers all along.
      const hasThreads = shards > 0 && process.env.SHARDWHEEL_RUNTIME !== 'deno';
      expect(errors).toEqual(hasThreads ? [expect.stringMatching(/^ERR_SHARD_INLINE: /)] : []);
      if (hasThreads) expect(errors[0]).toMatch(reason);
    }
    // And what they set from here on.
    await first.scheduleAll(COUNT, 50, COUNT);
    await until(async () => (await first.sum()).ended === 2 * COUNT);
    expect(await first.sum()).toEqual({ ended: 2 * COUNT, doubled: 0, early: 0 });
  });
});
