import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { Sampler } from '../../src/dashboard/sampler.ts';
import type { DurableStats } from '../../src/durable/durable-stats.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { until } from '../fixtures/event-loop.ts';
import { Watcher } from './dashboard-client.ts';
import { served } from './served.ts';

test('samples have the counts of the durable timers that the dashboard was given', async () => {
  const durable = await openDurableTimers({ store: memoryStore() });
  await using dashboard = await served({ durable });
  let delivered = 0;
  durable.handle('a', () => {
    delivered += 1;
  });
  for (let key = 0; key < 10; key++) await durable.schedule('a', `${key}`, Date.now() + 1e9);
  await durable.schedule('a', 'young', Date.now() + 1e9, undefined, { persistAfter: 60_000 });
  await durable.cancel('a', '3');
  await durable.schedule('a', 'due', Date.now());
  await until(() => delivered === 1);
  using watcher = await Watcher.open(dashboard.url);
  await watcher.hello();
  expect((await watcher.sample()).durable).toBe(undefined); // it has asked
  let shown = (await watcher.sample()).durable;
  while (shown?.store?.stored !== 9) shown = (await watcher.sample()).durable;
  expect(shown).toMatchObject({
    scheduled: 12,
    cancelled: 1,
    delivered: 1,
    young: 1,
    store: { kind: 'memory', dead: 0 },
  });
  await durable.close();
});

test('a store that does not answer is asked once, and holds up nobody', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  let asked = 0;
  const sampler = new Sampler(scheduler, () => {
    asked += 1;
    return new Promise(() => undefined);
  });
  for (let look = 0; look < 3; look++) expect((await sampler.take()).sample.durable).toBe(undefined);
  expect(asked).toBe(1);
});

test('after a rejection there is no answer, until there is one again', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const answers = [1, 2, undefined, 4, 5];
  const ask = async () => (answers.shift() ?? Promise.reject(new Error('closed'))) as DurableStats | Promise<never>;
  const sampler = new Sampler(scheduler, ask);
  const seen = [];
  for (let look = 0; look < 5; look++) seen.push((await sampler.take()).sample.durable);
  expect(seen).toEqual([undefined, 1, 2, undefined, 4]);
});

test('what is not durable timers is refused', async () => {
  await expect(served({ durable: {} as never })).rejects.toThrow('The options.durable must be durable timers, got {}');
});
