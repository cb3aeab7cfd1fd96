import { createHook } from 'node:async_hooks';
import { inspect } from 'node:util';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { blockLoop } from '../fixtures/event-loop.ts';

const preamble = `import { createScheduler, createTimers } from 'shardwheel';`;

test('an interval whose next call is refused says so, beside what its callback has thrown', async () => {
  const { stdout } = await runText(`${preamble}
    const scheduler = createScheduler({ shards: 0, capacity: 4 }), { setTimeout, setInterval, promises } = createTimers(scheduler);
    process.on('uncaughtException', (error) => console.log(error.code ?? error.message));
    const fill = () => { try { for (;;) setTimeout(() => {}, 60_000).unref(); } catch {} };
    setInterval(() => { fill(); throw new Error('of the callback'); }, 5);
    setTimeout(() => {}, 50);`);
  expect(stdout.trim().split('\n')).toEqual(['of the callback', 'ERR_CAPACITY_EXCEEDED']);
});

test('an async interval whose next call is refused rejects', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 4 });
  const { setTimeout, promises } = createTimers(scheduler);
  const calls = async () => {
    for await (const _ of promises.setInterval(5)) {
      // The next call is refused as this body runs.
    }
  };
  const filled = promises.setTimeout(1).then(() => {
    for (let i = 0; i < 3; i++) setTimeout(() => undefined, 60_000).unref();
    setTimeout(() => setTimeout(() => undefined, 60_000).unref(), 4); // refused: the lane is full
  });
  await expect(Promise.all([filled, calls()])).rejects.toMatchObject({ code: 'ERR_CAPACITY_EXCEEDED' });
});

test('timeouts that were set while async hooks were on are not overtaken', async () => {
  await using scheduler = createScheduler({ shards: 0 });
  const { setTimeout } = createTimers(scheduler);
  const order: number[] = [];
  const hook = createHook({ init: () => undefined }).enable();
  await new Promise<void>((resolve) => {
    for (let i = 0; i < 3000; i++) {
      if (i === 1500) hook.disable();
      setTimeout(() => order.push(i), 5);
    }
    setTimeout(resolve, 5);
    blockLoop(30);
  });
  expect(order).toEqual(Array.from({ length: 3000 }, (_, i) => i));
});

test('what two timeouts refer to is shown, once each', () => {
  const connection: { timeouts: unknown[] } = { timeouts: [] };
  const { setTimeout, clearTimeout } = createTimers(createScheduler({ shards: 0 }));
  for (let i = 0; i < 2; i++)
    connection.timeouts.push((setTimeout as (...given: unknown[]) => unknown)(() => undefined, 60_000, connection));
  expect(inspect(connection, { depth: 9 }).split('\n').length).toBeLessThan(40);
  for (const timeout of connection.timeouts) clearTimeout(timeout as NodeJS.Timeout);
});
