import { createScheduler, type Scheduler } from 'shardwheel';
import { type DurableTimers, memoryStore, openDurableTimers } from 'shardwheel/durable';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { valueIn } from './exposition.ts';
import { type Place, PrometheusPlace, places } from './places.ts';

let timers: DurableTimers;
beforeEach(async () => {
  timers = await openDurableTimers({ store: memoryStore(), retry: { attempts: 2, delay: 10 } });
  timers.handle('a', (_, { key }) => {
    if (key === 'fails') throw new Error('broken');
  });
  const died = new Promise((resolve) => timers.once('dead', resolve));
  for (const key of ['fails', 'fine']) await timers.schedule('a', key, Date.now());
  await timers.schedule('a', 'far', Date.now() + 1e6);
  await timers.schedule('a', 'cancelled', Date.now() + 1e6);
  await timers.cancel('a', 'cancelled');
  await died;
});
afterEach(() => timers.close());

/** What has happened, by metric. */
const expected: Record<string, number> = {
  young: 0,
  scheduled_total: 4,
  cancelled_total: 1,
  delivered_total: 1,
  failed_total: 2,
  retried_total: 1,
  died_total: 1,
  ended_young_total: 0,
  lateness_seconds_count: 3,
  store_timers: 1,
  store_overdue: 0,
  store_active: 0,
  store_dead: 1,
};

test.each(Object.entries<() => Place>(places))(
  '%s tells of durable timers, beside a scheduler, until they are removed',
  async (_, placeOf) => {
    await using scheduler = createScheduler({ shards: 0 });
    const place = placeOf();
    place.add(scheduler);
    const remove = place.add(timers, { name: 'sessions' });
    const lines = await place.read();
    for (const [name, value] of Object.entries(expected)) {
      const labels = { durable: 'sessions', ...(name.startsWith('store_') ? { store: 'memory' } : {}) };
      expect([name, valueIn(lines, `shardwheel_durable_${name}`, labels)]).toEqual([name, value]);
    }
    expect(valueIn(lines, 'shardwheel_timers_live', { client: '0' })).toBe(0);
    expect(() => place.add(timers)).toThrow(/The metrics of the durable timers are in this \w+ already/);
    remove();
    place.add(timers);
    const again = await place.read();
    expect(valueIn(again, 'shardwheel_durable_scheduled_total', {})).toBe(4);
    expect(valueIn(again, 'shardwheel_timers_live', { client: '0' })).toBe(0);
    expect(() => place.add({} as Scheduler)).toThrow('The scheduler must be a Scheduler');
  },
);

test('after the close the last counts are reported, without those of the store', async () => {
  const place = new PrometheusPlace();
  place.add(timers);
  await timers.close();
  const lines = await place.read();
  expect(valueIn(lines, 'shardwheel_durable_delivered_total', {})).toBe(1);
  expect(lines.some(({ name }) => name.startsWith('shardwheel_durable_store_'))).toBe(false);
});
