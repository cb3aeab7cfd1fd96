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
])('closed by %s, a scheduler loses nothing that is due', async (_, inCallback, inHandler) => {
  const lines = await printed(
    'shards: 0',
    `process.once('uncaughtException', () => { ${inHandler} });
     process.on('uncaughtException', () => undefined);
     timers.setTimeout(() => { ${inCallback}; throw new Error(); }, 5);
     timers.setTimeout(() => { log('second'); throw new Error(); }, 5);
     timers.promises.setTimeout(5).then(() => log('slept'));
     block(30);
     setTimeout(() => undefined, 300);`,
  );
  expect(lines.sort()).toEqual(['0 unfired', 'second', 'slept']);
});

/** `first` is due, and waits in the queue for the rest of its tick. */
const waiting = (act: string) => `
  const first = timers.setTimeout(() => log('first'), 200);
  const second = timers.setTimeout(() => log('second'), 200);
  timers.setTimeout(() => { first.refresh(); second.refresh(); watch(); }, 20);
  const watch = () => {
    if (first._idleStart !== null) setImmediate(watch).unref();
    else { ${act}; }
  };`;

test.each([0, 1])(
  'the process does not end before what is due has run, though nothing is live: shards %i',
  async (shards) => {
    const options = `shards: ${shards}, maxBatch: 1, tick: 16`;
    expect(await printed(options, waiting('second.close()'))).toEqual(['first']);
  },
);

test.each([0, 1])(
  'what waits for the rest of its tick when the scheduler closes still runs: shards %i',
  async (shards) => {
    const options = `shards: ${shards}, maxBatch: 1, tick: 16`;
    expect((await printed(options, waiting(close))).sort()).toEqual(['1 unfired', 'first']);
  },
);

test('a timeout that is due and is refreshed where there is no room stays due', async () => {
  const lines = await printed(
    'shards: 0, capacity: 4',
    `timers.setTimeout(() => {
       for (let i = 0; i < 4; i++) timers.setTimeout(() => undefined, 50);
       try { second.refresh(); } catch ({ code }) { log(code); }
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
