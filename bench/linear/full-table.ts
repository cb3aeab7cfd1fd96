import type { Suite } from '../suite.ts';
import { INLINE, THREAD } from './linear-suite.ts';
import { burst, cancelAndRebuild, close, fire, scheduleAndPublish } from './operations.ts';
import { CAPACITY } from './timer-load.ts';

const QUICK = 256;
const operations = ['schedule', 'publish', 'rebuild', 'cancel', 'fire', 'close'];

/** As many timers as a shard can hold: each operation ends, and its cost. */
export const fullTable: Suite = {
  name: 'linear full',
  title: `Linear: ${CAPACITY.toLocaleString('en-US')} timers, all that a shard can hold`,
  codes: ['L6'],
  about: 'CPU of the whole process for each timer, one operation after the other, each on timers of its own.',
  base: '',
  subjects: [
    { name: INLINE, note: 'shards: 0' },
    { name: THREAD, note: 'shards: 1; the burst comes before it is up' },
  ],
  figures: [...operations, 'burst'].map((operation) => ({ key: operation, title: operation, unit: 'ns' })),
  async run(subject, { quick }) {
    const count = CAPACITY / (quick ? QUICK : 1);
    const shards = subject === THREAD ? 1 : 0;
    const figures: Record<string, number> = {
      ...(await scheduleAndPublish(shards, count)),
      ...(await cancelAndRebuild(shards, count)),
      fire: await fire(shards, count),
      close: await close(shards, count),
    };
    if (subject === THREAD) figures.burst = (await burst(count)).burst;
    return { figures, checksums: {} };
  },
};
