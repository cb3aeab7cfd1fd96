import { beforeEach, describe, expect, test } from 'vitest';
import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import { allocateDoorbell, Doorbell } from '../../src/lane/doorbell.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateLane, BLOCKED, commandCounters } from '../../src/lane/lane-memory.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';

describe('a lane on a thread has fired', () => {
  let lane: ClientLane;
  let header: Int32Array;
  /** The shard's end of it. */
  let shard: Doorbell;

  beforeEach(() => {
    const memory = allocateLane(8, { commands: 8, fired: 8 });
    const bell = allocateDoorbell();
    shard = new Doorbell(bell);
    const time = new ClientTime(new SharedClock(SharedClock.allocate(true)), new TickScale(1));
    lane = new ClientLane(memory, timerIdLayout(1, 8), 0, new Doorbell(bell), time);
    header = new Int32Array(memory.header);
  });

  const publish = (tick: number) => {
    const slot = lane.table.allocate(tick, wordOf(tick));
    lane.begin(slot, lane.table.tagOf(slot), undefined, undefined, undefined);
    lane.commands.publish();
  };
  const take = (count: number) => {
    header[commandCounters(header).head] += count;
  };

  test('nobody knows what while the shard is awake', () => {
    shard.awake();
    expect(lane.firedByThread()).toBe(-1);
  });

  test('all before the tick that the shard sleeps until', () => {
    shard.announce(50);
    expect(lane.firedByThread()).toBe(49);
    shard.announce(Number.POSITIVE_INFINITY);
    expect(lane.firedByThread()).toBe(Number.MAX_SAFE_INTEGER);
  });

  test('nothing that the shard has not taken', () => {
    shard.announce(50);
    publish(30);
    publish(20);
    expect(lane.firedByThread()).toBe(19);
    take(1);
    expect(lane.firedByThread()).toBe(19); // which of the two it has taken is not asked
    take(1);
    expect(lane.firedByThread()).toBe(49);
    publish(40);
    expect(lane.firedByThread()).toBe(39);
  });

  test('nobody knows what while the shard waits for room', () => {
    header[BLOCKED] = 1;
    shard.announce(50);
    expect(lane.firedByThread()).toBe(-1);
    header[BLOCKED] = 0;
    expect(lane.firedByThread()).toBe(49);
  });
});
