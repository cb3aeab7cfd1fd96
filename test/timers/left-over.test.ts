import { createHook } from 'node:async_hooks';
import { inspect } from 'node:util';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { blockLoop } from '../fixtures/event-loop.ts';

// What has been delivered has left the scheduler; it must run all the same.

const preamble = `import { createScheduler, createTimers } from 'shardwheel';
  const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };`;

test.each([0, 1])(
  'timeouts that are due run, though the scheduler is closed before their turn: shards %i',
  async (shards) => {
    const { stdout, code } = await runText(`${preamble}
    const scheduler = createScheduler({ shards: ${shards} }), { setTimeout, promises } = createTimers(scheduler);
    await scheduler.ready;
    process.on('uncaughtException', () => scheduler.close().then((unfired) => console.log('handed back', unfired.length)));
    setTimeout(() => { throw new Error('one'); }, 20);
    setTimeout(() => console.log('two'), 20);
    promises.setTimeout(20).then(() => console.log('three'), (error) => console.log(error.name));
    setTimeout(() => console.log('never'), 60_000);
    block(60);`);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n').sort()).toEqual(['handed back 1', 'three', 'two']);
  },
);

test('a timeout that is due, and waits for the rest of its tick, holds the process', async () => {
  const { stdout } = await runText(`${preamble}
    const scheduler = createScheduler({ shards: 0, maxBatch: 1, tick: 16 }), { setTimeout, clearTimeout } = createTimers(scheduler);
    const one = setTimeout(() => console.log('one'), 200), two = setTimeout(() => console.log('two'), 200);
    one.refresh(), two.refresh();
    const look = () => {
      if (scheduler.size < 2) clearTimeout(two);
      else setImmediate(look).unref();
    };
    setImmediate(look).unref();`);
  expect(stdout).toContain('one');
});

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
