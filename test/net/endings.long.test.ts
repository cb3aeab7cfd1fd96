import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';

const cases = new URL('./ending-cases.mjs', import.meta.url).href;

const found = (client: ClientThread) =>
  client.run(async ({ scheduler, load }, url) => {
    const { endingFaults, socketHandles } = await load(url);
    const result: { faults: string[]; cases: number } = await endingFaults(scheduler);
    const giveUpAt = Date.now() + 10_000;
    while (socketHandles().length > 0 && Date.now() < giveUpAt) await new Promise(setImmediate);
    return { ...result, handles: socketHandles(), size: scheduler.size };
  }, cases);

const nothing = { faults: [], cases: 150, handles: [], size: 0 };

test.each([0, 1])(
  'however a connection ends, in whatever state, nothing of its watch is left: %i shards',
  async (shards) => {
    await using client = ClientThread.own({ shards });
    expect(await found(client)).toEqual(nothing);
    expect(client.errors).toEqual([]);
  },
);

test.each([0, 1])('the same in a client of a shared scheduler: %i shards', async (shards) => {
  await using scheduler = createScheduler({ shards });
  await using client = ClientThread.connect(scheduler.share());
  expect(await found(client)).toEqual(nothing);
  expect(client.errors).toEqual([]);
});
