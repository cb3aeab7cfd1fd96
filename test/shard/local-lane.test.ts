import { expect, test } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import { DEFAULT_RING_SIZES } from '../../src/lane/lane-memory.ts';
import type { BuiltShard, LaneOrigin } from '../../src/shard/build-shard.ts';
import type { EntryList } from '../../src/shard/entry-list.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { presets } from '../../src/wheel/presets.ts';
import type { TickIndex } from '../../src/wheel/tick-index.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { isExhaustive } from '../fixtures/depth.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { buildServing, type ServingSetup } from './build-serving.ts';
import { type KnownTimer, LaneClient } from './lane-client.ts';
import { allocateSetup } from './lane-world.ts';

const WORLDS = isExhaustive ? 500 : 150;
const STEPS = 400;
/** Pinned wheels, too, keep the order of a tick, among timers within their range. */
const PINNED: WheelConfig = { engine: 'pinned', levels: [{ precision: 1, spokes: 4096 }] };

/** Where a lane is served: by an index in the client's thread, or by one that knows no more than the shared memory. */
type Place = 'here' | 'elsewhere';

/** A client whose lane changes hands whenever the test says so, on a clock that the test moves. */
class Changing {
  readonly client: LaneClient;
  readonly clock: SharedClock;
  /** Since then nothing was built from the table, which knows no order. */
  orderedFrom = 0;
  place: Place;
  private readonly setup: ServingSetup;
  built: BuiltShard;
  private readonly budget: number;
  private readonly mostListed: number;

  constructor(place: Place, budget: number, wheel: WheelConfig, mostListed = 64) {
    this.setup = allocateSetup({ capacity: 64, rings: { commands: 16, fired: 8 }, wheel });
    this.clock = new SharedClock(this.setup.clock);
    this.client = new LaneClient(this.setup, 0, 7);
    this.budget = budget;
    this.mostListed = mostListed;
    this.place = place;
    this.built = this.build('nothing');
  }

  get time(): number {
    return this.clock.read();
  }

  /**
   * The place is left for another in an orderly way, or what served it has died. The client's thread is left only when
   * nothing is staged: where its index cannot take what is, since the client has to take fired records first, nothing
   * happens.
   */
  move(place: Place, isOrderly: boolean): void {
    const { stage } = this.client.lane;
    if (this.place === 'here' && isOrderly) {
      for (let turns = 0; turns < 100 && stage.length > 0; turns++) this.turn();
      if (stage.length > 0) return;
    }
    this.place = place;
    const entries = isOrderly ? this.built.shard.lanes.map((lane) => lane.handOver()) : 'tables';
    if (!isOrderly) this.orderedFrom = this.client.timers.length;
    this.built = this.build(entries);
  }

  /** In the client's thread it is a part of the client's turn, which wants what is staged and due. */
  turn(): boolean {
    if (this.place === 'here') this.client.wantDue();
    return this.built.shard.turn();
  }

  /** Somebody looks at the wheel. */
  look(): void {
    for (const lane of this.built.shard.lanes) lane.fileAll();
  }

  /**
   * From now on the lists are refused memory whenever `isRefused` says, and the wheels while somebody looks at them.
   */
  refuse(isRefused: () => boolean): void {
    const roundTick = (lane: unknown) => (lane as { roundTick: number }).roundTick;
    let isLooking = false;
    for (const lane of this.built.shard.lanes) {
      const { index, list } = lane as unknown as { index: TickIndex; list: EntryList };
      const refusing =
        <A extends unknown[], R>(call: (slot: number, ...given: A) => R, isSpared: (slot: number) => boolean) =>
        (slot: number, ...given: A): R => {
          if (!isSpared(slot) && isRefused()) throw new AllocationError(1, new Error('refused by the test'));
          return call(slot, ...given);
        };
      const isListed = (slot: number) => {
        let isFound = false;
        list.forEach((listed) => {
          isFound ||= listed === slot;
        });
        return isFound;
      };
      list.put = refusing(list.put.bind(list), isListed); // an entry takes the room of the one that it replaces
      // Else it throws, and who serves the lane begins anew.
      list.append = refusing(list.append.bind(list), () => index.now >= roundTick(lane));
      index.insert = refusing(index.insert.bind(index), () => !isLooking);
    }
    this.look = () => {
      isLooking = true;
      try {
        for (const lane of this.built.shard.lanes) lane.fileAll();
      } catch (error) {
        if (!(error instanceof AllocationError)) throw error;
        for (const lane of this.built.shard.lanes) {
          const slots = lane.entries().map(({ slot }) => slot);
          expect(new Set(slots).size).toBe(slots.length);
        }
      }
      isLooking = false;
    };
  }

