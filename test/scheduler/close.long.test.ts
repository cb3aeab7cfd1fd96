import { getEventListeners } from 'node:events';
import { createScheduler, createTimers, type Scheduler, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { pass } from '../fixtures/event-loop.ts';
import { Tally } from '../fixtures/tally.ts';
import { manual } from './manual.ts';

async function closeInto(scheduler: Scheduler, tally: Tally): Promise<number> {
  const unfired = await scheduler.close();
  for (const { argument } of unfired) tally.add(argument as number);
  return unfired.length;
}

describe.each([0, 1, 2])('close(): shards %i', (shards) => {
  test('hands back all that another scheduler needs to go on with the timers; a drop-in timer is none of them', async () => {
    const scheduler = await manual({ shards });
    const argument = { of: 'mine' };
    const callback = () => undefined;
    const ids = [
      scheduler.schedule(1, 50, callback, argument),
      scheduler.schedule(2, 60.5),
      scheduler.label('idle').schedule(3, 70, callback),
    ];
    const hints = [1, 2, 3].map((hint) => scheduler.shardOf(hint));
    const signal = scheduler.signalAfter(90);
    const waiting = expect(scheduler.withTimeout(new Promise(() => undefined), 95)).rejects.toThrow(/pending when/);
    createTimers(scheduler).setTimeout(callback, 96);
    scheduler.schedule(4, 5);
    scheduler.cancel(scheduler.schedule(5, 50));
    scheduler.reschedule(ids[2], 80);
    await scheduler.advanceTo(5);
    const unfired = (await scheduler.close()).sort((one, other) => one.deadline - other.deadline);
    await waiting;
    const [label, isSettled, workerHint] = [undefined, false, expect.any(Number)];
    expect(unfired.slice(0, 3)).toEqual([
      { id: ids[0], deadline: 50, callback, argument, workerHint, label, isSettled },
      { id: ids[1], deadline: 60.5, callback: undefined, argument: undefined, workerHint, label, isSettled },
      { id: ids[2], deadline: 80, callback, argument: undefined, workerHint, label: 'idle', isSettled },
    ]);
    expect(unfired[0].argument).toBe(argument);
    expect(unfired.slice(3).map((timer) => timer.isSettled)).toEqual([false, true]);
    await using successor = await manual({ shards });
    expect(unfired.slice(0, 3).map((timer) => successor.shardOf(timer.workerHint))).toEqual(hints);
    for (const { workerHint, deadline, callback, argument } of unfired) {
      successor.schedule(workerHint, deadline, callback, argument);
    }
    await successor.advanceTo(90);
    expect(signal.aborted).toBe(true); // it can still be
  });

  test('does not take the argument of a slot that has changed hands for its own', async () => {
    const scheduler = createScheduler({ shards, clock: 'manual', capacity: 1 });
    scheduler.cancel(scheduler.schedule('a', 50, () => undefined, 'of another'));
    const id = scheduler.schedule('a', 60);
    expect(await scheduler.close()).toMatchObject([{ id, deadline: 60, callback: undefined, argument: undefined }]);
  });

  test.each([
    ['a callback', 299],
    ["a 'fired' listener", 450],
  ])('within %s: the rest of its batch is handed back, and what follows', async (who, left) => {
    const scheduler = await manual({ shards, maxBatch: who === 'a callback' ? 8192 : 50 });
    const tally = new Tally(500);
    let closing: Promise<unknown> | undefined;
    const index = new Map<number, number>();
    const note = (name: number) => {
      tally.add(name);
      if (name === 200) closing = closeInto(scheduler, tally);
    };
    scheduler.on('fired', ({ ids, length }) => {
      for (const id of ids.subarray(0, length)) tally.add(index.get(id) as number);
      closing ??= closeInto(scheduler, tally);
    });
    const callback = who === 'a callback' ? note : undefined;
    for (let i = 0; i < 500; i++) index.set(scheduler.schedule('one shard', 10, callback, i), i);
    await scheduler.advanceTo(10).catch(() => undefined);
    expect(await closing).toBe(left);
    tally.expectEachOnce();
  });
});

test.each([0, 2])('the end of a block closes, and an aborted signal, before and after; shards %i', async (shards) => {
  const controller = new AbortController();
  const { signal } = controller;
  let closed: Scheduler;
  {
    await using inner = createScheduler({ shards, signal });
    closed = inner;
  }
  expect(() => closed.now()).toThrow(SchedulerClosedError);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  const scheduler = createScheduler({ shards, signal });
  let fired = 0;
  const id = scheduler.scheduleAfter(1, 20, () => {
    fired += 1;
  });
  await scheduler.ready;
  controller.abort();
  expect(() => scheduler.schedule(1, 1)).toThrow(SchedulerClosedError);
  expect((await scheduler.close()).map((timer) => timer.id)).toEqual(fired === 0 ? [id] : []);
  await pass(30);
  expect(fired).toBeLessThan(2);
  await using late = createScheduler({ shards, signal });
  expect(() => late.schedule(1, 1)).toThrow(SchedulerClosedError);
  expect(await late.close()).toEqual([]);
});

describe('close() called by who hears of it, and between the waits of others', () => {
  test('a work that is told to give up closes once more: one answer, every timer in it', async () => {
    const scheduler = await manual({ shards: 0 });
    const answers: unknown[] = [];
    const work = (signal: AbortSignal) => {
      signal.addEventListener('abort', () => answers.push(scheduler.close()));
      return new Promise<never>(() => undefined);
    };
    const waiting = scheduler.withTimeout(work, 1000).catch((error) => error.code);
    for (let i = 0; i < 20; i++) scheduler.schedule(i, 10, () => undefined, { i });
    const closing = scheduler.close();
    expect((await closing).filter(({ argument }) => argument !== undefined).length).toBe(21);
    expect(answers.length).toBe(1);
    expect(answers[0]).toBe(closing);
    expect(await waiting).toBe('ERR_SCHEDULER_CLOSED');
  });

  test.each([0, 1])('advanceTo() settles, wherever close() comes between: shards %i', async (shards) => {
    for (const count of [0, 1, 200_000]) {
      for (let turns = 0; turns < 4; turns++) {
        const scheduler = createScheduler({ shards, clock: 'manual', capacity: 2 ** 18 });
        for (let i = 0; i < count; i++) scheduler.schedule('one', 50);
        const advancing = [scheduler.advanceTo(100), scheduler.advanceTo(200)];
        for (let turn = 0; turn < turns; turn++) await (turn === 1 ? new Promise(setImmediate) : null);
        const unfired = await scheduler.close();
        const delivered = await Promise.all(advancing);
        expect(unfired.length + delivered[0] + delivered[1]).toBe(count);
      }
    }
  });
});
