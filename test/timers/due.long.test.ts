import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

/** Runs a program in a process of its own, where what is due stays in the queue for a while; what it prints. */
async function printed(options: string, program: string): Promise<string[]> {
  const { stdout, stderr } = await runText(`
    import { createHook } from 'node:async_hooks';
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

test('an interval that cannot be set again does not hide what its callback has thrown', async () => {
  const lines = await printed(
    'shards: 0, capacity: 4',
    `process.on('uncaughtException', ({ message }) => log(message.slice(0, 8)));
     timers.setInterval(() => {
       for (let i = 0; i < 4; i++) timers.setTimeout(() => undefined, 50);
       throw new Error('callback');
     }, 5);`,
  );
  expect(lines).toContain('callback');
});

test('timers keep their order where async hooks were on for some of them', async () => {
  const lines = await printed(
    'shards: 0',
    `const order = [];
     const hook = createHook({ init() {} }).enable();
     for (let i = 0; i < 40_000; i++) {
       if (i === 20_000) hook.disable();
       timers.setTimeout(() => order.push(i), 5);
     }
     block(30);
     timers.setTimeout(() => log(order.length, order.every((each, at) => each === at)), 1000);`,
  );
  expect(lines).toEqual(['40000 true']);
});

test.each(['0', '1', "'auto'"])(
  '5,000 timers of equal delay, due at once, fire in the order of setting: shards %s',
  async (shards) => {
    const lines = await printed(
      `shards: ${shards}`,
      `for (let round = 0; round < 3; round++) {
       const order = [];
       for (let i = 0; i < 5000; i++) timers.setTimeout(() => order.push(i), 5);
       block(30);
       while (order.length < 5000) await timers.promises.setTimeout(50);
       log(order.every((each, at) => each === at));
     }`,
    );
    expect(lines).toEqual(['true', 'true', 'true']);
  },
);
