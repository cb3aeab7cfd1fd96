import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { answeredStats } from '../fixtures/answered-stats.ts';
import { ClientThread, Gate } from '../fixtures/client-thread.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';

/** Times that a question for counts may look for the answers. */
const MOST_LOOKS = 25;

test.each([0, 1])(
  'the owner’s stats() say what other clients have done, and cost them no turn: shards %i',
  async (shards) => {
    await using owner = createScheduler({ shards });
    await owner.ready;
    await using client = ClientThread.connect(owner.share());
    const turns = () => client.run(({ internals }) => internals().client.turnClock.turns);
    // Its first timer opens its lane, which a thread may take over: then it rests.
    await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
    await until(() =>
      client.run(
        async ({ scheduler }, shards) => (await scheduler.stats()).shards[0].inline === (shards === 0),
        shards,
      ),
    );
    await until(async () => {
      const before = await turns();
      await pass(300);
      return (await turns()) === before;
    });
    const before = await turns();
    for (let count = 2; count <= 6; count++) {
      await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
      const { clients } = await answeredStats(owner);
      expect(clients.map(({ scheduled, size }) => [scheduled, size])).toEqual([
        [0, 0],
        [count, count],
      ]);
    }
    expect(await turns()).toBe(before);
  },
);

test('a client whose loop is blocked holds them up for some looks, and counts as it was when it was last asked', async () => {
  await using owner = createScheduler({ shards: 0 });
  await using client = ClientThread.connect(owner.share());
  await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
  expect((await answeredStats(owner)).clients[1].scheduled).toBe(1);
  const sharing = Reflect.get(internalsOf(owner).coordinator.others, 'sharing') as {
    hasAnswered: (entry: unknown) => boolean;
  };
  const hasAnswered = sharing.hasAnswered.bind(sharing);
  let looks = 0;
  sharing.hasAnswered = (entry) => {
    looks += 1;
    return hasAnswered(entry);
  };
  const gate = new Gate();
  await client.run(({ scheduler }) => void scheduler.scheduleAfter('a', 3_600_000));
  const { ended } = await gate.block(client);
  const { clients } = await owner.stats();
  expect(clients[1].scheduled).toBe(1);
  expect(looks).toBeLessThanOrEqual(MOST_LOOKS);
  gate.open();
  await ended;
  expect((await answeredStats(owner)).clients[1].scheduled).toBe(2);
  expect(looks).toBeGreaterThan(1);
});
