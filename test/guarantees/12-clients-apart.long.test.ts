import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { ClientThread, Gate } from '../fixtures/client-thread.ts';
import { until } from '../fixtures/event-loop.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

const COUNT = 5000;
const well = { ended: COUNT, doubled: 0, early: 0 };

/** Until the client's timers have all ended. */
const settled = (client: ClientThread, count = COUNT): Promise<void> =>
  until(async () => (await client.sum()).ended === count);

/** Until the owner knows of so many clients besides itself, and its shards serve no lanes of others. */
async function given(scheduler: Scheduler, clients: number, lanes: number): Promise<void> {
  await until(async () => {
    const stats = await scheduler.stats();
    return stats.clients.length === clients + 1 && stats.shards.every((shard) => shard.lanes <= lanes);
  });
}

const endings: [name: string, end: (client: ClientThread) => void][] = [
  ['is terminated', (client) => void client.worker.terminate()],
  ['exits', (client) => void client.run(() => process.exit(3))],
  ['throws', (client) => void client.run(() => void setImmediate(() => void Promise.reject(new Error('of its own'))))],
  [
    'is terminated in a loop without end',
    (client) => {
      void client.run(({ scheduler, book }) => {
        for (let name = 1e6; ; name++) scheduler.cancel(book.schedule(name, 10 + (name % 100)));
      });
      setTimeout(() => void client.worker.terminate(), 30);
    },
  ],
];

describe.each([0, 1, 2])(
  'guarantee 12, clients do not disturb each other: shards %i',
  { concurrent: true },
  (shards) => {
    test.each(endings)('one that %s loses its own timers and nothing of anybody else', async (_, end) => {
      await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
      const handle = scheduler.share();
      await using other = ClientThread.connect(handle);
      await using victim = ClientThread.connect(handle);
      await Promise.all([other.scheduleAll(COUNT, 600), victim.scheduleAll(COUNT, 600)]);
      const tally = Tally.of(scheduler, COUNT, (i) => 1 + ((i * 7919) % 600));
      end(victim);
      await victim.ended;
      await settled(other);
      await until(() => tally.total >= COUNT);
      expect(await other.sum()).toEqual(well);
      tally.expectEachOnce();
      await given(scheduler, 1, shards === 0 ? 1 : 2);
    });

    test('one that blocks holds up nobody, and goes on where it stood', async () => {
      await using scheduler = createScheduler({ shards, capacity: 2 ** 16 });
      const handle = scheduler.share();
      await using other = ClientThread.connect(handle);
      await using blocked = ClientThread.connect(handle);
      await blocked.scheduleAll(COUNT, 200);
      const gate = new Gate();
      const block = await gate.block(blocked);
      await other.scheduleAll(COUNT, 200);
      const tally = Tally.of(scheduler, COUNT, (i) => 1 + ((i * 7919) % 200));
      await settled(other);
      await until(() => tally.total >= COUNT);
      gate.open();
      await block.ended;
      await settled(blocked);
      expect(await Promise.all([other.sum(), blocked.sum()])).toEqual([well, well]);
      tally.expectEachOnce();
    });

    test('one that floods its shards has all others served meanwhile', async () => {
      await using scheduler = createScheduler({ shards, capacity: 2 ** 18 });
      const handle = scheduler.share();
      await using other = ClientThread.connect(handle);
      await using flooding = ClientThread.connect(handle);
      const words = new Int32Array(new SharedArrayBuffer(8)); // whether to stop, and timers set
      const flood = flooding.run(async ({ scheduler }, words) => {
        let set = 0;
        while (Atomics.load(words, 0) === 0) {
          for (let i = 0; i < 20_000 && scheduler.size < 200_000; i++) {
            scheduler.scheduleAfter(set, 1);
            set += 1;
          }
          Atomics.store(words, 1, set);
          await new Promise((resolve) => setImmediate(resolve));
        }
      }, words);
      await until(() => Atomics.load(words, 1) > 0);
      for (let round = 0; round < 3; round++) {
        await other.scheduleAll(COUNT, 50, round * COUNT);
        await settled(other, (round + 1) * COUNT);
      }
      expect(await other.sum()).toEqual({ ended: 3 * COUNT, doubled: 0, early: 0 });
      await until(() => Atomics.load(words, 1) > 20_000);
      Atomics.store(words, 0, 1);
      await flood;
    });

    test.runIf(shards > 0)(
      'where the owner gives threads up, each client goes on inline, in its own thread',
      async () => {
        const thread = { inlineAfter: { deaths: 1, within: 60_000 } };
        await using scheduler = createScheduler({ shards, capacity: 2 ** 16, thread });
        const errors: unknown[] = [];
        scheduler.on('error', (error) => errors.push((error as { code: string }).code));
        await using client = ClientThread.connect(scheduler.share());
        await scheduler.ready;
        await client.scheduleAll(COUNT, 800);
        for (let shard = 0; shard < shards; shard++) await until(() => killShard(scheduler, shard));
        await settled(client);
        expect(await client.sum()).toEqual(well);
        await until(() => errors.length === shards);
        const { serving, shards: served } = await client.run(({ scheduler }) => scheduler.stats());
        expect([serving.by, ...served.map(({ inline }) => inline)]).toEqual(['inline', ...served.map(() => true)]);
        const told = await client.run(({ book }) => book.errors);
        expect(told.map((error) => error.split(':')[0])).toEqual(served.map(() => 'ERR_SHARD_INLINE'));
      },
    );
  },
);
