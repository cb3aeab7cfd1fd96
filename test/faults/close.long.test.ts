import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { DEFAULT_RING_SIZES } from '../../src/lane/lane-memory.ts';
import { runModule } from '../fixtures/child-process.ts';
import { pass, turn, until } from '../fixtures/event-loop.ts';
import { Fault, points, withFaults } from '../fixtures/fault.ts';
import { Ledger } from '../fixtures/ledger.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { blockUntilFired, killShard, publish } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

/** Closes, twice at once, and counts what is handed back as ended. */
async function closeTwice(scheduler: Scheduler, tally: Tally): Promise<number> {
  const [unfired, again] = await Promise.all([scheduler.close(), scheduler.close()]);
  expect(again).toBe(unfired);
  for (const { argument } of unfired) tally.add(argument as number);
  return unfired.length;
}

/** What keeps, or could keep, a process alive; and its threads, where the system tells of them. */
async function resources(): Promise<Record<string, number>> {
  await turn();
  await turn();
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

describe.each([1, 2])('close() hands back exactly what was not delivered: shards %i', (shards) => {
  test('while the command rings are full', async () => {
    const count = 200_000;
    const scheduler = createScheduler({ shards });
    const tally = Tally.of(scheduler, count, (i) => i % 50);
    publish(scheduler);
    expect(await closeTwice(scheduler, tally)).toBe(count);
    tally.expectEachOnce();
  });

  test('while the fired rings are full', async () => {
    const count = 150_000;
    const scheduler = await readyScheduler({ shards });
    const tally = Tally.of(scheduler, count, () => 30);
    publish(scheduler);
    blockUntilFired(scheduler, DEFAULT_RING_SIZES.fired);
    await turn();
    const before = tally.total;
    expect((await closeTwice(scheduler, tally)) + before).toBe(count);
    tally.expectEachOnce();
  });

  test.each(points)('while a thread stands %s, and while the next one starts', async (point) => {
    for (const isKilled of [false, true]) {
      const fault = new Fault(point, 'stand');
      const scheduler = withFaults([fault], () => createScheduler({ shards, capacity: 2 ** 20 }));
      const ledger = new Ledger(scheduler);
      await until(() => {
        for (let i = 0; i < 20; i++) ledger.schedule(ledger.count % 7);
        return fault.isReached;
      });
      if (isKilled) {
        killShard(scheduler, 0);
        await pass(ledger.count % 16);
      }
      const [unfired, again] = await Promise.all([scheduler.close(), scheduler.close()]);
      expect(again).toBe(unfired);
      ledger.takeBack(unfired);
      ledger.expectEachOnce();
    }
  });

  test("within a 'shard-restart' listener", async () => {
    const scheduler = await readyScheduler({ shards });
    const tally = Tally.of(scheduler, 1000, (i) => i % 100);
    const closing = new Promise((resolve) => {
      scheduler.on('shard-restart', () => resolve(closeTwice(scheduler, tally)));
    });
    killShard(scheduler, 0);
    await closing;
    tally.expectEachOnce();
  });
});

test('after all of this no thread, port or handle is left', async () => {
  const scheduler = await readyScheduler({ shards: 2 });
  await scheduler.close();
  const before = await resources();
  for (let round = 0; round < 12; round++) {
    const fault = new Fault(points[round], 'stand');
    const closed = withFaults([fault], () => createScheduler({ shards: 2, capacity: 4096 }));
    let hint = 0;
    await until(() => {
      for (let i = 0; i < 4; i++) closed.scheduleAfter(hint++, 1);
      return fault.isReached;
    });
    if (round % 2 === 0) killShard(closed, 0);
    if (round % 3 === 0) await pass(round);
    await closed.close();
  }
  const after = await resources();
  const more = Object.keys(after).filter((kind) => after[kind] > (before[kind] ?? 0));
  // The timers that hold this process are the test runner's, which come and go.
  expect(more.filter((kind) => kind !== 'Timeout')).toEqual([]);
});

test('the process ends by itself after a close in the middle of a burst, a crash, a hang, an inline shard', async () => {
  const { code, stdout, stderr } = await runModule(
    `import { readdirSync } from 'node:fs';
     import { setTimeout as sleep } from 'node:timers/promises';
     const threads = () => process.platform === 'linux' ? readdirSync('/proc/self/task').length : 0;
     const thread = (scheduler) => coordinatorOf(scheduler).keepers[0].thread.pool.threads[0];
     const ends = {
       burst: () => undefined,
       crash: (scheduler) => thread(scheduler)?.terminate(),
       crashAndWait: async (scheduler) => { thread(scheduler)?.terminate(); await sleep(15); },
       inline: async (scheduler) => { while (!(await scheduler.stats()).shards[0].inline) { thread(scheduler)?.terminate(); await sleep(5); } },
     };
     await createScheduler({ shards }).close();
     await sleep(50);
     const before = threads();
     const left = [];
     for (const [name, end] of Object.entries(ends)) {
       const scheduler = createScheduler({ shards, thread: { inlineAfter: { deaths: 3, within: 60_000 } } });
       scheduler.on('error', () => undefined);
       let ended = 0;
       for (let i = 0; i < 20_000; i++) scheduler.scheduleAfter(i, i % 40, () => { ended += 1; });
       await scheduler.ready;
       await end(scheduler);
       ended += (await scheduler.close()).length;
       if (ended !== 20_000) left.push(name + ': ' + ended);
     }
     await sleep(50);
     if (threads() > before) left.push('threads: ' + threads() + ' after ' + before);
     process.on('exit', () => console.log(JSON.stringify({ left, resources: process.getActiveResourcesInfo() })));`,
    2,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // The pipe that the parent process listens at is open until the end.
  const { left, resources: kept } = JSON.parse(stdout);
  expect(left).toEqual([]);
  expect(kept.filter((kind: string) => !/Pipe|Socket/.test(kind))).toEqual([]);
});
