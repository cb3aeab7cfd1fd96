import { afterAll, describe, expect, test, vi } from 'vitest';
import { runNode } from '../fixtures/child-process.ts';

// Jest is in test/package/on-runtimes.long.test.ts.

const everything = ['interval', 'sleep', 'timer'];
const realClock = /^SHARDWHEEL_FAKE_TIMERS: .* goes by the real clock.*clock: 'manual'/;
const mayNever = /^SHARDWHEEL_FAKE_TIMERS: .* may never fire.*when the fakes are gone/;

describe.each(['esm', 'cjs'])('▲ loaded as %s under the fakes of', (format) => {
  test.each([
    ['sinon', { comes: everything, told: realClock, isNodes: true }],
    ['node-test', { comes: [], told: mayNever, isNodes: false }],
  ])('%s', async (library, { comes, told, isNodes }) => {
    const env = { FAKES: library, FORMAT: format, NODE_OPTIONS: '' };
    const ended = await runNode(['--no-warnings', 'test/time/programs/fakes-at-import.mjs'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({
      under: comes,
      told: [expect.stringMatching(told)],
      toldLater: 0,
      after: { inline: everything, threads: everything },
      dropIn: ['promises.setImmediate', 'promises.setTimeout', 'setImmediate', 'setTimeout'],
      isNodes,
    });
  });
});

describe.each(['esm', 'cjs'])('▲ a manual clock, loaded as %s under the fakes of', (format) => {
  const neverResolves =
    /^SHARDWHEEL_FAKE_TIMERS: .* advanceTo\(\) of this scheduler may never resolve; load shardwheel before/;
  test.each([
    ['sinon', { moved: [true, true], told: [] }],
    ['node-test', { moved: [false, true], told: [expect.stringMatching(neverResolves)] }],
  ])('%s: it moves, or the scheduler says that it will not', async (library, expected) => {
    const env = { FAKES: library, FORMAT: format, FIRST: 'manual', NODE_OPTIONS: '' };
    const ended = await runNode(['--no-warnings', 'test/time/programs/fakes-at-import.mjs'], { env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ended.stdout)).toEqual({ ...expected, toldLater: 0 });
  });
});

afterAll(() => {
  vi.useRealTimers();
});

test("▲ loaded under vitest's fakes, which are real afterwards", async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'performance', 'hrtime'] });
  const { createScheduler } = await import('shardwheel');
  const timers = await import('shardwheel/timers');
  const under = createScheduler({ shards: 0 });
  await new Promise((resolve) => under.scheduleAfter(0, 5, resolve));
  await under.close();
  createScheduler({ shards: 0 });
  createScheduler({ shards: 0, clock: 'manual' });
  expect(warned.mock.calls).toEqual([[expect.stringContaining('goes by the real clock'), expect.anything()]]);
  vi.useRealTimers();
  expect(timers.setImmediate).toBe(setImmediate);
  const after = createScheduler({ shards: 1 });
  await after.ready;
  await new Promise((resolve) => after.scheduleAfter(0, 5, resolve));
  await after.close();
});

test('without fakes nothing is told', async () => {
  const text = `import { createScheduler } from './lib/index.js';
                const scheduler = createScheduler({ shards: 0 });
                scheduler.scheduleAfter(0, 5, () => process.stdout.write('fired'));`;
  const ended = await runNode(['--input-type=module', '--eval', text], { env: { NODE_OPTIONS: '' } });
  expect(ended).toEqual({ code: 0, stdout: 'fired', stderr: '' });
});
