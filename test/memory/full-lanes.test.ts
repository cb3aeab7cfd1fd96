import { createScheduler, type Scheduler } from 'shardwheel';
import { expect, test } from 'vitest';
import { internalsOf } from '../fixtures/internals.ts';

const CAPACITY = 8;

/** The memory of all arrays of a lane's parts. */
function memoryOf(scheduler: Scheduler): Set<ArrayBufferLike> {
  const [lane] = internalsOf(scheduler).client.lanes;
  const parts: (object | undefined)[] = [lane.table, lane.payload, lane.slotLabels, lane.grids];
  const fields = parts.flatMap((part) => Object.values(part ?? {}));
  return new Set(fields.filter((field) => ArrayBuffer.isView(field)).map(({ buffer }) => buffer));
}

test.each([0, 1])('where all slots have been in use, no start asks for memory: shards %i', async (shards) => {
  await using scheduler = createScheduler({ shards, capacity: CAPACITY });
  const scaled = scheduler.label('scaled', { min: 5 });
  const starts = {
    plain: () => scheduler.scheduleAfter(1, 60_000),
    'in a context of its own': () => scheduler.scheduleAfter(1, 60_000, () => undefined, {}),
    labelled: () => scaled.scheduleAfter(1, 60_000),
    repeating: () => scheduler.scheduleEvery(1, 60_000),
    'labelled and repeating': () => scaled.scheduleEvery(1, 60_000),
  };
  const ids = Array.from({ length: CAPACITY }, (_, i) => Object.values(starts)[i % 5]());
  const before = memoryOf(scheduler);
  expect(before.size).toBeGreaterThan(5);
  for (const [name, start] of Object.entries(starts)) {
    scheduler.cancel(ids.pop() as number);
    ids.push(start());
    for (const memory of memoryOf(scheduler)) expect(before.has(memory), name).toBe(true);
  }
});
