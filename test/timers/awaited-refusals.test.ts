import { createScheduler, type Scheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);
process.on('unhandledRejection', note);
afterAll(() => void process.off('unhandledRejection', note));

let scheduler: Scheduler;
beforeEach(() => {
  scheduler = createScheduler({ shards: 0 });
});
afterEach(() => scheduler.close());

/** A signal that does this when somebody begins to listen. */
function signalThat(...doings: ('abort' | 'throw')[]): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  signal.addEventListener = (...given: Parameters<AbortSignal['addEventListener']>) => {
    AbortSignal.prototype.addEventListener.apply(signal, given);
    for (const doing of doings) {
      if (doing === 'throw') throw new Error('refused');
      controller.abort();
    }
  };
  return signal;
}

const calls: Record<string, (signal: AbortSignal) => unknown> = {
  sleep: (signal) => scheduler.sleep(10_000, { signal }),
  withTimeout: (signal) => scheduler.withTimeout(new Promise(() => undefined), 10_000, { signal }),
  signalAfter: (signal) => scheduler.signalAfter(10_000, { signal }),
  'setTimeout of promises': (signal) => createTimers(scheduler).promises.setTimeout(10_000, 0, { signal }),
};
const hostile = [['throw'], ['abort', 'throw'], ['abort']] as const;

test.each(Object.keys(calls).flatMap((call) => hostile.map((doings) => [call, doings] as const)))(
  '%s with a signal that does %j as it is listened to ends once, and leaves nothing',
  async (call, doings) => {
    let thrown: unknown;
    let result: unknown;
    try {
      result = calls[call](signalThat(...doings));
    } catch (error) {
      thrown = error;
    }
    if (result instanceof Promise) await expect(result).rejects.toThrow();
    else if (thrown === undefined) expect((result as AbortSignal).aborted).toBe(true);
    await turn();
    await turn();
    expect([scheduler.size, unhandled]).toEqual([0, []]);
  },
);

test('a handed-back waiter that is refused anew leaves nothing', async () => {
  const { signal } = new AbortController();
  const other = createScheduler({ shards: 0 });
  other.signalAfter(10_000, { signal });
  const [back] = await other.close();
  signal.addEventListener = () => {
    throw new Error('refused');
  };
  const again = (): unknown =>
    scheduler.schedule(back.workerHint, back.deadline, back.callback as (argument: unknown) => void, back.argument);
  expect(again).toThrow('refused');
  expect(scheduler.size).toBe(0);
});

test('drop-in timers are shown as what they are', () => {
  const timers = createTimers(scheduler);
  const circle: { self?: unknown } = {};
  circle.self = circle;
  const [timeout, interval] = [
    timers.setTimeout((_: unknown) => undefined, 50, circle),
    timers.setInterval(() => undefined, 70),
  ];
  expect([JSON.stringify(timeout), JSON.stringify({ interval })]).toEqual(['{}', '{"interval":{}}']);
  expect([...scheduler.liveTimers()].map(({ period }) => period)).toEqual([undefined, 70]);
  timers.clearTimeout(timeout);
  timers.clearInterval(interval);
});

test('an aborted sleep of the drop-in functions rejects as Node’s does, whatever the reason', async () => {
  const { setTimeout: nodes } = await import('node:timers/promises');
  const { promises } = createTimers(scheduler);
  const late = Object.assign(new Error('late'), { name: 'TimeoutError' });
  for (const reason of [late, undefined, new Error('why'), 5]) {
    const said = await Promise.all(
      [nodes, promises.setTimeout].map((sleep) =>
        sleep(10_000, 0, { signal: AbortSignal.abort(reason) }).catch((error) => [
          error.name,
          error.code,
          error.message,
        ]),
      ),
    );
    expect(said[1]).toEqual(said[0]);
  }
});
