import { AllocationError, createScheduler, type Scheduler, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { turn } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';

const MIN = 100;

describe('setScale()', () => {
  const scaled = (options: { clock?: 'manual' } = {}): Scheduler => {
    const scheduler = createScheduler({ shards: 0, capacity: 2 ** 17, ...options });
    scheduler.label('idle', { min: MIN });
    return scheduler;
  };

  test('refuses a label that is not scaled, and says how to make one that is', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    await expect(scheduler.label('plain').setScale(0.5)).rejects.toThrow(
      "The label must be scaled; create it with scheduler.label('plain', { min }), got 'plain'",
    );
  });

  test('moves no more than a thousand timers in a turn of the event loop', async () => {
    await using scheduler = scaled();
    const idle = scheduler.label('idle');
    const count = 100_000;
    for (let i = 0; i < count; i++) idle.scheduleAfter(i, 1e6);
    await turn();
    let isDone = false;
    void idle.setScale(0.5).then(() => {
      isDone = true;
    });
    let turns = 0;
    for (; !isDone; turns++) await turn();
    expect(turns).toBeGreaterThan(count / (1024 + 64) - 1);
    const moved = [...scheduler.liveTimers()].filter(({ deadline }) => deadline < 6e5);
    expect(moved.length).toBe(count);
  });

  test('the factor that is set already: resolves when the pass that gives it to all has ended; closed, it rejects', async () => {
    await using scheduler = scaled();
    const idle = scheduler.label('idle');
    for (let i = 0; i < 20_000; i++) idle.scheduleAfter(i, 1e6);
    const deadlines = () => [...scheduler.liveTimers()].map(({ deadline }) => deadline);
    const leastOf = () => Math.min(...deadlines());
    const mostOf = () => Math.max(...deadlines());
    void idle.setScale(0.5);
    await turn();
    await idle.setScale(0.5);
    expect(mostOf()).toBeLessThan(6e5);
    void idle.setScale(0.1);
    await turn();
    void idle.setScale(0.9);
    await idle.setScale(0.9);
    expect(leastOf()).toBeGreaterThan(8e5);
    await idle.setScale(0.9); // at once
    await scheduler.close();
    await expect(idle.setScale(0.5)).rejects.toThrow(SchedulerClosedError);
  });

  test('a move that is refused changes nothing, neither now nor when the factor changes', async () => {
    await using scheduler = scaled({ clock: 'manual' });
    const id = scheduler.label('idle').schedule(1, 1000);
    const { commands } = internalsOf(scheduler).client.lanes[0];
    const { reserve } = commands;
    commands.reserve = () => {
      throw new AllocationError(4, new Error('none left'));
    };
    expect(() => scheduler.reschedule(id, 500)).toThrow(AllocationError);
    commands.reserve = reserve;
    expect(scheduler.deadlineOf(id)).toBe(1000);
    await scheduler.label('idle').setScale(0.5);
    expect(scheduler.deadlineOf(id)).toBe(MIN + (1000 - MIN) / 2);
  });

  test('a timer whose record is on its way when the factor grows waits for its new deadline', async () => {
    await using scheduler = scaled({ clock: 'manual' });
    const fired: number[] = [];
    await scheduler.label('idle').setScale(0);
    // the first of two that are due in one tick
    scheduler.schedule(1, MIN, () => void scheduler.label('idle').setScale(1));
    scheduler.label('idle').schedule(1, 1000, () => fired.push(scheduler.now()));
    expect(await scheduler.advanceTo(999)).toBe(1);
    expect(fired).toEqual([]);
    expect((await scheduler.stats()).stale).toBe(1);
    await scheduler.advanceTo(1000);
    expect(fired).toEqual([1000]);
  });
});

test('a wait without a limit has none under any factor', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
  const label = scheduler.label('upstream', { min: MIN });
  await label.setScale(0);
  let end = (_: string): void => undefined;
  const work = new Promise<string>((resolve) => {
    end = resolve;
  });
  const wait = scheduler.withTimeout(work, Number.POSITIVE_INFINITY, { label });
  await label.setScale(0.5);
  await label.setScale(0);
  await scheduler.advanceTo(1e6);
  end('done');
  expect(await wait).toBe('done');
});
