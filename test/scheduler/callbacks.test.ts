import { createScheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';

describe.each([0, 1, 2])('callbacks: shards %i', (shards) => {
  test('get the argument and the id, and are called once, with no receiver', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const calls: unknown[] = [];
    const argument = { some: 'thing' };
    function callback(this: unknown, ...given: unknown[]) {
      calls.push([this, ...given]);
    }
    const ids = [scheduler.schedule('a', 1, callback, argument), scheduler.schedule('a', 2, callback)];
    ids.push(scheduler.scheduleAfter('a', 3, callback, null));
    await scheduler.advanceTo(5);
    expect(calls).toEqual([
      [undefined, argument, ids[0]],
      [undefined, undefined, ids[1]],
      [undefined, null, ids[2]],
    ]);
    expect((calls[0] as unknown[])[1]).toBe(argument);
  });

  test('find their own timer ended', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const seen: unknown[] = [];
    scheduler.schedule('a', 5, (_, id) => {
      seen.push(scheduler.has(id), scheduler.deadlineOf(id), scheduler.size, scheduler.cancel(id));
    });
    await scheduler.advanceTo(5);
    expect(seen).toEqual([false, undefined, 0, false]);
  });

  test('schedule for the past and the present: those fire at the next tick, not in the same', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    scheduler.schedule('a', 5, () => {
      note('first');
      scheduler.schedule('a', 3, note, 'past');
      scheduler.schedule('a', 5, note, 'present');
      scheduler.schedule('a', 6, note, 'next');
      scheduler.schedule('a', 20, note, 'later');
    });
    scheduler.schedule('a', 5, note, 'second');
    expect(await scheduler.advanceTo(5)).toBe(2);
    expect(await scheduler.advanceTo(6)).toBe(3);
    expect(await scheduler.advanceTo(20)).toBe(1);
    expect(log).toEqual(['first at 5', 'second at 5', 'past at 6', 'present at 6', 'next at 6', 'later at 20']);
  });

  test('cancel and move others of the same batch', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    const ids: Record<string, number> = {};
    scheduler.schedule('a', 10, () => {
      note('first');
      scheduler.cancel(ids.cancelled);
      scheduler.reschedule(ids.later, 30);
      scheduler.reschedule(ids.past, 2);
      scheduler.reschedule(ids.same, 10);
      scheduler.reschedule(ids.back, 40);
      scheduler.reschedule(ids.back, 9);
      // The slot of the cancelled one gets a new timer, whose old record is on its way still.
      ids.heir = scheduler.schedule('a', 25, note, 'heir');
    });
    for (const name of ['cancelled', 'later', 'past', 'same', 'back', 'untouched']) {
      ids[name] = scheduler.schedule('a', 10, note, name);
    }
    for (let now = 10; now <= 50; now += 1) await scheduler.advanceTo(now);
    expect(log.slice(0, 1)).toEqual(['first at 10']);
    // Whether one that stays due is delivered with its batch or at the next tick is open; that it is, once, is not.
    const times = new Map(log.map((entry) => entry.split(' at ') as [string, string]));
    expect(log.length).toBe(7);
    expect(['10', '11']).toContain(times.get('past'));
    expect(['10', '11']).toContain(times.get('same'));
    expect(['10', '11']).toContain(times.get('back'));
    expect(Object.fromEntries(times)).toMatchObject({ untouched: '10', heir: '25', later: '30' });
    expect(times.has('cancelled')).toBe(false);
  });

  test('may ask for stats, the next expiration and an advance of the clock', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const asked: Promise<unknown>[] = [];
    scheduler.schedule('a', 5, () => {
      asked.push(
        scheduler.advanceTo(8),
        scheduler.nextExpiration(),
        scheduler.stats().then(({ delivered }) => delivered),
      );
    });
    scheduler.schedule('a', 8);
    expect(await scheduler.advanceTo(5)).toBe(1);
    const [advanced, next, delivered] = await Promise.all(asked);
    expect(advanced).toBe(1);
    // These two are asked of the shards, and answered before or after the advance.
    expect([8, 9, undefined]).toContain(next);
    expect([1, 2]).toContain(delivered);
    expect(scheduler.size).toBe(0);
  });

  test('advances of the clock that are not awaited come one after the other', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    for (const deadline of [5, 15, 25]) scheduler.schedule('a', deadline);
    const answers = [10, 20, 5, 30].map((now) => scheduler.advanceTo(now));
    expect(await Promise.all(answers)).toEqual([1, 1, 0, 1]);
    expect(scheduler.now()).toBe(30);
  });
});
