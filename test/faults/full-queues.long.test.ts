import { CapacityExceededError } from 'shardwheel';
import { expect, test } from 'vitest';
import { DEFAULT_RING_SIZES } from '../../src/lane/lane-memory.ts';
import { turn as loopTurn, pass } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { LiveLane } from '../lane/live-lane.ts';

const DEFAULT = DEFAULT_RING_SIZES.commands;
const SIZES = [1, 2, DEFAULT];

/** A lane with a real shard thread, which numbered timers end on; each must end once. */
function numbered(capacity: number, rings: { commands: number; fired: number }) {
  const live = new LiveLane(capacity, rings, 0.25);
  const ends: number[] = [];
  const faults: string[] = [];
  const delivered = (argument: unknown): void => {
    const { index, deadline } = argument as { index: number; deadline: number };
    ends[index] += 1;
    if (live.clock.read() < deadline) faults.push(`${index} is early`);
  };
  const schedule = (delay: number): number => {
    const deadline = live.clock.read() + delay;
    const slot = live.schedule(deadline, delivered, { index: ends.length, deadline });
    if (slot >= 0) ends.push(0);
    return slot;
  };
  const finish = async (): Promise<void> => {
    while (live.lane.table.size > 0) {
      live.turn();
      await loopTurn();
    }
    await live.kill();
    expect({ faults, waiting: live.lane.commands.waiting }).toEqual({ faults: [], waiting: 0 });
    expect(ends.filter((count) => count !== 1).length).toBe(0);
  };
  return { live, ends, schedule, finish };
}

test.each(SIZES)('a command ring of %i is full: the rest stays with the client, all else works', async (size) => {
  const { live, ends, schedule, finish } = numbered(4 * size, { commands: size, fired: DEFAULT });
  const slots = Array.from({ length: 3 * size }, () => schedule(20));
  live.turn();
  expect(live.lane.commands.waiting).toBe(2 * size);
  // What waits can be cancelled, moved, and added to.
  live.lane.end(slots[3 * size - 1]);
  ends[3 * size - 1] += 1;
  live.move(slots[size], live.clock.read() + 1);
  schedule(1);
  live.turn();
  expect(live.lane.commands.waiting).toBeGreaterThanOrEqual(2 * size);
  live.start(false);
  await finish();
  expect(ends.length).toBe(3 * size + 1);
});

test.each(SIZES)('a fired ring of %i is full: the shard waits with the rest, and sleeps', async (size) => {
  const { live, ends, schedule, finish } = numbered(4 * size, { commands: DEFAULT, fired: size });
  live.start(false);
  for (let i = 0; i < 3 * size; i++) schedule(1);
  while (live.lane.fired.available() < size) {
    live.lane.commands.publish();
    await loopTurn();
  }
  await pass(50); // the shard has nothing left that it can do
  expect(live.lane.fired.available()).toBe(size);
  expect(live.lane.table.size).toBe(3 * size);
  schedule(0);
  await finish();
  expect(ends.length).toBe(3 * size + 1);
});

// Of smaller ones guarantee 9 says so.
test('the table of the default capacity is full: schedule refuses, all else works, and schedule again', async () => {
  await using scheduler = await readyScheduler({ shards: 1, clock: 'manual' });
  const most = (await scheduler.stats()).shards[0].capacity;
  expect(most).toBe(2 ** 22);
  let fired = 0;
  scheduler.on('fired', ({ length }) => {
    fired += length;
  });
  const count = (deadline: number) => new Float64Array(most).fill(deadline);
  const ids = scheduler.scheduleMany(count(1), count(50));
  for (let again = 0; again < 2; again++) {
    expect(() => scheduler.schedule(1, 50)).toThrow(CapacityExceededError);
    expect(() => scheduler.scheduleMany([1, 1], [50, 50])).toThrow(CapacityExceededError);
    expect(scheduler.size).toBe(most);
    expect(scheduler.reschedule(ids[0], 60 + again)).toBe(true);
    expect(scheduler.cancel(ids[most - 1])).toBe(true);
    ids[most - 1] = scheduler.schedule(2, 70);
  }
  expect(await scheduler.advanceTo(49)).toBe(0);
  expect(await scheduler.advanceTo(100)).toBe(most);
  expect({ fired, size: scheduler.size }).toEqual({ fired: most, size: 0 });
  scheduler.schedule(1, 150);
  expect(await scheduler.advanceTo(150)).toBe(1);
});
