import { expect, test } from 'vitest';
import type { LaneOrigin } from '../../src/shard/build-shard.ts';
import { presets } from '../../src/wheel/presets.ts';
import { buildServing } from './build-serving.ts';
import { type KnownTimer, LaneClient } from './lane-client.ts';
import { allocateSetup } from './lane-world.ts';

const CAPACITY = 8;

/** A shard that serves two clients, each with a lane and a bell of its own. */
function twoClients({ isServedHere = false } = {}) {
  const setup = allocateSetup({ capacity: CAPACITY, clients: 2, wheel: presets.default });
  const clients = [0, 1].map((number) => new LaneClient(setup, number, 1000));
  const stages = clients.map(({ lane }) => lane.stage);
  for (const stage of stages) stage.isServedHere = isServedHere;
  const built = buildServing(setup, 'nothing', isServedHere ? { stages } : {});
  const build = (origin: LaneOrigin | readonly LaneOrigin[]) => {
    for (const stage of stages) stage.isServedHere = false;
    return buildServing(setup, origin);
  };
  return { one: clients[0], other: clients[1], ...built, build };
}

/** A lane's entries, of these timers. */
const entriesOf = ({ lane }: LaneClient, timers: readonly KnownTimer[]): number[] =>
  timers.flatMap(({ slot }) => [slot, lane.table.tagOf(slot)]);

test('a shard serves two lanes: each client gets its own timers, in its own order, and no other', () => {
  const { clock, one, other, shard } = twoClients();
  const [late, early] = [one.send(30), one.send(10)];
  const own = other.send(10);
  other.cancel(other.send(20));
  clock.set(30);
  while (shard.turn());
  expect(one.take()).toEqual([early, late]);
  expect(other.take()).toEqual([own]);
  expect(shard.nextEvent()).toBe(Number.POSITIVE_INFINITY);
});

test('a lane that has more to do than a turn takes holds up no other', () => {
  for (const flooding of ['one', 'other'] as const) {
    const { clock, shard, ...clients } = twoClients();
    Object.assign(shard, { budget: 1 });
    for (let i = 0; i < CAPACITY; i++) clients[flooding].send(1000 + i);
    const waiting = clients[flooding === 'one' ? 'other' : 'one'];
    const timer = waiting.send(10);
    clock.set(10);
    expect([shard.turn(), shard.turn()]).toEqual([true, true]);
    expect(waiting.take()).toEqual([timer]);
  }
});

test('a client that does not take what has fired does not hold up the other', () => {
  const { clock, one, other, shard } = twoClients();
  for (let i = 0; i < CAPACITY; i++) one.send(10);
  clock.set(10);
  while (shard.turn());
  const timer = other.send(20);
  clock.set(20);
  while (shard.turn());
  expect(other.take()).toEqual([timer]);
  expect(one.take()).toHaveLength(CAPACITY);
});

test('a shard hands its lanes over: what lives, in the order scheduled, and once, however often it was moved', () => {
  const { clock, one, other, shard, build } = twoClients({ isServedHere: true });
  const [first, gone, second] = [one.send(1000), one.send(1000), one.send(1000)];
  const moved = other.send(1000);
  while (shard.turn());
  one.cancel(gone);
  const third = one.send(1000); // in the slot that has become free, and behind the others
  expect(third.slot).toBe(gone.slot);
  for (let i = 1; i <= 500; i++) {
    other.reschedule(moved, 1000 - i); // to earlier: a command each
    other.publish();
    while (shard.turn());
  }
  const entries = shard.lanes.map((lane) => lane.handOver());
  expect(entries.map((words) => [...words])).toEqual([
    entriesOf(one, [first, second, third]),
    entriesOf(other, [moved]),
  ]);
  const successor = build(entries);
  const last = one.send(1000); // what is published later comes through the ring
  expect(successor.found).toBe(4);
  clock.set(1000);
  while (successor.shard.turn());
  expect(one.take()).toEqual([first, second, third, last]);
  expect(other.take()).toEqual([moved]);
});
