import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { program, wentWell } from './fired-on-threads.ts';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject('jest@30.5.2', 'bun@1.4.5', 'deno@2.9.6');

/** Without the drop-in timers, which are refused there. */
const withoutDropIn = program.replaceAll(/^.*\bsetTimeout\b.*\n/gm, '');

const pending = `
import { createScheduler } from 'shardwheel';
createScheduler({ shards: Number(process.argv[2]) }).scheduleAfter('hint', 300, (word) => console.log(word), 'fired');
`;

project.write('main.mjs', withoutDropIn);
project.write('pending.mjs', pending);
project.write('sockets.mjs', readFileSync(new URL('./sockets-on-runtimes.mjs', import.meta.url), 'utf8'));

test.each([
  ['Bun', 'on threads', ['bun'], wentWell],
  ['Deno', 'inline', ['deno', 'run', '--allow-all'], { ...wentWell, by: 'inline', isInline: true }],
])('%s fires timers %s, and ends by itself', (_name, _where, argv, expected) => {
  const { status, stdout, stderr } = project.try('npx', [...argv, 'main.mjs']);
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: `${JSON.stringify(expected)}\n` });
  for (const shards of ['0', '1', '2']) {
    const { status, stdout } = project.try('npx', [...argv, 'pending.mjs', shards]);
    expect({ shards, status, stdout }).toEqual({ shards, status: 0, stdout: 'fired\n' });
  }
});

test.each([
  ['Bun', ['bun']],
  ['Deno', ['deno', 'run', '--allow-all']],
])('%s ends the sockets of a proxy in time, each by its own kind, and drains it', (_name, argv) => {
  const { status, stdout, stderr } = project.try('npx', [...argv, 'sockets.mjs']);
  const expected = {
    told: ['firstByte in time', 'idle in time', 'lifetime in time', 'halfClose in time'],
    codes: ['ERR_SOCKET_TIMEOUT'],
    drained: { closed: 1, cut: 0 },
    left: 0,
  };
  expect({ status, stdout }, stderr).toEqual({ status: 0, stdout: `${JSON.stringify(expected)}\n` });
});

test('Jest in its default mode loads the package, fires timers on a thread, and exits by itself', () => {
  project.write('jest.config.json', JSON.stringify({ testMatch: ['**/*.spec.cjs'] }));
  project.write(
    'timers.spec.cjs',
    `const { createScheduler, TimeoutError } = require('shardwheel');
     const timers = require('shardwheel/timers');
     const sleep = require('shardwheel/timers/promises');
     const { createWheel } = require('shardwheel/wheel');

     test('on a thread, and closed', async () => {
       const scheduler = createScheduler({ shards: 1 });
       await scheduler.ready;
       expect(await new Promise((resolve) => scheduler.scheduleAfter(1, 20, resolve, 'fired'))).toBe('fired');
       expect((await scheduler.stats()).serving.by).toBe('threads');
       await scheduler.close();
     });

     test('never closed', async () => {
       const scheduler = createScheduler({ shards: 1 });
       await expect(scheduler.withTimeout(new Promise(() => {}), 5)).rejects.toBeInstanceOf(TimeoutError);
       expect(() => scheduler.scheduleAfter(1, 'soon')).toThrow(RangeError);
     });

     test('drop-in timers, and a wheel alone', async () => {
       await new Promise((resolve) => timers.setTimeout(resolve, 5));
       expect(await sleep.setTimeout(5, 'slept')).toBe('slept');
       expect(createWheel('blitz').size).toBe(0);
     });\n`,
  );
  project.write(
    'faked.spec.cjs',
    `jest.useFakeTimers();
     const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
     const { createScheduler } = require('shardwheel');
     const timers = require('shardwheel/timers');

     test.each([true, false])('loaded under the fakes of Jest; they are on: %s', async (areOn) => {
       if (!areOn) jest.useRealTimers();
       const scheduler = createScheduler({ shards: areOn ? 0 : 1 });
       expect(await new Promise((resolve) => scheduler.scheduleAfter(1, 20, resolve, 'fired'))).toBe('fired');
       expect(await scheduler.sleep(5)).toBe(undefined);
       await scheduler.close();
       await new Promise((resolve) => timers.setImmediate(resolve));
       expect(warned.mock.calls).toEqual([[expect.stringContaining('goes by the real clock'), expect.anything()]]);
     });\n`,
  );
  const { status, stderr } = project.try('npx', ['jest', '-c', 'jest.config.json']);
  expect(stderr).toContain('Tests:       5 passed, 5 total');
  expect(stderr).not.toMatch(/did not exit|worker process has failed/);
  expect(status).toBe(0);
});
