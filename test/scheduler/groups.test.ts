import type { TimerGroup } from 'shardwheel';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';

/** The modules as the compiler wrote them: what a group remembers is no export of the package. */
const built = (path: string) => import(new URL(`../../dist/src/${path}.js`, import.meta.url).href);
const { createScheduler, SchedulerClosedError } = (await built('entries/index')) as typeof import('shardwheel');
const { rememberedIds } = (await built('scheduler/timer-group')) as {
  rememberedIds: (group: TimerGroup) => readonly number[];
};

const manual = (shards = 0) => createScheduler({ shards, clock: 'manual', capacity: 4096 });

test.each([0, 2])('a group cancels its timers, and no other, in one call: shards %i', async (shards) => {
  await using scheduler = manual(shards);
  const delivered: string[] = [];
  const note = (name: string) => delivered.push(name);
  const group = scheduler.group('connection 1');
  scheduler.schedule('connection 1', 10, note, 'of nobody');
  scheduler.group('connection 1').schedule(10, note, 'of another group');
  group.schedule(10, note, 'at 10');
  group.scheduleAfter(20, note, 'after 20');
  expect(group.size).toBe(2);
  expect(group.cancelAll()).toBe(2);
  expect([group.size, scheduler.size, group.cancelAll()]).toEqual([0, 2, 0]);
  await scheduler.advanceTo(30);
  expect(delivered).toEqual(['of nobody', 'of another group']);
});

test('the end of a scope cancels; the group can be used again, until the scheduler is closed', async () => {
  const scheduler = manual();
  const kept = scheduler.group(7);
  {
    using group = kept;
    group.scheduleAfter(10);
    expect(scheduler.size).toBe(1);
  }
  expect(scheduler.size).toBe(0);
  kept.scheduleAfter(10);
  expect(kept.size).toBe(1);
  await scheduler.close();
  expect([kept.size, kept.cancelAll()]).toEqual([0, 0]);
  expect(() => kept.scheduleAfter(10)).toThrow(SchedulerClosedError);
});

test(`random use: a group knows its live timers, and remembers few others (seed ${SEED})`, async () => {
  await using scheduler = manual();
  const draws = new Draws(SEED);
  const group = scheduler.group(1);
  const live = new Map<number, number>();
  let most = 0;
  for (let step = 0; step < 5000; step++) {
    const choice = draws.below(100);
    const now = scheduler.now();
    if (choice < 60) {
      const deadline = now + 1 + draws.below(300);
      live.set(group.schedule(deadline), deadline);
    } else if (choice < 90 && live.size > 0) {
      const id = draws.pick([...live.keys()]);
      const deadline = now + 1 + draws.below(300);
      if (choice < 70) live.set(id, deadline);
      else live.delete(id);
      expect(choice < 70 ? scheduler.reschedule(id, deadline) : scheduler.cancel(id)).toBe(true);
    } else if (choice < 99) {
      await scheduler.advanceTo(now + draws.below(20));
      for (const [id, deadline] of live) if (deadline <= scheduler.now()) live.delete(id);
    } else {
      expect(group.cancelAll()).toBe(live.size);
      live.clear();
    }
    expect(group.size).toBe(live.size);
    most = Math.max(most, live.size);
    expect(rememberedIds(group).length).toBeLessThanOrEqual(Math.max(16, 2 * most + 3)); // four places and an array
  }
});

test.each([0, 3, 4, 7])('long use of a group with %i live timers takes no more room', async (live) => {
  await using scheduler = manual();
  const group = scheduler.group(1);
  for (let i = 0; i < live; i++) group.scheduleAfter(1000);
  for (let i = 0; i < 10_000; i++) scheduler.cancel(group.scheduleAfter(1000));
  expect(rememberedIds(group).length).toBeLessThanOrEqual(16);
  expect(group.size).toBe(live);
  for (let i = 0; i < 100; i++) group.scheduleAfter(1000);
  group.cancelAll();
  expect(rememberedIds(group)).toEqual([]);
});

test.each([1, 9])('timers that code starts while its group is cancelled stay: waits and %i others', async (count) => {
  await using scheduler = manual();
  const group = scheduler.group(1);
  const started: number[] = [];
  const startMore = () => {
    for (let i = 0; i < 2 * count; i++) started.push(group.scheduleAfter(10));
  };
  const work = (signal: AbortSignal) => {
    signal.addEventListener('abort', startMore);
    return new Promise<void>(() => undefined);
  };
  const waits: Promise<void>[] = [];
  for (let round = 0; round < 2; round++) {
    waits.push(scheduler.withTimeout(work, 10, { workerHint: group }));
    for (let i = 0; i < count; i++) group.scheduleAfter(10);
  }
  expect([group.size, group.cancelAll()]).toEqual([2 * count + 2, 2 * count + 2]);
  expect([started.length, group.size, scheduler.size]).toEqual([4 * count, 4 * count, 4 * count]);
  expect(started.every((id) => scheduler.has(id))).toBe(true);
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'ABORT_ERR' });
  expect([group.cancelAll(), group.cancelAll()]).toEqual([4 * count, 0]);
});

test('knows a timer by all bits of its id, in each of its places', async () => {
  // So many slots that the low half of an id has few bits of a generation, and the high half changes with some hundred
  // timers.
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 2 ** 24 });
  const group = scheduler.group(1);
  for (let live = 1; live <= 6; live++) {
    for (let i = 0; i < 600; i++) {
      expect(scheduler.cancel(group.scheduleAfter(1000))).toBe(true);
      const id = group.scheduleAfter(1000);
      expect(group.size).toBe(live);
      expect(scheduler.cancel(id)).toBe(true);
      expect(group.size).toBe(live - 1);
    }
    group.scheduleAfter(1000);
  }
  expect(group.cancelAll()).toBe(6);
});

test('is a hint wherever there is one, whatever the label', async () => {
  await using scheduler = manual(2);
  const group = scheduler.group('connection');
  const idle = scheduler.label('idle', { min: 5 });
  const delivered: string[] = [];
  const note = (name: string) => delivered.push(name);
  scheduler.schedule(group, 10, note, 'deadline');
  scheduler.scheduleAfter(group, 20, note, 'delay');
  scheduler.scheduleAt(group, Date.now() + 1e6, note, 'date');
  idle.schedule(group, 30, note, 'labelled');
  idle.scheduleEvery(group, 40, note, 'repeating');
  const { shards } = await scheduler.stats();
  expect(scheduler.shardOf(group)).toBe(scheduler.shardOf('connection'));
  expect(shards[scheduler.shardOf(group)].size).toBe(5);
  expect([group.size, idle.size, scheduler.size]).toEqual([5, 2, 5]);
  await scheduler.advanceTo(20);
  expect([delivered, group.size]).toEqual([['deadline', 'delay'], 3]);
  expect([group.cancelAll(), scheduler.size, idle.size]).toEqual([3, 0, 0]);
});

test('of another scheduler is refused, and so is an object that is none', async () => {
  await using scheduler = manual();
  await using other = manual();
  const foreign = other.group(1);
  const calls = [
    () => scheduler.schedule(foreign, 5),
    () => scheduler.scheduleEvery(foreign, 5),
    () => scheduler.label('idle').scheduleAfter(foreign, 5),
    () => scheduler.shardOf(foreign),
  ];
  for (const call of calls) expect(call).toThrow(/The workerHint must be a group of this scheduler, got TimerGroup/);
  await expect(scheduler.sleep(5, { workerHint: foreign })).rejects.toMatchObject({ code: 'ERR_INVALID_ARG_TYPE' });
  expect([scheduler.size, other.size]).toEqual([0, 0]);
});
