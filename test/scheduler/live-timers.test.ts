import { createScheduler, createTimers } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { manual } from './manual.ts';

function named(): void {}

describe('timers()', () => {
  test('shows each live timer: id, deadline, shard, label, name of the callback, argument', async () => {
    await using scheduler = await manual({ shards: 2 });
    const argument = { of: 'mine' };
    const timers = [
      { id: scheduler.schedule('a', 50, named, argument), hint: 'a', deadline: 50, callback: 'named', argument },
      { id: scheduler.schedule('b', 60), hint: 'b', deadline: 60, callback: undefined, argument: undefined },
      { id: scheduler.label('idle').schedule('c', 70, () => 0, 7), hint: 'c', deadline: 70, callback: '', argument: 7 },
    ];
    scheduler.cancel(scheduler.schedule('d', 5));
    const expected = timers.map(({ hint, ...timer }) => {
      const label = timer.deadline === 70 ? 'idle' : undefined;
      return { ...timer, shard: scheduler.shardOf(hint), label };
    });
    const seen = [...scheduler.liveTimers()].sort((one, other) => one.deadline - other.deadline);
    expect(seen).toEqual(expected);
    expect(seen[0].argument).toBe(argument);
  });

  test('whatever a program has made of a function, its timer is shown; drop-in timers by what they call', async () => {
    await using scheduler = await manual({ shards: 0 });
    const nameless = (descriptor: PropertyDescriptor) => Object.defineProperty(() => undefined, 'name', descriptor);
    const refuse = () => {
      throw new Error('nobody asks');
    };
    scheduler.schedule(1, 10, nameless({ get: refuse }));
    scheduler.schedule(2, 20, nameless({ value: 7 }));
    scheduler.schedule(3, 30, new Proxy(named, { get: refuse }));
    const { setTimeout } = createTimers(scheduler);
    const timeouts = [setTimeout(named, 10), setTimeout(named, 1e6)];
    const seen = [...scheduler.liveTimers()].map(({ callback, argument }) => [callback, argument]);
    expect(seen).toEqual([...new Array(3).fill(['', undefined]), ...timeouts.map((timeout) => ['named', timeout])]);
  });

  test('goes on while timers start and end, and sees each that lives all the while once', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 4096 });
    const ids = Array.from({ length: 2000 }, (_, i) => scheduler.schedule(i, 1000 + i));
    const staying = new Set(ids.filter((_, i) => i % 2 === 0));
    const seen: (number | undefined)[] = [];
    let step = 0;
    for (const { id } of scheduler.liveTimers()) {
      seen.push(id);
      scheduler.cancel(ids[(2 * step + 1001) % 2000]);
      if (step < 500) scheduler.schedule(step, 5000);
      step += 1;
    }
    expect(seen.filter((id) => id !== undefined && staying.has(id)).length).toBe(1000);
    expect(new Set(seen).size).toBe(seen.length);
  });

  test('ends where the scheduler is closed meanwhile', async () => {
    const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
    for (let i = 0; i < 10; i++) scheduler.schedule(i, 1000);
    const timers = scheduler.liveTimers();
    expect(timers.next().done).toBe(false);
    await scheduler.close();
    expect(timers.next().done).toBe(true);
  });
});
