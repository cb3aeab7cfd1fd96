import { expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';
import { modules } from './subjects.ts';

const before = (module: string) => `
  import { AsyncLocalStorage } from 'node:async_hooks';
  import timers from '${module}';
  const storage = new AsyncLocalStorage();
  const block = (ms) => { for (const end = performance.now() + ms; performance.now() < end; ); };
`;

/** What a program prints on each module; it must be the same. */
async function onBoth(program: string): Promise<string[]> {
  const [nodes, own] = await Promise.all(modules.map((module) => runText(before(module) + program)));
  expect(own).toEqual(nodes);
  return own.stdout.split('\n').filter(Boolean);
}

test.each(['Promise.reject(new Error())', 'queueMicrotask(() => { throw new Error(); })'])(
  'after %s no timer runs in the context of another that has thrown',
  async (rejecting) => {
    const printed = await onBoth(`
      process.on('uncaughtException', () => undefined);
      const rejects = () => { ${rejecting}; };
      timers.setTimeout(rejects, 5);
      storage.run('request', () => timers.setTimeout(() => { throw new Error(); }, 5));
      timers.setTimeout(rejects, 5);
      timers.setTimeout(() => console.log(storage.getStore()), 5);
      block(30);
    `);
    expect(printed).toEqual(['undefined']);
  },
);

test('no timer runs in the context of one that threw some ms before', async () => {
  const printed = await onBoth(`
    let thrown = 0;
    process.on('uncaughtException', () => { thrown += 1; });
    const rounds = 20;
    const seen = [];
    timers.setTimeout(() => undefined, 2000); // holds the process
    const throwing = () => { timers.setTimeout(() => undefined, 100); throw new Error(); };
    let round = 0;
    const rising = setInterval(() => {
      round += 1;
      if (round === rounds) clearInterval(rising);
      setImmediate(() => {
        storage.run('request', () => timers.setTimeout(throwing, 3));
        block(15);
      });
    }, 60);
    let noted = 0;
    const watching = setInterval(() => {
      if (noted === thrown) return;
      noted += 1;
      if (noted === rounds) clearInterval(watching);
      setImmediate(() => {
        timers.setTimeout(() => seen.push(storage.getStore()), 5);
        block(15);
      });
    }, 1);
    process.on('exit', () => console.log(seen.length, seen.filter((store) => store !== undefined).length));
  `);
  expect(printed).toEqual(['20 0']);
});

test('a timeout that has thrown is over', async () => {
  const printed = await onBoth(`
    process.on('uncaughtException', () => undefined);
    const timeout = timers.setTimeout(() => { throw new Error(); }, 5);
    timeout.unref();
    setTimeout(() => console.log(timeout._destroyed), 200);
  `);
  expect(printed).toEqual(['true']);
});

test('one that was refreshed while it was due comes behind the others, though its new time has come by then', async () => {
  const printed = await onBoth(`
    process.on('uncaughtException', () => undefined);
    timers.setTimeout(() => {
      refreshed.refresh();
      block(5);
      throw new Error();
    }, 1);
    const refreshed = timers.setTimeout(console.log, 1, 'refreshed');
    for (const name of ['one', 'two']) timers.setTimeout(console.log, 1, name);
    block(5);
  `);
  expect(printed).toEqual(['one', 'two', 'refreshed']);
});
