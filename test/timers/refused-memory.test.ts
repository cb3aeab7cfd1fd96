import { createScheduler } from 'shardwheel';
import { createTimers } from 'shardwheel/timers';
import { expect, test } from 'vitest';
import type { TickIndex } from '../../src/wheel/tick-index.ts';
import { internalsOf } from '../fixtures/internals.ts';

test('refreshed timers that the wheel has no memory for fire all the same, by deadline', async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 64 });
  await scheduler.ready;
  const { setTimeout } = createTimers(scheduler);
  const order: string[] = [];
  const later = setTimeout(() => order.push(`later ${scheduler.now()}`), 10);
  await scheduler.advanceTo(4);
  const sooner = setTimeout(() => order.push(`sooner ${scheduler.now()}`), 8);
  await scheduler.advanceTo(5);
  sooner.refresh(); // due at 13, filed at 12
  await scheduler.advanceTo(9);
  later.refresh(); // due at 19, filed at 10

  const { index } = (internalsOf(scheduler).client.home as unknown as { wheel: { index: TickIndex } }).wheel;
  let refusals = 0;
  index.insert = () => {
    refusals += 1;
    throw new RangeError('Array buffer allocation failed');
  };
  await scheduler.advanceTo(12, { jump: true });
  expect({ order, refusals: refusals > 0 }).toEqual({ order: [], refusals: true });
  await scheduler.advanceTo(25, { jump: true });
  expect(order).toEqual(['sooner 25', 'later 25']);
  expect(scheduler.size).toBe(0);
});
