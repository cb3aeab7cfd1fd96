import { createScheduler } from 'shardwheel';
import { register, unregister } from 'shardwheel/register';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { REGISTER, runProgram } from './run-program.ts';

describe.each(['sinon', 'sinon-timers-alone', 'node-test'])('%s', (library) => {
  test.each([false, true])(
    'governs timers while it is installed, and gives them back: registered %s',
    async (isRegistered) => {
      const flags = ['--no-warnings', ...(isRegistered ? REGISTER : [])];
      const env = { FAKES: library };
      expect(await runProgram('fakes.mjs', { flags, env })).toEqual({ isRegistered });
    },
  );
});

// Of Node's, the links of its list are own properties. The class is another in this run's own copy of the package.
const isOurs = (timeout: object) => timeout.constructor.name === 'Timeout' && !Object.hasOwn(timeout, '_idleNext');

// The wheel from the first timer: before anything is imported.
vi.hoisted(() => {
  process.env.SHARDWHEEL_TIMERS = 'always';
});

describe('vi.useFakeTimers in a registered process', () => {
  beforeAll(() => {
    register();
    return unregister;
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const functions = () => [setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate];
  const every = ['queueMicrotask', 'performance', 'hrtime', 'Date', 'setTimeout', 'setInterval'] as const;

  test.each([
    ['by default', undefined],
    ['of all there is', [...every, 'clearTimeout', 'clearInterval', 'setImmediate', 'clearImmediate'] as const],
  ])('fake time governs what is set under it, %s', async (_, toFake) => {
    const before = functions();
    const seen: string[] = [];
    vi.useFakeTimers(toFake === undefined ? undefined : { toFake: [...toFake] });
    expect(setTimeout).not.toBe(before[0]);
    const pending = setTimeout(() => seen.push('never'), 1e9);
    const interval = setInterval(() => seen.push('interval'), 400);
    setTimeout(() => seen.push('timeout'), 1000);
    clearTimeout(setTimeout(() => seen.push('never'), 1));
    expect(pending).not.toSatisfy(isOurs);
    vi.advanceTimersByTime(999);
    expect(seen).toEqual(['interval', 'interval']);
    vi.advanceTimersByTime(1);
    expect(seen).toEqual(['interval', 'interval', 'timeout']);
    clearInterval(interval);
    expect(vi.getTimerCount()).toBe(1);
    vi.useRealTimers();
    expect(functions()).toEqual(before);
    await new Promise<void>((resolve) => {
      expect(setTimeout(resolve, 1)).toSatisfy(isOurs);
    });
    expect(seen.length).toBe(3);
  });

  test('what was set before goes on by real time, and so does a scheduler', async () => {
    const fired = vi.fn();
    const real = setTimeout;
    const clear = clearInterval;
    const interval = setInterval(fired, 5);
    const timeout = setTimeout(fired, 5);
    await using scheduler = createScheduler({ shards: 0 });
    vi.useFakeTimers();
    const ended = new Promise<void>((resolve) => scheduler.scheduleAfter(0, 10, resolve));
    timeout.refresh();
    await ended;
    while (fired.mock.calls.length < 4) await new Promise((resolve) => real(resolve, 5));
    clear(interval);
    expect(vi.getTimerCount()).toBe(0);
  });
});
