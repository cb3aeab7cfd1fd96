import { expect, test } from 'vitest';
import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { wordOf } from '../../src/lane/due-word.ts';
import { allocateHeartbeat } from '../../src/lane/heartbeat.ts';
import { allocateLane } from '../../src/lane/lane-memory.ts';
import type { BuiltShard } from '../../src/shard/build-shard.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { presets } from '../../src/wheel/presets.ts';
import { scheduleOn } from '../lane/schedule-on.ts';
import { buildServing, type ServingSetup } from './build-serving.ts';

const CAPACITY = 8;

/** A shard that serves two clients, each with a lane and a bell of its own. */
function twoClients({ isServedHere = false } = {}) {
  const setup: ServingSetup = {
    number: 0,
    tick: 1,
    wheel: presets.default,
    clock: SharedClock.allocate(true),
    doorbell: allocateDoorbell(),
    heartbeat: allocateHeartbeat(),
    lanes: [0, 1].map(() => ({ memory: allocateLane(CAPACITY), clientBell: ClientBell.allocate() })),
  };
  const time = new ClientTime(new SharedClock(setup.clock), new TickScale(1));
  const clients = setup.lanes.map(({ memory }) => {
    return new ClientLane(memory, timerIdLayout(1, CAPACITY), 0, new Doorbell(setup.doorbell), time);
  });
  const schedule = (client: number, deadline: number) => {
    const slot = scheduleOn(clients[client], deadline, wordOf(time.dueTickOf(deadline, 0)));
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
  return {
    setup,
    time,
    clients,
    schedule,
    fired,
    built: isServedHere ? buildHere(setup, clients) : buildServing(setup, 'nothing'),
  };
}

/** An index in the clients' thread, which can hand its lanes over. */
function buildHere(setup: ServingSetup, clients: readonly ClientLane[]): BuiltShard {
  const stages = clients.map(({ stage }) => stage);
  for (const stage of stages) stage.isServedHere = true;
  return buildServing(setup, 'nothing', { stages });
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

test('a lane that has more to do than a turn takes holds up no other', () => {
  for (const flooding of [0, 1]) {
    const { time, schedule, fired, built } = twoClients();
    Object.assign(built.shard, { budget: 1 });
    for (let i = 0; i < CAPACITY; i++) schedule(flooding, 1000 + i);
    const slot = schedule(1 - flooding, 10);
    time.clock.set(10);
    const isMore = [built.shard.turn(), built.shard.turn()];
    expect(isMore).toEqual([true, true]);
    expect(fired(1 - flooding)).toEqual([slot]);
  }
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
  const successor = buildServing(setup, 'tables');
  expect(successor.found).toBe(2);
  time.clock.set(20);
  while (successor.shard.turn());
  expect([...fired(0), ...fired(1)]).toEqual(slots);
});

test('a shard hands its lanes over: what lives, in the order scheduled, and once, however often it was moved', () => {
  const { setup, time, clients, schedule, fired, built } = twoClients({ isServedHere: true });
  const [first, gone, second] = [schedule(0, 1000), schedule(0, 1000), schedule(0, 1000)];
  const other = schedule(1, 1000);
  while (built.shard.turn());
  clients[0].end(gone);
  const third = schedule(0, 1000); // in the slot that has become free, and behind the others
  expect(third).toBe(gone);
  for (let i = 1; i <= 500; i++) {
    clients[1].move(other, 1000 - i, wordOf(1000 - i), true); // to earlier: a command each
    clients[1].commands.publish();
    while (built.shard.turn());
  }
  const tagOf = (client: number, slot: number) => clients[client].table.tagOf(slot);
  const entries = built.shard.lanes.map((lane) => lane.handOver());
  expect(entries.map((words) => [...words])).toEqual([
    [first, tagOf(0, first), second, tagOf(0, second), third, tagOf(0, third)],
    [other, tagOf(1, other)],
  ]);
  for (const { stage } of clients) stage.isServedHere = false;
  const last = schedule(0, 1000); // what is published later comes through the ring
  const successor = buildServing(setup, entries);
  expect(successor.found).toBe(4);
  time.clock.set(1000);
  while (successor.shard.turn());
  expect(fired(0)).toEqual([first, second, third, last]);
  expect(fired(1)).toEqual([other]);
});

test('a shard leaves its lanes: what is filed and what is late, in order of due tick and of filing', () => {
  const { setup, time, schedule, fired, built } = twoClients();
  const slots = [300, 100, 200, 100, 300].map((deadline) => schedule(0, deadline));
  while (built.shard.turn());
  const lanes = [...built.shard.lanes];
  for (const lane of lanes) built.shard.dismiss(lane);
  const left = lanes.map((lane) => lane.handOver());
  expect(built.shard.turn()).toBe(false);
  const order = [slots[1], slots[3], slots[2], slots[0], slots[4]];
  expect(left.map((words) => [...words].filter((_, at) => at % 2 === 0))).toEqual([order, []]);
  const successor = buildServing(setup, left);
  time.clock.set(300);
  while (successor.shard.turn());
  expect(fired(0)).toEqual(order);
});
