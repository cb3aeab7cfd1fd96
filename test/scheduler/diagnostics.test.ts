import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  CapacityExceededError,
  createScheduler,
  createTimers,
  InvalidArgumentError,
  type LateTimersMessage,
  type Scheduler,
  ShardInlineError,
  watchLateness,
} from 'shardwheel';
import { afterEach, describe, expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';
import { runModule } from '../fixtures/child-process.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, until } from '../fixtures/event-loop.ts';
import { killing, killShard, restartShard } from '../fixtures/shard-threads.ts';
import { manual } from './manual.ts';

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** What is published on a channel from here on. */
function heardOn<M extends object>(name: string): M[] {
  const heard: M[] = [];
  const listener = (message: unknown) => heard.push(message as M);
  subscribe(`shardwheel:${name}`, listener);
  ends.push(() => unsubscribe(`shardwheel:${name}`, listener));
  return heard;
}

test('shard-restart and inline: what listeners are given, and whose shard it was', async () => {
  const restarts = heardOn<{ scheduler: Scheduler }>('shard-restart');
  const inline = heardOn<{ shard: number; error: ShardInlineError; scheduler: Scheduler }>('inline');
  const thread = { inlineAfter: { deaths: 2, within: 60_000 } };
  await using one = await manual({ shards: 1, thread });
  await using two = await manual({ shards: 1 });
  one.on('error', () => undefined);
  const [first, second] = [await restartShard(two, 0), await restartShard(one, 0)];
  expect(restarts).toEqual([
    { ...first, scheduler: two },
    { ...second, scheduler: one },
  ]);
  expect(restarts.map(({ scheduler }) => scheduler === two)).toEqual([true, false]);
  killShard(one, 0);
  await until(() => inline.length > 0);
  expect(inline).toEqual([{ shard: 0, error: expect.any(ShardInlineError), scheduler: one }]);
});

test('capacity: of a refused scheduleMany nothing is left when a listener hears of it', async () => {
  await using scheduler = await manual({ shards: 0, capacity: 4 });
  const seen: unknown[] = [];
  const listener = () => {
    const ended = [...scheduler.liveTimers()].map(({ id }) => scheduler.cancel(id as number));
    seen.push([ended, scheduler.size, scheduler.close().then(({ length }) => length)]);
  };
  subscribe('shardwheel:capacity', listener);
  ends.push(() => unsubscribe('shardwheel:capacity', listener));
  expect(() => scheduler.scheduleMany([1, 2, 3, 4, 5], [10, 20, 30, 40, 50])).toThrow(CapacityExceededError);
  expect(seen).toEqual([[[], 0, expect.any(Promise)]]);
  expect(await scheduler.close()).toEqual([]);
  expect(await scheduler.stats()).toMatchObject({ scheduled: 0, cancelled: 0 });
});

test('capacity: one message a second and shard, however many are refused; none where nothing is', async () => {
  const heard = heardOn<{ shard: number; refused: number }>('capacity');
  await using scheduler = await manual({ shards: 2, capacity: 4 });
  const refuse = (times: number, wanted: number) => {
    let refused = 0;
    for (let hint = 0; refused < times; hint++) {
      if (scheduler.shardOf(hint) !== wanted) continue;
      try {
        scheduler.schedule(hint, 1e6);
      } catch (error) {
        expect(error).toBeInstanceOf(CapacityExceededError);
        refused += 1;
      }
    }
  };
  const told = (shard: number, refused: number) => ({ shard, capacity: 4, refused, scheduler });
  refuse(1000, 1);
  refuse(10, 0);
  expect(heard).toEqual([told(1, 1), told(0, 1)]);
  await scheduler.advanceTo(999, { jump: true });
  refuse(1, 1);
  expect(heard.length).toBe(2);
  await scheduler.advanceTo(1000, { jump: true });
  refuse(7, 1);
  expect(heard.slice(2)).toEqual([told(1, 1001)]);
  await scheduler.advanceTo(2000, { jump: true });
  expect(() => scheduler.scheduleMany([0, 1, 2, 3], [1e6, 1e6, 1e6, 1e6])).toThrow(CapacityExceededError);
  expect(heard.slice(3).map(({ refused }) => refused)).toEqual([expect.any(Number)]);
});

describe('late', () => {
  test(`each is told of what is later than its own threshold, turn by turn, seed ${SEED}`, async () => {
    await using scheduler = await manual({ shards: 1 });
    const draws = new Draws(SEED);
    const thresholds = [0, 5, 5, 40.5, 300];
    const heard = thresholds.map(() => [] as LateTimersMessage[]);
    for (const [at, threshold] of thresholds.entries()) {
      ends.push(watchLateness(threshold, (late) => heard[at].push(late)));
    }
    const channel = heardOn<LateTimersMessage>('late');
    let messages = 0;
    for (let round = 0; round < 10; round++) {
      const latenesses: number[] = [];
      const from = scheduler.now();
      const run = function fired(deadline: number) {
        latenesses.push(scheduler.now() - deadline);
      };
      for (let i = 0; i < 300; i++) {
        const deadline = from + draws.between(0, 100);
        scheduler.schedule(i, deadline, run, deadline);
      }
      await scheduler.advanceTo(from + draws.between(50, draws.pick([60, 100, 500])), { jump: true });
      for (const [at, threshold] of thresholds.entries()) {
        const told = heard[at].splice(0);
        if (at === 0) messages += told.length;
        const later = latenesses.filter((lateness) => lateness > threshold);
        expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(later.length);
        expect(Math.max(0, ...told.map(({ max }) => max))).toBe(Math.max(0, ...later));
        for (const message of told) {
          expect(message).toMatchObject({ scheduler, threshold });
          expect(message.timers.length).toBe(Math.min(16, message.count));
          for (const { id, deadline, now, lateness, shard, callback } of message.timers) {
            expect([lateness, shard, callback]).toEqual([now - deadline, 0, 'fired']);
            expect(lateness).toBeGreaterThan(threshold);
            expect(scheduler.has(id as number)).toBe(false);
          }
        }
      }
      // One for each threshold and turn, however many watch for it.
      expect(new Set(channel.map(({ threshold }) => threshold)).size).toBeLessThanOrEqual(4);
      await scheduler.advanceTo(scheduler.now() + 200, { jump: true });
      for (const list of [channel, ...heard]) list.length = 0;
    }
    expect(messages).toBeLessThanOrEqual((await scheduler.stats()).wakes); // at most one a turn
  });

  test('says whether there was a callback, and how it is called; drop-in timers have no id', async () => {
    await using scheduler = createScheduler({ shards: 0 });
    const heard: LateTimersMessage[] = [];
    ends.push(watchLateness(10, (late) => heard.push(late)));
    const { setTimeout } = createTimers(scheduler);
    const ran: string[] = [];
    const refuse = () => {
      throw new Error('nobody asks');
    };
    const id = scheduler.scheduleAfter(1, 1);
    scheduler.scheduleAfter(1, 1, () => ran.push('unnamed'));
    scheduler.scheduleAfter(
      1,
      1,
      Object.defineProperty(() => undefined, 'name', { get: refuse }),
    );
    setTimeout(function dropIn() {
      ran.push('drop-in');
    }, 1);
    blockLoop(30);
    await until(() => ran.length === 2);
    await until(() => heard.reduce((sum, { count }) => sum + count, 0) === 4);
    const told = heard.flatMap(({ timers }) => timers.map(({ id, callback }) => [id, callback]));
    const [unnamed, dropIn] = [
      [expect.any(Number), ''],
      [undefined, 'dropIn'],
    ];
    expect(told).toEqual(expect.arrayContaining([[id, undefined], unnamed, dropIn]));
  });

  test('nothing is told once the watch has ended, which is ended once', async () => {
    await using scheduler = await manual({ shards: 1 });
    const [one, two]: LateTimersMessage[][] = [[], []];
    const channel = heardOn('late');
    const late = async () => {
      scheduler.schedule(1, scheduler.now() + 1);
      await scheduler.advanceTo(scheduler.now() + 100, { jump: true });
    };
    const first = watchLateness(10, (late) => one.push(late));
    const second = watchLateness(10, (late) => two.push(late));
    const silent = watchLateness(20);
    await late();
    first();
    first();
    await late();
    second();
    await late();
    expect([one.length, two.length, channel.length]).toEqual([1, 2, 5]); // the third is heard by the channel alone
    silent();
    await late();
    expect(channel.length).toBe(5);
  });

  test('refuses what cannot work', () => {
    for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, '5', null, undefined])
      expect(() => watchLateness(value as number)).toThrow(InvalidArgumentError);
    for (const value of [null, 1, {}]) expect(() => watchLateness(1, value as never)).toThrow(InvalidArgumentError);
  });
});

