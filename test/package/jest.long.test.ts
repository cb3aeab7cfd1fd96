import { expect, test } from 'vitest';
import { InstalledProject } from './installed-project.ts';

const project = new InstalledProject('jest@30.5.2');

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
  const { status, stderr } = project.try('npx', ['jest', '-c', 'jest.config.json']);
  expect(stderr).toContain('Tests:       3 passed, 3 total');
  expect(stderr).not.toMatch(/did not exit|worker process has failed/);
  expect(status).toBe(0);
});
