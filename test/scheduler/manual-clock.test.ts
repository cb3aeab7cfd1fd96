import { expect, test } from 'vitest';
import { manual } from './manual.ts';

// More, at random and with threads, is in manual-clock.long.test.ts.

test('▲ a wait after a wait is over within one advanceTo, each at its time; a jump is one step', async () => {
  await using scheduler = await manual({ shards: 0 });
  const times: number[] = [];
  const waits = async (count: number) => {
    for (let wait = 0; wait < count; wait++) {
      await scheduler.sleep(100);
      times.push(scheduler.now());
    }
  };
  const walked = waits(3);
  expect(await scheduler.advanceTo(300)).toBe(3);
  await walked;
  void waits(2).catch(() => undefined); // close() ends the second
  expect(await scheduler.advanceTo(500, { jump: true })).toBe(1);
  expect(times).toEqual([100, 200, 300, 500]);
});

test('▲ a stop takes one turn of the event loop, however many there are', async () => {
  await using scheduler = await manual({ shards: 0, capacity: 16_384 });
  const STOPS = 5000;
  const seen: number[] = [];
  for (let stop = 1; stop <= STOPS; stop++) scheduler.schedule(stop, 3 * stop, () => seen.push(scheduler.now()));
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await scheduler.advanceTo(4 * STOPS)).toBe(STOPS);
  isOver = true;
  expect(seen).toEqual(Array.from({ length: STOPS }, (_, stop) => 3 * (stop + 1)));
  expect(turns).toBeGreaterThan(0.5 * STOPS);
  expect(turns).toBeLessThan(1.1 * STOPS + 10);
});
