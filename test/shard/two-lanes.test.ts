import { expect, test } from 'vitest';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateHeartbeat } from '../../src/lane/heartbeat.ts';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import { ClientLane } from '../../src/scheduler/client-lane.ts';
import { ClientTime } from '../../src/scheduler/client-time.ts';
import { buildShard, type ShardSetup } from '../../src/shard/build-shard.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { presets } from '../../src/wheel/presets.ts';

const CAPACITY = 8;

/** A shard that serves two clients, each with a lane and a bell of its own. */
function twoClients() {
  const setup: ShardSetup = {
    number: 0,
    tick: 1,
    wheel: presets.default,
    clock: SharedClock.allocate(true, 1),
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
    lanes: [0, 1].map(() => ({ memory: allocateLane(CAPACITY), clientBell: ClientBell.allocate() })),
  };
  const time = new ClientTime(new SharedClock(setup.clock), new TickScale(1));
  const clients = setup.lanes.map(({ memory }) => {
    return new ClientLane(memory, timerIdLayout(1, CAPACITY), 0, new Doorbell(setup.doorbell), time);
  });
  const schedule = (client: number, deadline: number) => {
    const slot = clients[client].schedule(deadline, wordOf(time.dueTickOf(deadline)), undefined, undefined);
    clients[client].commands.publish();
    return slot;
  };
  /** Slots of live timers whose fired records wait in a client's lane. */
  const fired = (client: number) => {
    const slots: number[] = [];
    while (clients[client].firedCount() > 0) slots.push(clients[client].takeFired());
    clients[client].releaseFired();
    return slots;
  };
  return { setup, time, clients, schedule, fired, built: buildShard(setup, () => undefined, 'nothing') };
}

test('a shard serves two lanes: each client gets its own timers, in its own order, and no other', () => {
  const { time, clients, schedule, fired, built } = twoClients();
  const [late, early] = [schedule(0, 30), schedule(0, 10)];
  const other = schedule(1, 10);
  const cancelled = schedule(1, 20);
  clients[1].end(cancelled);
  time.clock.set(30);
  while (built.shard.turn());
  expect(fired(0)).toEqual([early, late]);
  expect(fired(1)).toEqual([other]);
  expect(built.shard.nextEvent()).toBe(Number.POSITIVE_INFINITY);
});

test('a client that does not take what has fired does not hold up the other', () => {
  const { time, schedule, fired, built } = twoClients();
  for (let i = 0; i < CAPACITY; i++) schedule(0, 10);
  time.clock.set(10);
  while (built.shard.turn());
  const slot = schedule(1, 20);
  time.clock.set(20);
  while (built.shard.turn());
  expect(fired(1)).toEqual([slot]);
  expect(fired(0)).toHaveLength(CAPACITY);
});

test('a shard that takes the place of another indexes both lanes', () => {
  const { setup, time, schedule, fired } = twoClients();
  const slots = [schedule(0, 10), schedule(1, 20)];
  const successor = buildShard(setup, () => undefined, 'tables');
  expect(successor.rescheduled).toBe(2);
  time.clock.set(20);
  while (successor.shard.turn());
  expect([...fired(0), ...fired(1)]).toEqual(slots);
});
