import { memoryStore, openDurableTimers } from 'shardwheel/durable';
import { expect, test } from 'vitest';
import { EventStreams } from '../../src/extras/dashboard/event-streams.ts';
import { Sampling } from '../../src/extras/dashboard/sampling.ts';
import type { DurableStats } from '../../src/extras/durable/durable-stats.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';
import { until } from '../fixtures/event-loop.ts';
import { Watcher } from './dashboard-client.ts';
import { served } from './served.ts';

const samplingOf = (scheduler: Scheduler, askDurable?: () => Promise<DurableStats>) =>
  new Sampling(scheduler, new EventStreams(() => undefined), askDurable);

/** A scheduler that says it is shared by these clients, each with `client` counts of everything. */
function sharedBy(scheduler: Scheduler, clients: () => readonly number[]): void {
  const stats = scheduler.stats.bind(scheduler);
  scheduler.stats = async () => {
    const real = await stats();
    const of = (client: number) => {
      const histogram = new LatenessHistogram();
      for (let i = 0; i < client; i++) histogram.record(client);
      return {
        ...real,
        client,
        thread: client,
        answered: true,
        scheduled: client,
        delivered: client,
        lateness: histogram.summary(),
      };
    };
    return { ...real, clients: clients().map(of) };
  };
}

test('a point has the sums of all clients; a new run begins when one leaves, and after a pause', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  let clients: number[] = [];
  sharedBy(scheduler, () => clients);
  const sampling = samplingOf(scheduler);
  const runs: number[] = [];
  for (clients of [[], [1], [1, 4], [1, 4, 6], [4, 6], [4, 6], [4, 9]]) {
    const { point } = await sampling.take();
    const sum = clients.reduce((total, client) => total + client, 0);
    expect([point.scheduled, point.delivered, point.late.buckets.at(-1)]).toEqual([sum, sum, sum]);
    expect(point.late.max).toBe(Math.max(0, ...clients));
    runs.push(point.run);
  }
  sampling.stop();
  runs.push((await sampling.take()).point.run);
  expect(runs).toEqual([1, 1, 1, 1, 2, 2, 3, 4]);
});

test('of many labels the largest are sent, of many clients the first, and of how many', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  sharedBy(scheduler, () => Array.from({ length: 100 }, (_, client) => client));
  for (let label = 1; label <= 70; label++) {
    for (let i = 0; i < label; i++) scheduler.label(`label ${label}`).scheduleAfter(i, 1e6);
  }
  const sample = await samplingOf(scheduler).take();
  expect(sample.stats.labels.map(({ size }) => size)).toEqual(Array.from({ length: 64 }, (_, at) => 70 - at));
  expect([sample.labelCount, sample.clientCount, sample.stats.clients.length]).toEqual([70, 100, 64]);
  expect(sample.point.scheduled).toBe(4950); // of all
});

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
  expect((await watcher.sample()).durable).toBe(undefined); // it has asked
  let shown = (await watcher.sample()).durable;
  while (shown?.store?.stored !== 9) shown = (await watcher.sample()).durable;
  const store = { kind: 'memory', dead: 0 };
  expect(shown).toMatchObject({ scheduled: 12, cancelled: 1, delivered: 1, young: 1, store });
  await durable.close();
  await expect(served({ durable: {} as never })).rejects.toThrow('The options.durable must be durable timers, got {}');
});

test('a store that does not answer is asked once, and holds up nobody', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  let asked = 0;
  const sampling = samplingOf(scheduler, () => {
    asked += 1;
    return new Promise(() => undefined);
  });
  for (let look = 0; look < 3; look++) expect((await sampling.take()).durable).toBe(undefined);
  expect(asked).toBe(1);
});

test('after a rejection there is no answer, until there is one again', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const answers = [1, 2, undefined, 4, 5];
  const ask = async () => (answers.shift() ?? Promise.reject(new Error('closed'))) as DurableStats | Promise<never>;
  const sampling = samplingOf(scheduler, ask);
  const seen = [];
  for (let look = 0; look < 5; look++) seen.push((await sampling.take()).durable);
  expect(seen).toEqual([undefined, 1, 2, undefined, 4]);
});
