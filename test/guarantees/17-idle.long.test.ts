import { describe, expect, test } from 'vitest';
import { Doorbell } from '../../src/lane/doorbell.ts';
import { runModule, runText } from '../fixtures/child-process.ts';
import type { ClientScope, ClientThread } from '../fixtures/client-thread.ts';
import { pass } from '../fixtures/event-loop.ts';
import { onThread, type World, worlds } from '../fixtures/worlds.ts';

/** ms in which a scheduler that has just been made or used comes to rest. */
const REST = 2500;

/** Turns that a client, and the threads of its shards, have begun. */
interface Turns {
  client: number;
  shards: number;
}

/** Counts them, and asks nobody: that would be a turn. */
async function counting(client: ClientThread): Promise<() => Promise<Turns>> {
  const memories = await client.run(({ internals }) =>
    internals().coordinator.hosts.map(({ setup }) => setup.doorbell),
  );
  const doorbells = memories.map((memory) => new Doorbell(memory));
  return async () => ({
    client: await client.run(({ internals }) => internals().client.turnClock.turns),
    shards: doorbells.reduce((sum, doorbell) => sum + doorbell.beats(), 0),
  });
}

/**
 * The turns of each of three seconds, the first of which begins with this code. Before, the scheduler has a timer that
 * is due in two hours, and rests.
 */
const turnsAfter = (world: World, code: (scope: ClientScope) => void): Promise<Turns[]> =>
  onThread(world, async (client) => {
    await client.run(({ scheduler }) => void scheduler.scheduleAfter(0, 7_200_000));
    await pass(REST);
    const count = await counting(client);
    let before = await count();
    await client.run(code);
    const turns: Turns[] = [];
    for (let second = 0; second < 3; second++) {
      await pass(1000);
      const now = await count();
      turns.push({ client: now.client - before.client, shards: now.shards - before.shards });
      before = now;
    }
    return turns;
  });

const none: Turns = { client: 0, shards: 0 };

describe.each(worlds)('guarantee 17, idle costs nothing: $name', { concurrent: true }, (world) => {
  test('timers that are set and cancelled cause no turn but one that releases what they carried', async () => {
    const turns = await turnsAfter(world, ({ scheduler }) => {
      const ids = Array.from({ length: 1000 }, (_, i) => scheduler.scheduleAfter(i, 3_600_000, () => undefined, { i }));
      for (const id of ids) scheduler.cancel(id);
    });
    expect(turns.map(({ shards }) => shards)).toEqual([0, 0, 0]);
    expect(turns.reduce((sum, { client }) => sum + client, 0)).toBeLessThanOrEqual(1);
  });

  test('nor do those that live a tenth of a second, one after the other: one turn a second', async () => {
    const turns = await turnsAfter(world, ({ scheduler }) => {
      const live: number[] = [];
      let steps = 0;
      const driver = setInterval(() => {
        for (let i = 0; i < 2; i++) live.push(scheduler.scheduleAfter(i, 10_000, () => undefined, { steps }));
        if (live.length > 20) scheduler.cancelMany(live.splice(0, 2));
        steps += 1;
        if (steps === 200) clearInterval(driver);
      }, 10);
    });
    expect(turns.map(({ shards }) => shards)).toEqual([0, 0, 0]);
    expect(turns.reduce((sum, { client }) => sum + client, 0)).toBeLessThanOrEqual(3);
  });

  test.each([
    ['later', 3_600_000],
    ['to nearer', 1_800_000],
  ])('timers that are moved %s cause none', async (_, delay) => {
    const turns = await onThread(world, async (client) => {
      await client.run(({ scheduler, book }) => {
        for (let i = 0; i < 200; i++) book.ids.push(scheduler.scheduleAfter(i, 3_000_000));
      });
      await pass(REST);
      const count = await counting(client);
      const before = await count();
      await client.run(({ scheduler, book }, delay) => {
        const driver = setInterval(() => {
          const id = book.ids.pop();
          if (id === undefined) clearInterval(driver);
          else scheduler.rescheduleAfter(id, delay);
        }, 5);
      }, delay);
      await pass(REST);
      const after = await count();
      return { client: after.client - before.client, shards: after.shards - before.shards };
    });
    expect(turns).toEqual(none);
  });

  test('timers of which none is due cause none', async () => {
    const turns = await turnsAfter(world, ({ scheduler }) => {
      for (let i = 0; i < 100; i++) scheduler.scheduleAfter(i, 10_000 + i);
    });
    expect(turns).toEqual([none, none, none]);
  });
});

