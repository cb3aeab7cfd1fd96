import { expect, test } from 'vitest';
import { Sampler } from '../../src/dashboard/sampler.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import type { Scheduler } from '../../src/scheduler/scheduler.ts';

/** A scheduler that says it is shared by these clients, each with `client` counts of everything. */
function sharedBy(scheduler: Scheduler, clients: () => readonly number[]): void {
  const stats = scheduler.stats.bind(scheduler);
  scheduler.stats = async () => {
    const real = await stats();
    const of = (client: number) => {
      const histogram = new LatenessHistogram();
      for (let i = 0; i < client; i++) histogram.record(client);
      return { ...real, client, thread: client, scheduled: client, delivered: client, lateness: histogram.summary() };
    };
    return { ...real, clients: clients().map(of) };
  };
}

test('a point has the sums of all clients; a new run begins when one leaves, and after a pause', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  let clients: number[] = [];
  sharedBy(scheduler, () => clients);
  const sampler = new Sampler(scheduler, undefined);
  const runs: number[] = [];
  for (clients of [[], [1], [1, 4], [1, 4, 6], [4, 6], [4, 6], [4, 9]]) {
    const { point } = (await sampler.take()).sample;
    const sum = clients.reduce((total, client) => total + client, 0);
    expect([point.scheduled, point.delivered, point.late.buckets.at(-1)]).toEqual([sum, sum, sum]);
    expect(point.late.max).toBe(Math.max(0, ...clients));
    runs.push(point.run);
  }
  sampler.pause();
  runs.push((await sampler.take()).sample.point.run);
  expect(runs).toEqual([1, 1, 1, 1, 2, 2, 3, 4]);
});

test('of many labels the largest are sent, of many clients the first, and of how many', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  sharedBy(scheduler, () => Array.from({ length: 100 }, (_, client) => client));
  for (let label = 1; label <= 70; label++) {
    for (let i = 0; i < label; i++) scheduler.label(`label ${label}`).scheduleAfter(i, 1e6);
  }
  const { sample } = await new Sampler(scheduler, undefined).take();
  expect(sample.stats.labels.map(({ size }) => size)).toEqual(Array.from({ length: 64 }, (_, at) => 70 - at));
  expect([sample.labelCount, sample.clientCount, sample.stats.clients.length]).toEqual([70, 100, 64]);
  expect(sample.point.scheduled).toBe(4950); // of all
});
