import { describe, expect, test } from 'vitest';
import { CHUNK_ENTRIES } from '../../src/lane/command-stage.ts';
import { WANTS_ROOM } from '../../src/lane/lane-memory.ts';
import type { LaneWorld } from './lane-world.ts';
import { advance, delivered, file, scheduleAll, steerAllTests, worldOf } from './one-lane.ts';

steerAllTests();

describe('far deadlines', () => {
  const distances = [2 ** 30 - 1, 2 ** 30, 2 ** 30 + 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 33 + 7, 2 ** 45];
  const pairs = distances.flatMap((from) => [5, ...distances].map((to) => ({ from, to })));

  describe.each([false, true])('the shard built anew in between: %s', (isRebuilt) => {
    test.each(pairs)('a timer moved from $from to $to ticks ahead fires at its new deadline', ({ from, to }) => {
      const world = worldOf();
      const goOn = () => {
        if (isRebuilt) {
          world.crash();
          world.rebuild();
        }
        world.settle();
      };
      file(world, [from]);
      world.client.reschedule(world.client.timers[0], to);
      goOn();
      world.advance(to - 1);
      goOn();
      expect(delivered(world)).toEqual([]);
      world.advance(1);
      goOn();
      expect(delivered(world)).toEqual([to]);
    });
  });

  test('a command that waited while the clock ran far on is due at the next tick', () => {
    for (const jump of [2 ** 31 + 10, 3 * 2 ** 30, 2 ** 32 - 10, 2 ** 32 + 2 ** 31 + 10]) {
      const world = worldOf();
      scheduleAll(world, [5]);
      advance(world, jump);
      advance(world, 1);
      expect([jump, delivered(world)]).toEqual([jump, [5]]);
    }
  });
});

describe('commands', () => {
  const sent = (world: LaneWorld): number => world.client.lane.commands.sent;

  test('are not spent on what is cancelled before they are published, nor on moves to later', () => {
    const world = worldOf();
    scheduleAll(world, [10, 20, 30]);
    world.client.cancel(world.client.timers[1]);
    world.client.reschedule(world.client.timers[2], 35);
    world.client.publish();
    expect(sent(world)).toBe(2);
    world.client.reschedule(world.client.timers[0], 40);
    world.client.reschedule(world.client.timers[0], 45);
    world.client.cancel(world.client.timers[2]);
    world.client.publish();
    expect(sent(world)).toBe(2);
    world.client.reschedule(world.client.timers[0], 5);
    world.client.publish();
    expect(sent(world)).toBe(3);
    world.finish();
    expect(world.client.deliveries.map(({ deliveredAt }) => deliveredAt)).toEqual([5]);
  });

  test.each([1, 2, 4])('that a ring of %d has no room for wait, and all arrive', (ring) => {
    const world = worldOf({ ring, capacity: 1000 });
    scheduleAll(
      world,
      Array.from({ length: 1000 }, (_, i) => 5 + (i % 7)),
    );
    world.client.publish();
    expect(world.client.lane.commands.waiting).toBe(1000 - ring);
    advance(world, 20);
    expect(world.client.lane.commands.waiting).toBe(0);
    expect(world.client.deliveries.length).toBe(1000);
  });

  test('the wish for room is withdrawn when it is met, and when what waited is gone', () => {
    const world = worldOf({ ring: 1 });
    const header = new Int32Array(world.client.lane.memory.header);
    scheduleAll(world, [5, 6]);
    world.client.publish();
    expect(header[WANTS_ROOM]).toBe(1);
    world.client.cancel(world.client.timers[1]);
    world.client.publish();
    expect(header[WANTS_ROOM]).toBe(0);
    scheduleAll(world, [7]);
    world.client.publish();
    expect(header[WANTS_ROOM]).toBe(1);
    world.settle();
    expect(header[WANTS_ROOM]).toBe(0);
  });

  test('wait in no more room than live timers need, however many come and go while the ring is full', () => {
    const world = worldOf({ ring: 1, capacity: 100 });
    for (let i = 0; i < 100_000; i++) {
      if (!world.client.schedule(1000)) world.client.cancel(world.client.live[i % 100]);
      if (world.client.timers.length > 1000)
        world.client.timers.splice(0, Number.POSITIVE_INFINITY, ...world.client.live);
    }
    expect(world.client.lane.commands.waiting).toBeLessThanOrEqual(2 * 100 + 2 * CHUNK_ENTRIES);
    for (const timer of world.client.live) world.client.cancel(timer);
    world.settle();
    expect(world.client.lane.commands.waiting).toBe(0);
  });
});

