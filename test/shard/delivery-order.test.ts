import { describe, expect, test } from 'vitest';
import { LaneWorld } from './lane-world.ts';
import { advance, delivered, file, scheduleAll, steerAllTests, worldOf } from './one-lane.ts';

steerAllTests();

describe.each([1000, 1])('the order of delivery, turns of %d', (budget) => {
  test('of a tick that is handed over in several turns, what comes late for it stands behind what was filed for it', () => {
    const world = new LaneWorld({
      capacity: 64,
      rings: { commands: 64, fired: 4 },
      budget,
      maxBatch: 1000,
      manual: false,
    });
    scheduleAll(world, new Array(10).fill(5));
    world.client.publish();
    world.advance(5);
    for (let steps = 0; steps < 40; steps++) world.step(); // four records, and the ring is full
    scheduleAll(world, [5, 4, 5, 3]);
    world.client.publish();
    world.settle();
    const order = world.client.deliveries.map((timer) => world.client.timers.indexOf(timer));
    const late = order.filter((timer) => timer >= 10);
    expect(order.filter((timer) => timer < 10 || timer === 10 || timer === 12)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12,
    ]);
    expect(late.length).toBe(4);
  });

  test('is that of due ticks, and within one that of scheduling', () => {
    const world = worldOf({ budget });
    file(world, [5, 3, 5, 4, 3.5, 3, 4.25]);
    advance(world, 10);
    expect(delivered(world)).toEqual([3, 3, 4, 3.5, 5, 5, 4.25]);
    expect(world.client.deliveries.map(({ slot }) => slot)).toEqual([1, 5, 3, 4, 0, 2, 6]);
  });

  test('holds for what was overdue when its shard was built anew', () => {
    const world = worldOf({ budget });
    file(world, [95, 90, 100, 97, 90]);
    world.crash();
    world.advance(100);
    world.rebuild();
    world.settle();
    expect(delivered(world)).toEqual([90, 90, 95, 97, 100]);
  });

  test('holds for commands that come when their ticks have passed, before anything that is due later', () => {
    const world = worldOf({ budget });
    file(world, [50, 21]);
    scheduleAll(world, [15, 12, 14, 12, 30]); // not published while the shard goes on
    world.advance(21);
    while (world.step());
    world.client.publish();
    world.settle();
    expect(delivered(world)).toEqual([12, 12, 14, 15, 21]);
    advance(world, 29);
    expect(delivered(world).slice(5)).toEqual([30, 50]);
  });

  test('what has fired while late records are delivered comes after them, though nobody rings once more', () => {
    const world = new LaneWorld({
      capacity: 16,
      rings: { commands: 16, fired: 16 },
      budget,
      maxBatch: 1,
      manual: false,
    });
    scheduleAll(world, [12, 13, 14]);
    world.advance(15);
    world.client.publish();
    world.rest();
    world.client.deliver();
    expect(delivered(world)).toEqual([12]);
    scheduleAll(world, [16]);
    world.client.publish();
    world.advance(1);
    world.rest();
    world.settle();
    expect(delivered(world)).toEqual([12, 13, 14, 16]);
  });

  test('holds beyond what due words can tell apart', () => {
    const far = 2 ** 40;
    const world = worldOf({ budget, manual: true });
    file(world, [far + 1, far, 2 ** 33, far, 2 ** 31]);
    world.advance(2 ** 20);
    file(world, [far, far + 1]);
    advance(world, far + 5);
    expect(delivered(world)).toEqual([2 ** 31, 2 ** 33, far, far, far, far + 1, far + 1]);
    expect(world.client.deliveries.map(({ slot }) => slot).slice(2)).toEqual([1, 3, 5, 0, 6]);
  });
});