  advance(ticks: number): void {
    this.settle();
    this.clock.set(this.time + ticks);
    this.client.askForDue();
  }

  /** Both sides take turns until neither has anything to do. */
  settle(): void {
    for (let i = 0; i < 2000; i++) {
      const isMore = this.turn();
      const { client } = this;
      // a client looks after each turn of a shard in its thread
      const isAnswered = client.isWaitingForAnswer && client.lane.isAnswered();
      if (!isMore && !isAnswered && !client.isArmed && !client.isTold && client.lane.fired.available() === 0) return;
      client.deliver();
      client.publish();
    }
    throw new Error('client and index keep each other awake for ever');
  }

  private build(origin: LaneOrigin | readonly LaneOrigin[]): BuiltShard {
    const { stage } = this.client.lane;
    stage.isServedHere = this.place === 'here';
    const onFired = () => {
      this.client.isTold = true;
    };
    const { mostListed } = this;
    const options = stage.isServedHere ? { onFired, mostListed, stages: [stage] } : { onFired, mostListed };
    const built = buildServing(this.setup, origin, options);
    Object.assign(built.shard, { budget: this.budget });
    return built;
  }
}

/** Throws unless timers that were never moved came in order of due tick and, within one, of scheduling. */
function checkOrder(world: Changing, moved: ReadonlySet<KnownTimer>): number {
  const number = new Map(world.client.timers.map((timer, at) => [timer, at]));
  const plain = world.client.deliveries.filter((timer) => !moved.has(timer));
  let pairs = 0;
  for (const [at, timer] of plain.entries()) {
    const before = plain[at - 1];
    if (before === undefined || before.due !== timer.due) continue;
    const [one, other] = [number.get(before) as number, number.get(timer) as number];
    if (one < world.orderedFrom) continue;
    pairs += 1;
    if (one > other) throw new Error(`of tick ${timer.due}, ${other} was delivered after ${one}`);
  }
  return pairs;
}

/**
 * In the worlds of the first a late timer took the place in line of an earlier timer of its slot, which was still
 * filed; in those of the other an entry that was overdue served the next timer of its slot, whose command was still
 * staged behind that of another timer of the same tick.
 */
const FOUND = [1_477_160_990, 1_296_827_839];