test.concurrent.each([0, 1])(
  'guarantee 17: timers that end before they are due do not wake the loop, shards %i',
  async (shards) => {
    const text = `
    const scheduler = createScheduler({ shards });
    await scheduler.ready;
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    await sleep(${REST});
    const loops = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const before = loops();
    let calls = 0;
    await new Promise((resolve) => {
      const driver = setInterval(() => {
        scheduler.cancel(scheduler.scheduleAfter('a', 60_000, () => undefined, {}));
        calls += 1;
        if (calls < 100) return;
        clearInterval(driver);
        resolve();
      }, 20);
    });
    console.log(loops() - before - calls);
    await scheduler.close();`;
    const { code, stdout, stderr } = await runModule(text, shards);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    // Two seconds: as many turns that release, as many beats of a watchdog; Node itself has one or two.
    expect(Number(stdout)).toBeLessThanOrEqual(8);
  },
);

/** Prints which of the arguments, and of the callbacks, are left of timers that were ended two seconds ago. */
const collected = (shards: number): string => `
  import { createScheduler } from './lib/index.js';
  const ends = {
    cancel: (scheduler, ids) => ids.filter((id) => scheduler.cancel(id)).length,
    cancelMany: (scheduler, ids) => scheduler.cancelMany(ids),
    cancelAll: (scheduler, ids, group) => group.cancelAll(),
    nothing: () => 3,
  };
  const subjects = [];
  function start(clock, hasFar, end) {
    const scheduler = createScheduler({ shards: ${shards}, clock, capacity: 1024 });
    if (hasFar) scheduler.scheduleAfter('far', 7_200_000);
    const group = scheduler.group('a');
    const refs = [];
    const ids = [0, 1, 2].map((i) => {
      const argument = { i };
      const callback = () => argument;
      refs.push(new WeakRef(argument), new WeakRef(callback));
      return scheduler.scheduleAfter(group, 3_600_000, callback, argument);
    });
    subjects.push({ name: clock + (hasFar ? ' far ' : ' ') + end, scheduler, ids, group, refs, end });
  }
  for (const clock of ['monotonic', 'manual']) {
    for (const hasFar of [true, false]) for (const end of Object.keys(ends)) start(clock, hasFar, end);
  }
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  await Promise.all(subjects.map(({ scheduler }) => scheduler.ready));
  await sleep(${REST});
  for (const { scheduler, ids, group, end } of subjects) {
    if (ends[end](scheduler, ids, group) !== 3) throw new Error(end);
  }
  await sleep(2000); // nothing else happens in this loop
  gc();
  const left = subjects.map(({ name, refs }) => [name, refs.filter((ref) => ref.deref() !== undefined).length]);
  console.log(JSON.stringify(Object.fromEntries(left)));
  await Promise.all(subjects.map(({ scheduler }) => scheduler.close()));`;

test.concurrent.each([0, 1])(
  'guarantee 17: what ended timers carried is collected in an idle loop, shards %i',
  async (shards) => {
    const { code, stdout, stderr } = await runText(collected(shards), ['--expose-gc']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const kept = ['monotonic far nothing', 'monotonic nothing', 'manual far nothing', 'manual nothing'];
    const left = Object.entries(JSON.parse(stdout) as Record<string, number>);
    expect(left).toHaveLength(16);
    expect(left.filter(([, count]) => count > 0)).toEqual(expect.arrayContaining(kept.map((name) => [name, 6])));
    expect(left.filter(([, count]) => count > 0)).toHaveLength(kept.length);
  },
);
