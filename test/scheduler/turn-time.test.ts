import { createScheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { blockUntilFired } from '../fixtures/shard-threads.ts';

test.each([0, 1, 2])(
  'slow callbacks do not keep the event loop, however large maxBatch is: shards %i',
  async (shards) => {
    await using scheduler = createScheduler({ shards, capacity: 1024 });
    await scheduler.ready;
    const count = 640;
    const deliveredByTurn: number[] = [];
    let delivered = 0;
    let turns = 0;
    const watch = () => {
      turns += 1;
      if (delivered < count) setImmediate(watch);
    };
    setImmediate(watch);
    const deadline = scheduler.now() + 20;
    for (let i = 0; i < count; i++) {
      scheduler.schedule(i, deadline, () => {
        blockLoop(0.1);
        delivered += 1;
        deliveredByTurn[turns] = (deliveredByTurn[turns] ?? 0) + 1;
      });
    }
    await new Promise(setImmediate);
    blockLoop(10); // the commands are held for some ms, and go out with the next turn
    await new Promise((resolve) => setTimeout(resolve, 5));
    if (shards > 0)
      blockUntilFired(scheduler, count - delivered); // on a busy machine some have come already
    else blockLoop(20);
    setImmediate(watch);
    await until(() => delivered === count);
    // A turn looks at the clock each 64 deliveries of a lane, and 64 of these take 6 ms; a turn of the event loop may hold two
    // of the client's: the one that was held, and the one that it arms.
    expect(Math.max(...deliveredByTurn.filter((each) => each > 0))).toBeLessThanOrEqual(2 * 64 * Math.max(1, shards));
  },
);
