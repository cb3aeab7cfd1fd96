import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import type { InlineShard } from '../../src/hosts/inline-shard.ts';
import { CHUNK_ENTRIES } from '../../src/lane/command-stage.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { watchLateness } from '../../src/scheduler/watch-lateness.ts';
import { LocalLane } from '../../src/shard/local-lane.ts';
import { createTimers } from '../../src/timers/create-timers.ts';
import { blockLoop, pass, turn, until } from '../fixtures/event-loop.ts';

const FAR = 1_000_000_000;
/** Commands that a turn files, at least where so many are staged. */
const BUDGET = 16_384;

/** Inline, on a manual clock: its turns come only when they are asked for. */
function inline(capacity = 2 ** 17): { scheduler: Scheduler; client: Client } {
  const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity });
  onTestFinished(() => void scheduler.close());
  return { scheduler, client: Scheduler.coordinatorOf(scheduler).client };
}

/** Asks for a turn, at a time, and lets it come. */
async function turnAt(client: Client, time: number): Promise<void> {
  client.clock.set(time);
  client.turnClock.now();
  await turn();
}

const staged = ({ lanes }: Client): number => lanes.reduce((sum, { stage }) => sum + stage.length, 0);
const taken = ({ lanes }: Client): number => lanes.reduce((sum, { stage }) => sum + stage.taken, 0);

describe('what is staged', () => {
  test('is filed when the earliest of it is due, all in one turn, and not before', async () => {
    const { scheduler, client } = inline();
    for (const deadline of [300, 50, 100]) scheduler.schedule('a', deadline);
    for (const time of [1, 30, 49]) {
      await turnAt(client, time);
      expect([time, staged(client), taken(client)]).toEqual([time, 3, 0]);
    }
    await turnAt(client, 50);
    expect([staged(client), taken(client), client.delivery.delivered]).toEqual([0, 3, 1]);
    scheduler.schedule('a', 90);
    await turnAt(client, 80);
    expect([staged(client), taken(client)]).toEqual([1, 3]);
  });

  test('is never filed if it ends before', async () => {
    const { scheduler, client } = inline();
    const ids = Array.from({ length: 100 }, (_, i) => scheduler.schedule('a', 100 + i));
    for (const id of ids.slice(1)) scheduler.cancel(id);
    await turnAt(client, 100);
    expect([staged(client), taken(client), client.delivery.delivered]).toEqual([0, 1, 1]);
  });

  const askers: Record<string, (scheduler: Scheduler) => Promise<unknown>> = {
    stats: (scheduler) => scheduler.stats(),
    wheels: (scheduler) => scheduler.wheels(),
    nextExpiration: (scheduler) => scheduler.nextExpiration(),
    advanceTo: (scheduler) => scheduler.advanceTo(1),
  };
  test.each(Object.keys(askers))('is filed when somebody asks: %s', async (name) => {
    const { scheduler, client } = inline();
    for (let i = 0; i < 10; i++) scheduler.schedule('a', FAR + i);
    await askers[name](scheduler);
    await turn();
    expect([staged(client), taken(client)]).toEqual([0, 10]);
    scheduler.schedule('a', FAR);
    await turnAt(client, 2);
    expect(staged(client)).toBe(1); // once asked, it waits again
  });

  test('is filed when the stage is full', async () => {
    const { scheduler, client } = inline();
    for (let i = 0; i < CHUNK_ENTRIES; i++) scheduler.schedule('a', FAR + i);
    await turnAt(client, 1);
    expect([staged(client), taken(client)]).toEqual([CHUNK_ENTRIES, 0]);
    scheduler.schedule('a', FAR);
    await turn();
    expect([staged(client), taken(client)]).toEqual([0, CHUNK_ENTRIES + 1]);
  });

  test('fills the stage within a callback: all of it is filed, and comes in time', async () => {
    const { scheduler, client } = inline();
    let fired = 0;
    const note = () => {
      fired += 1;
    };
    const count = 3 * CHUNK_ENTRIES;
    scheduler.schedule('a', 10, () => {
      for (let i = 0; i < count; i++) scheduler.schedule('a', 20, note);
      for (let i = 0; i < count; i++) scheduler.schedule('a', FAR);
    });
    await turnAt(client, 10);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(staged(client)).toBe(0);
    await scheduler.advanceTo(20);
    expect([fired, scheduler.size]).toEqual([count, count]);
  });

  test('while a long round lasts is filed after it, though all was wanted before', async () => {
    const { scheduler, client } = inline();
    for (let i = 0; i < 3 * BUDGET; i++) scheduler.schedule('a', FAR + i);
    await turn();
    expect(taken(client)).toBe(BUDGET);
    scheduler.schedule('a', 5);
    await turnAt(client, 5);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect([staged(client), client.delivery.delivered]).toEqual([0, 1]);
  });

  test('a million at once is filed in slices, and none is lost', async () => {
    const count = 1_200_000;
    const { scheduler, client } = inline(2 ** 21);
    const slices: number[] = [];
    const { begin } = client.turns;
    client.turns.begin = (isAsked) => {
      const before = taken(client);
      const isMore = begin.call(client.turns, isAsked);
      slices.push(taken(client) - before);
      return isMore;
    };
    const ids = scheduler.scheduleMany(new Float64Array(count), new Float64Array(count).fill(FAR));
    await until(() => staged(client) === 0);
    expect(Math.max(...slices)).toBeLessThanOrEqual(Math.max(BUDGET, Math.ceil(count / 64)));
    expect(slices.reduce((sum, slice) => sum + slice)).toBe(count);
    const { filed } = (await scheduler.stats()).shards[0];
    expect([filed, scheduler.cancelMany(ids)]).toEqual([count, count]);
  });

  test('is filed where it is refused at first: an index that is built anew comes by itself, on a manual clock too', async () => {
    const original = LocalLane.prototype.turn;
    onTestFinished(() => void Reflect.set(LocalLane.prototype, 'turn', original));
    for (const clock of ['manual', 'monotonic'] as const) {
      await using scheduler = createScheduler({ shards: 0, clock, capacity: 1024 });
      scheduler.on('error', () => undefined);
      let refusals = 3;
      LocalLane.prototype.turn = function (this: LocalLane, ...given) {
        refusals -= 1;
        if (refusals >= 0) throw new RangeError('no memory');
        return original.apply(this, given);
      };
      let fired = 0;
      scheduler.schedule('a', 1, () => {
        fired += 1;
      });
      if (clock === 'manual') await scheduler.advanceTo(10);
      await until(() => fired === 1);
      expect([clock, refusals < 0]).toEqual([clock, true]);
    }
  });
});

