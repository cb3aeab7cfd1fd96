import { expect, test, vi } from 'vitest';

/** Bytes of shared memory that are granted at a time. */
let granted = Number.POSITIVE_INFINITY;

// Before the package takes the constructor.
vi.stubGlobal(
  'SharedArrayBuffer',
  new Proxy(SharedArrayBuffer, {
    construct(target, given, newTarget) {
      if (given[0] > granted) throw new RangeError('SharedArrayBuffer refused');
      return Reflect.construct(target, given, newTarget);
    },
  }),
);
const { createScheduler } = await import('../../src/scheduler/create-scheduler.ts');

/** Those of a record in the timer table. */
const RECORD = 16;

test('where memory for the whole capacity is refused, a lane has room for its timers, and grows with them', async () => {
  granted = 2 ** 16;
  const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 2 ** 22 });
  const label = scheduler.label('scaled', { min: 10 });
  const fired: number[] = [];
  const fire = (given: number): void => void fired.push(given);
  granted = Number.POSITIVE_INFINITY;
  const ids: number[] = [];
  for (let timer = 0; timer < 10_000; timer++) {
    const starts = timer % 3 === 0 ? label : scheduler;
    ids.push(starts.schedule(timer, 100 + timer, fire, timer));
    if (timer % 1000 === 999) await scheduler.advanceTo(timer / 1000); // what is filed is filed anew
  }
  scheduler.scheduleEvery(0, 20_000, fire, -1);
  for (let timer = 0; timer < 10_000; timer += 2) expect(scheduler.cancel(ids[timer])).toBe(true);
  expect(scheduler.rescheduleAfter(ids[1], 20_000)).toBe(true);
  await scheduler.advanceTo(30_000);
  const odd = Array.from({ length: 4999 }, (_, at) => 2 * at + 3);
  expect(fired.filter((timer) => timer !== -1 && timer !== 1)).toEqual(odd);
  expect(fired.toSorted((one, other) => one - other).slice(0, 3)).toEqual([-1, 1, 3]);
  await scheduler.close();
});

test('what does not fit is an AllocationError of its call, and leaves nothing; then there is room again', async () => {
  granted = 2 ** 16;
  const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 2 ** 22 });
  const ids: number[] = [];
  const start = () => ids.push(scheduler.schedule(0, 100));
  expect(() => {
    for (;;) start();
  }).toThrow(expect.objectContaining({ code: 'ERR_ALLOCATION_FAILED', bytes: expect.any(Number) }));
  expect(ids.length).toBeLessThanOrEqual(granted / RECORD);
  expect(scheduler.size).toBe(ids.length);
  expect(start).toThrow(RangeError);
  scheduler.cancel(ids[7]);
  expect(start).not.toThrow(); // in the place of one that has ended
  granted *= 4;
  for (let timer = 0; timer < 2000; timer++) start();
  expect(scheduler.size).toBe(ids.length - 1);
  expect(await scheduler.advanceTo(100)).toBe(ids.length - 1);
  await scheduler.close();
});
