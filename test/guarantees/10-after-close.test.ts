import { createScheduler, type Scheduler, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

/**
 * What starts, moves or shares, or asks for the future. A value in place of an argument is checked after the
 * scheduler's state.
 */
const calls: Record<string, (scheduler: Scheduler, value: never) => unknown> = {
  now: (scheduler) => scheduler.now(),
  schedule: (scheduler, value) => scheduler.schedule('a', value),
  scheduleAfter: (scheduler, value) => scheduler.scheduleAfter('a', value),
  scheduleAt: (scheduler, value) => scheduler.scheduleAt('a', value),
  scheduleEvery: (scheduler, value) => scheduler.scheduleEvery('a', value),
  scheduleMany: (scheduler, value) => scheduler.scheduleMany(value, value),
  reschedule: (scheduler, value) => scheduler.reschedule(value, 5),
  rescheduleAfter: (scheduler, value) => scheduler.rescheduleAfter(value, 5),
  rescheduleAt: (scheduler, value) => scheduler.rescheduleAt(value, 5),
  shardOf: (scheduler, value) => scheduler.shardOf(value),
  label: (scheduler, value) => scheduler.label(value),
  group: (scheduler, value) => scheduler.group(value),
  sleep: (scheduler, value) => scheduler.sleep(value),
  withTimeout: (scheduler, value) => scheduler.withTimeout(Promise.resolve(), value),
  signalAfter: (scheduler, value) => scheduler.signalAfter(value),
  statsInterval: (scheduler) => scheduler.statsInterval(),
  share: (scheduler) => scheduler.share(),
  advanceTo: (scheduler, value) => scheduler.advanceTo(value),
  nextExpiration: (scheduler) => scheduler.nextExpiration(),
  wheels: (scheduler) => scheduler.wheels(),
  ref: (scheduler) => scheduler.ref(),
  unref: (scheduler) => scheduler.unref(),
};

/** What only ends or asks for timers, and its answer where none is live. */
const answers: Record<string, { answer: unknown; call(scheduler: Scheduler, value: never): unknown }> = {
  cancel: { answer: false, call: (scheduler, value) => scheduler.cancel(value) },
  cancelMany: { answer: 0, call: (scheduler, value) => scheduler.cancelMany(value) },
  cancelAnywhere: { answer: false, call: (scheduler, value) => scheduler.cancelAnywhere(value) },
  has: { answer: false, call: (scheduler, value) => scheduler.has(value) },
  deadlineOf: { answer: undefined, call: (scheduler, value) => scheduler.deadlineOf(value) },
  liveTimers: { answer: [], call: (scheduler) => [...scheduler.liveTimers()] },
};

const promised = new Set(['sleep', 'withTimeout', 'wheels', 'advanceTo', 'nextExpiration']);

describe.each([0, 2])('guarantee 10 ▲, after close: shards %i', (shards) => {
  test('every call that would start, move or share says so', async () => {
    const scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    scheduler.schedule(1, 10);
    const closing = scheduler.close();
    let asked = 0;
    for (const when of ['closing', 'closed']) {
      if (when === 'closed') await closing;
      for (const [name, call] of Object.entries(calls)) {
        for (const value of [1, undefined, Number.NaN, [1]]) {
          // What returns a promise rejects; the rest throws.
          const outcome = promised.has(name)
            ? await (call(scheduler, value as never) as Promise<unknown>).catch((error) => error)
            : await new Promise((resolve) => resolve(call(scheduler, value as never))).catch((error) => error);
          expect(outcome, `${name}(${value}) ${when}`).toBeInstanceOf(SchedulerClosedError);
          expect(outcome).toMatchObject({ code: 'ERR_SCHEDULER_CLOSED', name: 'SchedulerClosedError' });
          expect((outcome as Error).message).toBe(`${name}() was called after the scheduler was closed`);
          asked += 1;
        }
      }
    }
    expect(asked).toBe(22 * 4 * 2);
  });

  test('what only ends or asks for timers answers, whatever it is given', async () => {
    const scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    const id = scheduler.schedule(1, 10);
    const group = scheduler.group(2);
    group.schedule(10);
    const closing = scheduler.close();
    for (const when of ['closing', 'closed']) {
      if (when === 'closed') await closing;
      for (const [name, { answer, call }] of Object.entries(answers)) {
        for (const value of [id, [id], undefined, Number.NaN]) {
          expect(await call(scheduler, value as never), `${name}(${value}) ${when}`).toEqual(answer);
        }
      }
      expect([group.size, group.cancelAll()]).toEqual([0, 0]);
    }
    expect((await closing).length).toBe(2);
  });

  test('a listener of a socket, say, may cancel after a shutdown: nothing is thrown', async () => {
    const scheduler = createScheduler({ shards });
    const connection = new EventTarget();
    const idle = scheduler.scheduleAfter(1, 60_000);
    const answers: boolean[] = [];
    connection.addEventListener('close', () => answers.push(scheduler.cancel(idle)));
    await scheduler.close();
    connection.dispatchEvent(new Event('close'));
    expect(answers).toEqual([false]);
  });

  test('close, stats and size answer', async () => {
    const scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const id = scheduler.schedule(1, 10, undefined, 'argument');
    scheduler.schedule(1, 5);
    await scheduler.advanceTo(5);
    const unfired = await scheduler.close();
    expect(unfired).toMatchObject([{ id, deadline: 10, argument: 'argument', callback: undefined, isSettled: false }]);
    expect(await scheduler.close()).toBe(unfired);
    expect(scheduler.size).toBe(0);
    expect(scheduler.shards).toBe(shards);
    expect(await scheduler.stats()).toMatchObject({ size: 0, scheduled: 2, delivered: 1, cancelled: 0, shards: [] });
  });

  test('what is pending when it is closed settles: with an answer, or as closed; stats() with an answer', async () => {
    for (const wait of [false, true]) {
      const scheduler = createScheduler({ shards });
      if (wait) await scheduler.ready;
      const pending = [scheduler.ready, scheduler.nextExpiration()];
      const stats = scheduler.stats();
      const closing = scheduler.close();
      expect(await stats).toMatchObject({ size: 0, scheduled: 0 });
      for (const outcome of await Promise.allSettled(pending)) {
        if (outcome.status === 'fulfilled') expect(outcome.value).toBeUndefined();
        else expect(outcome.reason).toBeInstanceOf(SchedulerClosedError);
      }
      await closing;
    }
  });
});