test.each([SEED, ...FOUND])(
  'a lane that changes hands at any moment: each timer ends once, none early, all in order, seed %i',
  (seed) => {
    const draws = new Draws(seed);
    let [pairs, moves, commands] = [0, 0, 0];
    for (let number = 0; number < WORLDS; number++) {
      const place = draws.pick(['here', 'elsewhere'] as const);
      const wheel = draws.pick([presets.default, presets.blitz, PINNED]);
      const world = new Changing(place, draws.pick([1, 3, 1000]), wheel, draws.pick([0, 6, 12, 64]));
      const { client } = world;
      const moved = new Set<KnownTimer>();
      const isOrderly = draws.below(3) > 0;
      const act = {
        schedule: () => client.schedule(world.time + draws.below(40) - 4),
        scheduleFar: () => client.schedule(world.time + draws.below(2000)),
        cancel: (timer: KnownTimer) => client.cancel(timer),
        reschedule: (timer: KnownTimer) => {
          moved.add(timer);
          client.reschedule(timer, world.time + draws.below(60) - 4);
        },
      };
      for (let step = 0; step < STEPS; step++) {
        const drawn = draws.below(100);
        const { live } = client;
        if (drawn < 40) (draws.below(8) > 0 ? act.schedule : act.scheduleFar)();
        else if (drawn < 60 && live.length > 0) (draws.below(2) > 0 ? act.cancel : act.reschedule)(draws.pick(live));
        else if (drawn < 70) world.turn();
        else if (drawn < 77) client.deliver();
        else if (drawn < 78) world.look();
        else if (drawn < 86) client.publish();
        else if (drawn < 94) world.advance(1 + draws.below(20));
        else {
          world.move(world.place === 'here' ? 'elsewhere' : 'here', isOrderly || draws.below(3) > 0);
          moves += 1;
        }
      }
      for (let left = 0; client.live.length > 0 && left < 200; left++) world.advance(20);
      world.settle();
      const { live, lane, isWaitingForAnswer } = client;
      expect([number, live.length, lane.table.size, isWaitingForAnswer]).toEqual([number, 0, 0, false]);
      pairs += checkOrder(world, moved);
      commands += client.lane.stage.taken;
    }
    expect(pairs).toBeGreaterThan(WORLDS * 5);
    expect(moves).toBeGreaterThan(WORLDS * 10);
    expect(commands).toBeGreaterThan(WORLDS * 100);
  },
);

test('served here, a timer that ends before the next turn is never filed, and none goes through the ring', () => {
  const world = new Changing('here', 1000, presets.default);
  const { client } = world;
  for (let i = 0; i < 30; i++) client.schedule(100 + i);
  for (const timer of client.live.slice(10)) client.cancel(timer);
  world.settle();
  const [{ commands, filed }] = world.built.shard.counters();
  expect({ commands, filed, sent: client.lane.commands.sent }).toEqual({ commands: 10, filed: 10, sent: 0 });
  expect(new Int32Array(client.lane.memory.commands.cells).some((word) => word !== 0)).toBe(false);
  world.advance(200);
  world.settle();
  expect(client.deliveries.map(({ deadline }) => deadline)).toEqual(Array.from({ length: 10 }, (_, i) => 100 + i));
  expect(DEFAULT_RING_SIZES.commands).toBeGreaterThan(1000);
});

test(`what the list or a look at the wheel is refused memory for costs no timer, seed ${SEED}`, () => {
  const draws = new Draws(SEED);
  let refusals = 0;
  for (let number = 0; number < WORLDS; number++) {
    const wheel = draws.pick([presets.default, presets.blitz, PINNED]);
    const world = new Changing(draws.pick(['here', 'elsewhere'] as const), draws.pick([1, 3, 1000]), wheel);
    const { client } = world;
    world.refuse(() => {
      const isRefused = draws.below(4) === 0;
      if (isRefused) refusals += 1;
      return isRefused;
    });
    for (let step = 0; step < STEPS; step++) {
      const drawn = draws.below(100);
      const { live } = client;
      if (drawn < 40) client.schedule(world.time + draws.below(draws.pick([40, 2000])) - 4);
      else if (drawn < 50 && live.length > 0) client.cancel(draws.pick(live));
      else if (drawn < 60 && live.length > 0) client.reschedule(draws.pick(live), world.time + draws.below(60) - 4);
      else if (drawn < 75) world.turn();
      else if (drawn < 80) client.deliver();
      else if (drawn < 85) world.look();
      else if (drawn < 90) client.publish();
      else world.advance(1 + draws.below(20));
    }
    for (let left = 0; client.live.length > 0 && left < 200; left++) world.advance(20);
    world.settle();
    expect([number, client.live.length, client.lane.table.size]).toEqual([number, 0, 0]);
  }
  expect(refusals).toBeGreaterThan(WORLDS * 10);
});