test('subscribers that throw, of every channel, and a listener: each error is an uncaught exception, and every timer fires once', async () => {
  const { stdout, stderr } = await runModule(
    `import { subscribe } from 'node:diagnostics_channel';
     import { watchLateness } from 'shardwheel';
     const thrown = {}, caught = {};
     const fail = (name) => () => {
       thrown[name] = (thrown[name] ?? 0) + 1;
       throw new Error(name);
     };
     for (const name of ['shard-restart', 'inline', 'serving', 'capacity', 'late']) subscribe('shardwheel:' + name, fail(name));
     process.on('uncaughtException', ({ message }) => {
       caught[message] = (caught[message] ?? 0) + 1;
       if (!(message in thrown)) console.log(message);
     });
     watchLateness(0, fail('listener'));
     const fired = new Map();
     const fire = (name) => fired.set(name, (fired.get(name) ?? 0) + 1);
     const scheduler = createScheduler({ shards: 1, capacity: 2000, thread: { inlineAfter: { deaths: 2, within: 60_000 } } });
     scheduler.on('error', () => undefined);
     await scheduler.ready;
     let refused = 0;
     for (let i = 0; i < 2100; i++) {
       try {
         scheduler.scheduleAfter('a', 50 + i / 10, fire, i);
       } catch {
         refused += 1;
       }
     }
     const restarted = new Promise((resolve) => scheduler.once('shard-restart', resolve));
     ${killing};
     await restarted;
     ${killing};
     const auto = createScheduler({ shards: 'auto', wheel: ${JSON.stringify(SMALL_WHEEL)}, capacity: 2 ** 18 });
     for (let i = 0; i < 75_000; i++) auto.scheduleAfter(i, 400, fire, 'auto ' + i);
     while ((await auto.stats()).serving.changes === 0) await (${burdenIndex})(auto);
     while (fired.size < 77_000) await new Promise((done) => setTimeout(done, 5));
     await Promise.all([auto.close(), scheduler.close()]);
     await new Promise(setImmediate);
     console.log(refused, fired.size, [...fired.values()].every((times) => times === 1), Object.keys(thrown).sort().join());
     console.log(JSON.stringify(Object.entries(thrown).sort()) === JSON.stringify(Object.entries(caught).sort()));`,
    1,
  );
  expect({ stdout, stderr }).toEqual({
    stdout: '100 77000 true capacity,inline,late,listener,serving,shard-restart\ntrue\n',
    stderr: '',
  });
});
