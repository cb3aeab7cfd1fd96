import { createScheduler } from 'shardwheel';
import { describe, expect, test, vi } from 'vitest';
import { pass, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';

const day = 86_400_000;
const year = 365 * day;

describe.each([0, 1, 2])('guarantee 8, deadlines in the past and far ahead: shards %i', (shards) => {
  test.each([1, 0.25])('a past or present deadline fires at the next tick, tick %f', async (tick) => {
    await using scheduler = await readyScheduler({ shards, tick, clock: 'manual', capacity: 64 });
    await scheduler.advanceTo(1000);
    const past = [1000, 999.9, 0, -0, -1, -1e15, -(2 ** 53), -Number.MAX_VALUE, Number.MIN_VALUE];
    const fired = vi.fn();
    const ids = past.map((deadline) => scheduler.schedule(deadline, deadline, fired));
    expect(ids.map((id) => scheduler.deadlineOf(id))).toEqual(past);
    for (const delay of [0, -5, -1e300]) scheduler.scheduleAfter('a', delay, fired);
    expect(scheduler.reschedule(scheduler.schedule('a', 1e6, fired), 3)).toBe(true);
    expect(fired).not.toHaveBeenCalled();
    expect(await scheduler.advanceTo(1000)).toBe(0);
    expect(await scheduler.advanceTo(1000 + tick / 2)).toBe(0);
    expect(await scheduler.nextExpiration()).toBe(1000 + tick);
    expect(await scheduler.advanceTo(1000 + tick)).toBe(13);
    expect(fired).toHaveBeenCalledTimes(13);
  });

  test('on the real clock: never inside schedule, nor in the same turn', async () => {
    await using scheduler = await readyScheduler({ shards });
    const fired = vi.fn();
    for (const deadline of [scheduler.now(), 0, -1e9]) scheduler.schedule(deadline, deadline, fired);
    scheduler.scheduleAfter('a', 0, fired);
    scheduler.rescheduleAfter(scheduler.scheduleAfter('a', 1e6, fired), -1);
    expect(fired).not.toHaveBeenCalled();
    await Promise.resolve();
    expect(fired).not.toHaveBeenCalled();
    await until(() => fired.mock.calls.length === 5);
  });

  test('a callback that schedules for now is followed, not entered', async () => {
    await using scheduler = createScheduler({ shards });
    let depth = 0;
    let deepest = 0;
    let runs = 0;
    const again = () => {
      depth += 1;
      deepest = Math.max(deepest, depth);
      runs += 1;
      if (runs < 10) scheduler.scheduleAfter('a', 0, again);
      depth -= 1;
    };
    scheduler.scheduleAfter('a', 0, again);
    await until(() => runs === 10);
    expect(deepest).toBe(1);
  });

  test('deadlines years away are held and fire at their tick', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const deadlines = [2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1, 2 ** 31, 2 ** 32 + 5, 30 * day, year, 3 * year, 50 * year];
    const fired: number[] = [];
    for (const deadline of deadlines) scheduler.schedule(deadline, deadline, (at) => fired.push(at), deadline);
    deadlines.sort((one, other) => one - other);
    for (const [i, deadline] of deadlines.entries()) {
      expect(await scheduler.nextExpiration()).toBe(deadline);
      expect(await scheduler.advanceTo(deadline - 0.5)).toBe(0);
      expect(await scheduler.advanceTo(deadline)).toBe(1);
      expect(fired).toEqual(deadlines.slice(0, i + 1));
    }
    expect(await scheduler.nextExpiration()).toBeUndefined();
  });

  test('so are those that no clock will reach, and they can be cancelled, moved and handed back', async () => {
    const scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 64 });
    const far = [1e15, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, 2 ** 60, 1e300, Number.MAX_VALUE];
    const ids = far.map((deadline, i) => scheduler.schedule(i, deadline));
    expect(await scheduler.advanceTo(10 * year)).toBe(0);
    expect(ids.map((id) => scheduler.deadlineOf(id))).toEqual(far);
    expect(scheduler.cancel(ids[0])).toBe(true);
    for (const id of ids.slice(1, 5)) expect(scheduler.reschedule(id, 10 * year + 5)).toBe(true);
    expect(scheduler.reschedule(ids[6], 2 ** 40)).toBe(true);
    expect(await scheduler.advanceTo(11 * year)).toBe(4);
    expect(await scheduler.advanceTo(2 ** 40)).toBe(1);
    expect((await scheduler.close()).map(({ deadline }) => deadline)).toEqual([1e300]);
  });

  test('a delay beyond what a native timer can hold does not fire at once', async () => {
    await using scheduler = createScheduler({ shards });
    const fired = vi.fn();
    for (const delay of [2 ** 31, 2 ** 32, year, 1e300]) scheduler.scheduleAfter(delay, delay, fired);
    await pass(60);
    expect(fired).not.toHaveBeenCalled();
    expect(scheduler.size).toBe(4);
  });
});