describe('entries', () => {
  const counters = (world: LaneWorld) => world.loop?.built.shard.counters()[0];

  test('of timers that were moved to later are filed anew when their old tick comes, and fire once', () => {
    const world = worldOf();
    file(world, [10]);
    world.client.reschedule(world.client.timers[0], 25);
    advance(world, 10);
    expect(counters(world)).toMatchObject({ refiled: 1, fired: 0, filed: 1, commands: 1 });
    advance(world, 15);
    expect(counters(world)).toMatchObject({ refiled: 1, fired: 1, filed: 0, commands: 1 });
    expect(delivered(world)).toEqual([25]);
  });

  test('of timers that were cancelled are dropped when their tick comes, and tell nobody', () => {
    const world = worldOf();
    file(world, [10, 11]);
    world.client.cancel(world.client.timers[0]);
    advance(world, 20);
    expect(counters(world)).toMatchObject({ dropped: 1, fired: 1, filed: 0 });
  });

  test('of a slot that was used again are replaced', () => {
    const world = worldOf({ capacity: 1 });
    for (let i = 0; i < 10; i++) {
      file(world, [20 - i]);
      if (i < 9) world.client.cancel(world.client.timers[i]);
    }
    advance(world, 10);
    expect(counters(world)).toMatchObject({ filed: 1, dropped: 0, fired: 0 });
    world.finish();
    expect(delivered(world)).toEqual([11]);
  });
});

describe('a shard that is blocked by a full ring', () => {
  test('sleeps until the client has taken records, then goes on where it stopped', () => {
    const world = worldOf({ ring: 2, capacity: 8 });
    for (let i = 0; i < 8; i++) file(world, [10 + i]);
    world.advance(50);
    world.rest();
    expect(world.client.lane.fired.available()).toBe(2);
    world.rest();
    world.client.deliver();
    world.rest();
    expect(world.client.lane.fired.available()).toBe(2);
    world.settle();
    expect(delivered(world)).toEqual([10, 11, 12, 13, 14, 15, 16, 17]);
  });

  test('takes commands all the same', () => {
    const world = worldOf({ ring: 2, capacity: 8 });
    for (let i = 0; i < 4; i++) file(world, [10]);
    world.advance(50);
    world.rest();
    scheduleAll(world, [100, 101, 102, 103]);
    world.client.publish();
    world.rest();
    world.client.publish();
    world.rest();
    expect(world.client.lane.commands.waiting).toBe(0);
  });

  test('keeps what is late and has no room, though the wheel is looked at, which has passed its tick', () => {
    const world = worldOf({ ring: 4, capacity: 8 });
    const look = () => world.loop?.built.shard.lanes[0].fileAll();
    for (const deadline of [60, 60, 60, 60, 200]) file(world, [deadline]);
    scheduleAll(world, [51, 52]);
    world.advance(60);
    world.rest();
    expect(world.client.lane.fired.available()).toBe(4);
    look();
    world.client.publish();
    world.rest();
    look();
    world.settle();
    expect(delivered(world)).toEqual([51, 52, 60, 60, 60, 60]);
    advance(world, 140);
    expect(delivered(world).at(-1)).toBe(200);
  });
});

describe('a timer that is moved while its record is on its way', () => {
  test.each([
    { to: 5, why: 'to the present' },
    { to: 2, why: 'to the past' },
    { to: 5.2, why: 'to within the tick' },
    { to: 6.2, why: 'to within the tick that comes before it is delivered' },
  ])('is delivered when its own tick is over: $why', ({ to }) => {
    const world = worldOf();
    file(world, [5]);
    world.advance(5);
    world.client.publish(); // the client reads the time
    world.rest();
    expect(world.client.lane.fired.available()).toBe(1);
    world.client.reschedule(world.client.timers[0], to);
    world.advance(Math.ceil(to) - to > 0 ? to + 0.3 - 5 : 0);
    const due = Math.max(6, Math.ceil(to));
    world.client.deliver();
    expect(world.client.deliveries).toEqual([]);
    world.settle();
    expect(world.client.deliveries).toEqual([]);
    advance(world, due - world.time);
    expect(world.client.deliveries.map(({ deliveredAt }) => deliveredAt)).toEqual([due]);
  });
});
