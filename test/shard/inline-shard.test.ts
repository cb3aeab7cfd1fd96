import { expect, onTestFinished, test } from 'vitest';
import { InlineShard } from '../../src/hosts/inline-shard.ts';
import type { LaneOrigin } from '../../src/shard/build-shard.ts';
import { LocalLane } from '../../src/shard/local-lane.ts';
import { ServedLane } from '../../src/shard/served-lane.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { buildServing } from './build-serving.ts';
import { LaneClient } from './lane-client.ts';
import { allocateSetup } from './lane-world.ts';

const WORLDS = 400;
const STEPS = 120;

/** Steps of an index before and after which memory may be refused, with a draw for each. */
const steps: readonly [object, string][] = [
  [LocalLane.prototype, 'takeOver'],
  [ServedLane.prototype, 'rebuild'],
  [LocalLane.prototype, 'turn'],
  [LocalLane.prototype, 'takeCommands'],
];

function refuse(draw: () => boolean): void {
  for (const [prototype, name] of steps) {
    const original = Reflect.get(prototype, name) as (...given: unknown[]) => unknown;
    Reflect.set(prototype, name, function (this: unknown, ...given: unknown[]) {
      if (draw()) throw new RangeError(`refused before ${name}`);
      const result = original.apply(this, given);
      if (draw()) throw new RangeError(`refused after ${name}`);
      return result;
    });
    onTestFinished(() => void Reflect.set(prototype, name, original));
  }
}

// Lanes come from a thread, or are opened later; memory is refused at any step of building and of turns, again and
// again.
test(`an inline shard loses no timer when memory is refused, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  let refusals = 0;
  /** So many requests more until one is refused. */
  let granted = Number.POSITIVE_INFINITY;
  refuse(() => {
    granted -= 1;
    if (granted >= 0) return false;
    refusals += 1;
    granted = draws.pick([3, 30, Number.POSITIVE_INFINITY]);
    return true;
  });
  for (let world = 0; world < WORLDS; world++) {
    const setup = allocateSetup({ capacity: 64, clients: 3, rings: { commands: 16, fired: 8 } });
    const clock = new SharedClock(setup.clock);
    const clients = setup.lanes.map((_, number) => new LaneClient(setup, number, 7));
    const lanes = setup.lanes.map((lane, placement) => ({
      placement,
      setup: lane,
      stage: clients[placement].lane.stage,
    }));
    const open = clients.slice(0, 2);
    granted = Number.POSITIVE_INFINITY;
    // On a thread: some commands are filed, some are in the ring when the lanes are left.
    const built = buildServing({ ...setup, lanes: setup.lanes.slice(0, 2) }, 'nothing');
    for (let i = 0; i < 20; i++) {
      draws.pick(open).schedule(clock.read() + draws.below(300));
      if (draws.below(3) === 0) for (const client of open) client.publish();
      if (draws.below(5) === 0) built.shard.turn();
    }
    const origin: LaneOrigin[] = built.shard.lanes.map((lane) => (draws.below(3) > 0 ? lane.handOver() : 'tables'));
    granted = draws.below(draws.pick([4, 40]));
    const nothing = (): void => undefined;
    const events = { failed: nothing, built: nothing, calm: nothing };
    const given = lanes.slice(0, 2).map((lane, at) => ({ ...lane, origin: origin[at] }));
    const inline = new InlineShard(setup, events, given);
    const turn = (): void => {
      Object.assign(inline, { pausesUntil: Number.NEGATIVE_INFINITY });
      inline.turn(clock.read());
      for (const client of open) client.deliver();
      for (const client of open) client.publish();
      inline.turn(clock.read());
    };
    for (let step = 0; step < STEPS; step++) {
      const drawn = draws.below(100);
      if (drawn < 50) draws.pick(open).schedule(clock.read() + draws.below(40) - 2);
      else if (drawn < 60) {
        const client = draws.pick(open);
        if (client.live.length > 0) client.cancel(draws.pick(client.live));
      } else if (drawn < 62 && open.length < 3) {
        inline.admit(lanes[2]);
        open.push(clients[2]);
        if (draws.below(2) === 0) granted = draws.below(20);
      } else if (drawn < 80) turn();
      else clock.set(clock.read() + draws.below(8));
    }
    granted = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 200 && open.some(({ live }) => live.length > 0); i++) {
      clock.set(clock.read() + 10);
      turn();
    }
    const left = open.map(({ live, lane }) => [live.length, lane.table.size]);
    expect({ world, left }).toEqual({ world, left: open.map(() => [0, 0]) });
  }
  expect(refusals).toBeGreaterThan(WORLDS / 2);
});
