import { createScheduler, type Scheduler, type SchedulerOptions } from 'shardwheel';
import { afterEach, describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, until } from '../fixtures/event-loop.ts';
import { withFaults } from '../fixtures/fault.ts';
import { FaultyClock } from '../fixtures/faults/faulty-clock.mjs';
import { internalsOf } from '../fixtures/internals.ts';
import { publish } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';

const HOUR = 3_600_000;
const clock = new FaultyClock();

/** Of the packed files, which the schedulers of this thread run. */
function clockOfPackage(): object {
  const scheduler = createScheduler({ shards: 0 });
  const { clock } = internalsOf(scheduler).client;
  void scheduler.close();
  return Object.getPrototypeOf(clock);
}

clock.install(clockOfPackage());

const create = (options: SchedulerOptions): Scheduler => withFaults([], () => createScheduler(options), clock);

/**
 * `count` timers at random times from now, half of which the shards know, while the others wait in the client, if they
 * are far; what is delivered early, and whether time ever fell, is noted.
 */
function scheduleMany(scheduler: Scheduler, count: number, within: number) {
  const draws = new Draws(SEED);
  const tally = new Tally(count);
  const faults: string[] = [];
  const deadlines = new Float64Array(count);
  let latest = 0;
  const look = () => {
    const now = scheduler.now();
    if (now < latest) faults.push(`the time fell from ${latest} to ${now}`);
    latest = now;
    return now;
  };
  const callback = (index: number) => {
    tally.add(index);
    if (look() < deadlines[index]) faults.push(`${index} is early by ${deadlines[index] - latest} ms`);
  };
  for (let i = 0; i < count; i++) {
    deadlines[i] = look() + draws.between(0, within);
    scheduler.schedule(i, deadlines[i], callback, i);
    if (i === count >> 1) publish(scheduler);
  }
  const dueBy = (time: number) => deadlines.filter((deadline) => deadline <= time).length;
  /** The present tick: of so many readings one is not what a shard has published some time ago. */
  const present = () => {
    for (let i = 0; i < 64; i++) look();
    return Math.floor(latest);
  };
  return { tally, faults, look, present, dueBy };
}

afterEach(() => clock.start('where it would be'));

describe.each([0, 1, 2])('the clock fails: shards %i', (shards) => {
  test(`it jumps by hours: what is due by then fires once, the rest waits, seed ${SEED}`, async () => {
    await using scheduler = create({ shards, thread: { hangTimeout: 5000 } });
    await scheduler.ready;
    const { tally, faults, look, present, dueBy } = scheduleMany(scheduler, 5000, 6 * HOUR);
    await pass(20);
    for (const hours of [1, 3.5]) {
      clock.jump(hours * HOUR);
      const due = dueBy(present());
      if (shards === 0) scheduler.scheduleAfter('a', 0); // its one timer is Node's, which no jump wakes
      await until(() => tally.total >= due);
      await pass(30);
      expect(tally.total).toBeLessThanOrEqual(dueBy(look()));
    }
    expect(tally.total).toBeGreaterThan(3000);
    clock.jump(2 * HOUR);
    if (shards === 0) scheduler.scheduleAfter('a', 0);
    await until(() => scheduler.size === 0);
    tally.expectEachOnce();
    expect(faults).toEqual([]);
    expect((await scheduler.stats()).shards.every(({ restarts }) => restarts === 0)).toBe(true);
  });

  test.each(['where it stands', 'where it would be'] as const)(
    'it stands still, and runs on from %s: nothing fires meanwhile, all of it afterwards',
    async (from) => {
      await using scheduler = create({ shards });
      await scheduler.ready;
      const { tally, faults, look, present, dueBy } = scheduleMany(scheduler, 5000, 300);
      await until(() => tally.total > 500);
      clock.stop();
      // Threads read what stands still within some µs of each other: in the middle of a tick that is the same tick.
      clock.step(present() + 1.5 - look());
      const due = dueBy(present()); // in whole ticks, as a shard sees it
      await until(() => tally.total >= due);
      await pass(400);
      const standing = tally.total;
      clock.start(from);
      expect(standing).toBe(due);
      await until(() => scheduler.size === 0);
      tally.expectEachOnce();
      expect(faults).toEqual([]);
    },
  );

  test.each(['between two turns', 'within a turn, before much else that is due'])(
    'it falls back by an hour, %s: time stands until it has caught up, nothing is early or lost',
    async (when) => {
      await using scheduler = create({ shards });
      await scheduler.ready;
      const { tally, faults, look, dueBy } = scheduleMany(scheduler, 3000, 600);
      await until(() => tally.total > 500);
      let latest = 0;
      const fall = () => {
        const began = performance.now();
        const before = look();
        clock.jump(-HOUR);
        latest = before + performance.now() - began; // no thread can have read more
      };
      if (when === 'between two turns') fall();
      else {
        scheduler.scheduleAfter('a', 0, fall);
        publish(scheduler);
        blockLoop(50);
        await until(() => latest > 0);
      }
      for (let i = 0; i < 50; i++) {
        expect(look()).toBeLessThanOrEqual(latest + 1);
        await pass(1);
      }
      expect(tally.total).toBeLessThanOrEqual(dueBy(latest + 1));
      clock.jump(HOUR);
      await until(() => scheduler.size === 0);
      tally.expectEachOnce();
      expect(faults).toEqual([]);
    },
  );
});
