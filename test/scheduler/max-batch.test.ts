import { MessageChannel } from 'node:worker_threads';
import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';

describe.each([0, 1, 2])('maxBatch: shards %i', (shards) => {
  test.each([1, 10, 333])('no turn of the event loop delivers more than %i timers', async (maxBatch) => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096, maxBatch });
    await scheduler.ready;
    let delivered = 0;
    let batched = 0;
    scheduler.on('fired', ({ length }) => {
      delivered += length;
      batched = Math.max(batched, length);
    });
    for (let i = 0; i < 2000; i++) {
      if (i % 4 === 0) {
        scheduler.schedule(i, 5, () => {
          delivered += 1;
        });
      } else {
        scheduler.schedule(i, 5);
      }
    }
    const perTurn: number[] = [];
    let before = 0;
    let isOver = false;
    const watch = () => {
      perTurn.push(delivered - before);
      before = delivered;
      if (!isOver) setImmediate(watch);
    };
    setImmediate(watch);
    expect(await scheduler.advanceTo(5)).toBe(2000);
    isOver = true;
    expect(delivered).toBe(2000);
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(maxBatch);
    expect(batched).toBeLessThanOrEqual(maxBatch);
    // The last turn may be over before it is watched.
    expect(perTurn.length).toBeGreaterThanOrEqual(Math.ceil(2000 / maxBatch) - 1);
  });

  test('I/O is served between the turns', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096, maxBatch: 10 });
    await scheduler.ready;
    const { port1, port2 } = new MessageChannel();
    let delivered = 0;
    const servedAt: number[] = [];
    port1.on('message', () => {
      servedAt.push(delivered);
      if (delivered < 3000) port2.postMessage(null);
    });
    const count = () => {
      if (delivered === 0) port2.postMessage(null);
      delivered += 1;
    };
    for (let i = 0; i < 3000; i++) scheduler.schedule(i, 5, count);
    await scheduler.advanceTo(5);
    port1.close();
    // A message of its own that comes back each time it is served: about once for every turn.
    expect(servedAt.filter((at) => at > 0 && at < 3000).length).toBeGreaterThan(20);
  });

  test('a batch as large as all that is due is delivered in one go', async () => {
    await using scheduler = createScheduler({ shards: Math.min(shards, 1), clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const lengths: number[] = [];
    scheduler.on('fired', ({ length }) => lengths.push(length));
    for (let i = 0; i < 3000; i++) scheduler.schedule(i, 5);
    await scheduler.advanceTo(5);
    expect(lengths).toEqual([3000]);
  });
});
