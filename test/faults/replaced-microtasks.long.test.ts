import { describe, expect, test } from 'vitest';
import { runText } from '../fixtures/child-process.ts';

// A program replaces `process.nextTick` and `queueMicrotask` after it has loaded the package: as fakes of a test do, or
// by functions that do nothing or throw. No error of a callback is lost, threads come and go, and nothing but the
// replacements' own errors shows.

const replacements = {
  "sinon's fakes": `const clock = require('@sinonjs/fake-timers').install({ toFake: ['nextTick', 'queueMicrotask'] });
    const putBack = () => clock.uninstall();`,
  'ticks that never come': `process.nextTick = () => undefined; const putBack = () => { process.nextTick = real.nextTick; };`,
  'microtasks that never come': `globalThis.queueMicrotask = () => undefined;
    const putBack = () => { globalThis.queueMicrotask = real.queueMicrotask; };`,
  'microtasks that are refused': `globalThis.queueMicrotask = () => { throw new Error('refused'); };
    const putBack = () => { globalThis.queueMicrotask = real.queueMicrotask; };`,
};

const begin = (replace: string) => `
  import { createRequire } from 'node:module';
  import { setTimeout as set } from 'node:timers';
  import { createScheduler } from 'shardwheel';
  import { setTimeout as dropIn } from 'shardwheel/timers';
  const require = createRequire(import.meta.url);
  const real = { nextTick: process.nextTick, queueMicrotask };
  const sleep = (ms) => new Promise((resolve) => set(resolve, ms));
  const within = (promise) => Promise.race([promise.then(() => 'in time'), sleep(20_000).then(() => 'never')]);
  const seen = [];
  process.on('uncaughtException', ({ message }) => message === 'refused' || seen.push('uncaught ' + message));
  process.on('unhandledRejection', (reason) => seen.push('unhandled ' + reason));
  process.on('warning', ({ name, code }) => name === 'ExperimentalWarning' || seen.push('warning ' + code));
  const finish = async () => {
    await sleep(100);
    process.stdout.write(JSON.stringify(seen));
    process.exit();
  };
  const replaceThem = () => { ${replace}; return putBack; };`;

const stories: [name: string, program: string, seen: string[]][] = [
  [
    "a callback's error is told, and the next timer comes",
    `replaceThem();
     const scheduler = createScheduler({ shards: 0 });
     scheduler.scheduleAfter(1, 5, () => { throw new Error('of a callback'); });
     scheduler.scheduleAfter(1, 5, () => seen.push('next'));
     await sleep(100);
     dropIn(() => { throw new Error('of a timeout'); }, 5);
     dropIn(() => seen.push('next'), 5);
     await sleep(100);
     scheduler.on('error', () => { throw new Error('of a listener'); });
     scheduler.scheduleAfter(1, 5, () => { throw new Error('of a callback'); });
     scheduler.scheduleAfter(1, 5, () => seen.push('next'));
     await sleep(100);`,
    ['uncaught of a callback', 'next', 'uncaught of a timeout', 'next', 'uncaught of a listener', 'next'],
  ],
  [
    'a thread is started and ended under them',
    `replaceThem();
     const scheduler = createScheduler({ shards: 1 });
     seen.push(await within(scheduler.ready));
     seen.push(await within(new Promise((resolve) => scheduler.scheduleAfter(1, 5, resolve))));
     seen.push(await within(scheduler.close()));`,
    ['in time', 'in time', 'in time'],
  ],
  [
    'one that is starting when they come, and one that is closed before it is up',
    `const scheduler = createScheduler({ shards: 1 });
     await sleep(15);
     const putBack = replaceThem();
     seen.push(await within(scheduler.ready));
     const other = createScheduler({ shards: 1 });
     await sleep(3);
     seen.push(await within(other.close()));
     putBack();
     seen.push(await within(scheduler.close()));`,
    ['in time', 'in time', 'in time'],
  ],
];

describe.each(Object.entries(replacements))('%s', (_, replace) => {
  test.each(stories)('%s', async (_, program, seen) => {
    const { code, stdout, stderr } = await runText(`${begin(replace)}${program}; await finish();`, ['--no-warnings']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // piscina's own handlers throw where microtasks are refused: then the shard goes on inline, and says so.
    const told: string[] = JSON.parse(stdout);
    expect(told.filter((what) => what !== 'warning ERR_SHARD_INLINE')).toEqual(seen);
  });
});
