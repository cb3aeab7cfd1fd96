import { subscribe } from 'node:diagnostics_channel';
import { availableParallelism } from 'node:os';
import { createScheduler, type Scheduler, type Serving } from 'shardwheel';
import { expect, test } from 'vitest';
import { burdenIndex, SMALL_WHEEL } from '../fixtures/burden-index.ts';
import { runText } from '../fixtures/child-process.ts';
import { pass, until } from '../fixtures/event-loop.ts';
import { Tally } from '../fixtures/tally.ts';

test('a program of 100 timers starts no thread', async () => {
  const { stdout, stderr } = await runText(`
    import { createScheduler } from 'shardwheel';
    const scheduler = createScheduler();
    let fired = 0;
    for (let i = 0; i < 100; i++) scheduler.scheduleAfter(i, 5 * i, () => { fired += 1; });
    await new Promise((resolve) => scheduler.scheduleAfter(1, 600, resolve));
    const { serving, shards } = await scheduler.stats();
    console.log(JSON.stringify([fired, serving.by, serving.changes, process.report.getReport().workers.length, shards.length]));`);
  expect({ stdout, stderr }).toEqual({
    stdout: `${JSON.stringify([100, 'inline', 0, 0, Math.min(8, availableParallelism())])}\n`,
    stderr: '',
  });
});

const isThreaded = async (scheduler: Scheduler) => (await scheduler.stats()).serving.by === 'threads';

test('an index that takes a fifth of the loop gets one, a while of idleness ends it; hints keep their shards, timers fire once', async () => {
  await using scheduler = createScheduler({ wheel: SMALL_WHEEL });
  const told: (Serving & { shards: number })[] = [];
  subscribe('shardwheel:serving', (message) => told.push(message as Serving & { shards: number }));
  const shardsOf = () => Array.from({ length: 100 }, (_, hint) => scheduler.shardOf(hint));
  const before = shardsOf();
  const COUNT = 75_000;
  const tally = new Tally(COUNT);
  // Far off, until a thread has them: a slow machine takes its time.
  const ids = Array.from({ length: COUNT }, (_, i) => scheduler.scheduleAfter(i, 60_000, tally.add, i));
  const tooMany = Array.from({ length: 30_000 }, (_, i) => scheduler.scheduleAfter(i, 60_000));
  for (const end = performance.now() + 600; performance.now() < end; ) await burdenIndex(scheduler);
  // to hand them over would block
  expect((await scheduler.stats()).serving).toMatchObject({ by: 'inline', changes: 0 });
  scheduler.cancelMany(Float64Array.from(tooMany));
  while (!(await isThreaded(scheduler))) await burdenIndex(scheduler);
  await until(async () => (await scheduler.stats()).shards.every(({ inline }) => !inline));
  const { serving } = await scheduler.stats();
  expect(serving).toMatchObject({ by: 'threads', changes: 1 });
  expect(serving.reason).toMatch(/^the index took .* % of the event loop's time, more than 20 %$/);
  for (const [i, id] of ids.entries()) scheduler.reschedule(id, scheduler.now() + 500 + (i % 1000));
  await until(() => scheduler.size === 0);
  // Some that cross over to the thread's end and beyond. They are beyond the wheel's range, so in no order within their
  // tick.
  const crossing = new Tally(1000);
  const far = scheduler.now() + 16_000;
  for (let i = 0; i < 1000; i++) scheduler.schedule('one shard', far, crossing.add, i);
  await until(async () => (await scheduler.stats()).serving.by === 'inline');
  const idle = await scheduler.stats();
  expect(idle.serving.reason).toMatch(/^for 10 s the index would have taken less than/);
  expect(idle.shards.every(({ inline, deaths, restarts }) => inline && deaths === 0 && restarts === 0)).toBe(true);
  expect(shardsOf()).toEqual(before);
  await until(() => scheduler.size === 0);
  tally.expectEachOnce();
  crossing.expectEachOnce();
  expect(told.map(({ by, changes, shards }) => [by, changes, shards])).toEqual([
    ['threads', 1, scheduler.shards],
    ['inline', 2, scheduler.shards],
  ]);
});

test('a thread that starts beside much work: closing at any moment hands back what is left', async () => {
  for (const wait of [0, 20, 60, 100, 150]) {
    const scheduler = createScheduler({ wheel: SMALL_WHEEL, capacity: 2 ** 17 });
    const tally = new Tally(1_000_000);
    let count = 0;
    const busy = () => {
      for (let i = 0; i < 2000 && scheduler.size < 60_000; i++) {
        scheduler.scheduleAfter(count, 1 + (count % 7), tally.add, count);
        count += 1;
      }
    };
    while (!(await isThreaded(scheduler))) {
      busy();
      await burdenIndex(scheduler);
    }
    const end = performance.now() + wait;
    while (performance.now() < end) {
      busy();
      await pass(1);
    }
    for (const { argument } of await scheduler.close()) tally.add(argument as number);
    expect({ once: tally.count(1), total: tally.total }).toEqual({ once: count, total: count });
  }
});

test("a manual clock's shards stay inline, and say why", async () => {
  await using scheduler = createScheduler({ clock: 'manual', capacity: 2 ** 18 });
  for (let i = 0; i < 200_000; i++) scheduler.schedule(i, i);
  expect(await scheduler.advanceTo(200_000)).toBe(200_000);
  const reason = expect.stringContaining('manual');
  expect((await scheduler.stats()).serving).toMatchObject({ by: 'inline', changes: 0, reason });
});