test('what a shard of this thread was about to file is published where a thread takes its lanes over', async () => {
  const { scheduler, client } = inline();
  scheduler.schedule('a', FAR);
  client.publish();
  const [shard] = Reflect.get(client.turns, 'shardsHere') as InlineShard[];
  shard.handOver();
  client.turns.leaveHere(shard);
  await turn();
  expect([client.lanes[0].commands.sent, staged(client)]).toEqual([1, 0]);
});

test('an inline shard that is to be built anew always knows when, even if its pause ends within the turn', () => {
  const { scheduler, client } = inline();
  scheduler.schedule('a', 5);
  client.publish();
  const [inlineShard] = Reflect.get(client.turns, 'shardsHere') as InlineShard[];
  Object.assign(inlineShard, { hasFailed: true, pausesUntil: Number.NEGATIVE_INFINITY });
  expect(inlineShard.nextTurn()).toBe(client.clock.read());
});

test('a turn of drop-in timers alone tells who watches for lateness', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 1024 });
  const { setTimeout } = createTimers(scheduler);
  await new Promise<void>((resolve) => void setTimeout(resolve, 1));
  await pass(20);
  const late: number[] = [];
  const end = watchLateness(15, ({ count }) => late.push(count));
  onTestFinished(end);
  await new Promise<void>((resolve) => {
    setTimeout(resolve, 5);
    blockLoop(40);
  });
  await turn();
  expect(late).toEqual([1]);
});
