import { memoryStore, openDurableTimers } from '../../src/entries/durable.ts';
import { serveDashboard } from '../../src/extras/dashboard/serve-dashboard.ts';
import { addStatsSource } from '../../src/extras/durable/durable-stats.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';

/** A label as long as most names of functions are not, and one that turns the direction of what follows. */
export const LONG = 'a'.repeat(100);
const TURNING = 'idle \u202egnitset';

const MANY = 123_456_789;
const grown = <T extends object>(counts: T): T =>
  Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [
      name,
      typeof value === 'number' && !['shard', 'client', 'thread', 'factor', 'min'].includes(name)
        ? value + MANY
        : value,
    ]),
  ) as T;

/** A dashboard that shows what is hard to show: long names, large counts, something in every table. */
export async function extremeDashboard() {
  const scheduler = createScheduler({ shards: 0, capacity: 65_536 });
  const durable = await openDurableTimers({ store: memoryStore() });
  const durableStats = durable.stats.bind(durable);
  addStatsSource(durable, async () => {
    const real = await durableStats();
    return { ...grown(real), store: real.store && grown(real.store) };
  });
  for (const label of [LONG, TURNING, 'request']) {
    for (let i = 0; i < 300; i++) scheduler.label(label, { min: 10 }).scheduleAfter(i, 60_000 * (i + 1));
  }
  const stats = scheduler.stats.bind(scheduler);
  scheduler.stats = async () => {
    const real = await stats();
    return {
      ...grown(real),
      slack: real.slack,
      shards: [0, 1].map((shard) => ({ ...grown(real.shards[0]), shard })),
      clients: [0, 1].map((client) => ({ ...grown(real), client, thread: client, answered: true })),
      labels: real.labels.map(grown),
      warnings: [{ code: 'HOT_SHARD', shard: 0, message: `Shard 0 has most of the timers. ${LONG}` }],
    };
  };
  const wheels = scheduler.wheels.bind(scheduler);
  scheduler.wheels = async () => {
    const [wheel] = await wheels();
    return [0, 1].map((shard) => ({ ...wheel, shard, lanes: wheel.lanes.map(grown) }));
  };
  const { url } = await serveDashboard(scheduler, { port: 0, durable });
  scheduler.emit('shard-restart', { shard: 1, cause: new Error(`${LONG} ${TURNING}`), deaths: 1, rescheduled: MANY });
  const close = () => Promise.all([scheduler.close(), durable.close()]);
  return { scheduler, url, [Symbol.asyncDispose]: close as () => Promise<never> };
}
