import { createHook } from 'node:async_hooks';
import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { blockLoop } from '../fixtures/event-loop.ts';

/** Runs a program in a process of its own, where what is due stays in the queue for a while; what it prints. */
async function printed(options: string, program: string): Promise<string[]> {
  const { stdout, stderr } = await runText(`
    import { createScheduler } from 'shardwheel';
    import { createTimers } from 'shardwheel/timers';
    const scheduler = createScheduler({ capacity: 2 ** 17, ${options} });
    await scheduler.ready;
    const timers = createTimers(scheduler);
    const { log } = console;
    const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
    ${program}`);
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

const close = `scheduler.close().then((unfired) => log(unfired.length + ' unfired'))`;

test.each([
  ['the handler of the error', '', close],
  ['the callback that throws', close, ''],
])('what is due ends with its scheduler, closed by %s', async (_, inCallback, inHandler) => {
  const lines = await printed(
    'shards: 0',
    `process.once('uncaughtException', () => { ${inHandler} });
     process.on('uncaughtException', () => undefined);
     timers.setTimeout(() => { ${inCallback}; throw new Error(); }, 5);
     timers.setTimeout(() => { log('second'); throw new Error(); }, 5);
     timers.promises.setTimeout(5).then(() => log('slept'), ({ code }) => log(code));
     block(30);
     setTimeout(() => undefined, 300);`,
  );
  expect(lines.sort()).toEqual(['0 unfired', 'ERR_SCHEDULER_CLOSED']);
});

test.each([0, 1])(
  'the process does not end before all that is due has run, though none holds it: shards %i',
  async (shards) => {
    const lines = await printed(
      `shards: ${shards}`,
      `let ran = 0;
     for (let i = 0; i < 20_000; i++) timers.setTimeout(() => { ran += 1; block(0.001); }, 5).unref();
     timers.setTimeout(() => undefined, 5);
     block(30);
     process.on('exit', () => log(String(ran)));`,
    );
    expect(lines).toEqual(['20000']);
  },
);

test('a timeout that is due can be refreshed where there is no room', async () => {
  const lines = await printed(
    'shards: 0, capacity: 4',
    `timers.setTimeout(() => {
       for (let i = 0; i < 3; i++) timers.setTimeout(() => undefined, 50);
       second.refresh();
       try { timers.setTimeout(() => undefined, 50); } catch ({ code }) { log(code); }
     }, 5);
     const second = timers.setTimeout(() => log('second'), 5);
     block(30);`,
  );
  expect(lines).toEqual(['ERR_CAPACITY_EXCEEDED', 'second']);
});

test('an interval whose next call is refused says so, beside what its callback has thrown', async () => {
  const lines = await printed(
    'shards: 0, capacity: 4',
    `process.on('uncaughtException', (error) => log(error.code ?? error.message));
     const fill = () => { try { for (;;) timers.setTimeout(() => {}, 60_000).unref(); } catch {} };
     timers.setInterval(() => { fill(); throw new Error('of the callback'); }, 5);
     timers.setTimeout(() => {}, 50);`,
  );
  expect(lines).toEqual(['of the callback', 'ERR_CAPACITY_EXCEEDED']);
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

test('timers keep their order where async hooks were on for some of them', async () => {
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
