import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';
import { manual } from './manual.ts';

/** Ways to move a timer to what is due at the next tick, though its deadline has passed. */
const toNow: Record<string, (scheduler: Scheduler, id: number) => boolean> = {
  'to the present': (scheduler, id) => scheduler.reschedule(id, scheduler.now()),
  'to the past': (scheduler, id) => scheduler.reschedule(id, -5),
  'to where it was': (scheduler, id) => scheduler.reschedule(id, 16),
  'by no delay': (scheduler, id) => scheduler.rescheduleAfter(id, 0),
  'away and back': (scheduler, id) => scheduler.reschedule(id, 1e6) && scheduler.reschedule(id, scheduler.now()),
};

describe.each([0, 1, 2])('reschedule: shards %i', (shards) => {
  test.each(Object.keys(toNow).flatMap((way) => [1, 8192].map((maxBatch) => ({ way, maxBatch }))))(
    '$way, of a timer that has been fired but not delivered: the next tick, batches of $maxBatch',
    async ({ way, maxBatch }) => {
      for (const [tick, now] of [
        [1, 16],
        [16, 16],
        [16, 21], // within a tick: the deadline has passed, but its tick is not over
      ]) {
        await using scheduler = await manual({ shards, tick, maxBatch });
        const log: unknown[] = [];
        const note = (name: string) => log.push([name, scheduler.now()]);
        scheduler.schedule('one shard', 16, () => {
          note('first');
          log.push(toNow[way](scheduler, moved));
        });
        const moved = scheduler.schedule('one shard', 16, () => note('moved'));
        scheduler.schedule('one shard', 16, () => note('last'));
        expect(await scheduler.advanceTo(now)).toBe(2);
        expect(log.splice(0)).toEqual([['first', now], true, ['last', now]]);
        expect(await scheduler.nextExpiration()).toBe(16 + tick);
        expect(await scheduler.advanceTo(16 + tick - 0.5)).toBe(0);
        expect(await scheduler.advanceTo(16 + tick)).toBe(1);
        expect(log).toEqual([['moved', 16 + tick]]);
      }
    },
  );

  test('after a jump of 2^32 ticks, what was due long ago is not taken for what has been moved', async () => {
    await using scheduler = await manual({ shards });
    const fired: string[] = [];
    scheduler.schedule('one shard', 1, () => {
      fired.push('first');
      scheduler.reschedule(moved, scheduler.now());
    });
    const moved = scheduler.schedule('one shard', 1, () => fired.push('moved'));
    scheduler.schedule('one shard', 1, () => fired.push('last'));
    expect(await scheduler.advanceTo(2 ** 32)).toBe(2);
    expect(fired).toEqual(['first', 'last']);
    expect(await scheduler.advanceTo(2 ** 32 + 1)).toBe(1);
  });

  test.each([
    ['to later', 100, [300], 300],
    ['to earlier', 100, [30], 30],
    ['to the same', 100, [100], 100],
    ['to the past', 100, [-5], 1],
    ['to the present', 100, [0], 1],
    ['to earlier and back', 100, [30, 100], 100],
    ['to later and back', 100, [300, 100], 100],
    ['over several levels of the wheel and back', 100, [1e6, 5, 70_000, 300, 2 ** 33, 250], 250],
    ['within its tick', 100, [99.5, 99.1], 100],
  ] as const)('%s', async (_name, first, moves, due) => {
    await using scheduler = await manual({ shards });
    const fired: number[] = [];
    const id = scheduler.schedule('a', first, (_, own) => fired.push(scheduler.now(), own));
    for (const deadline of moves) {
      expect(scheduler.reschedule(id, deadline)).toBe(true);
      expect(scheduler.deadlineOf(id)).toBe(deadline);
      expect(scheduler.has(id)).toBe(true);
    }
    expect(scheduler.size).toBe(1);
    expect(await scheduler.nextExpiration()).toBe(due);
    expect(await scheduler.advanceTo(due - 0.5)).toBe(0);
    expect(await scheduler.advanceTo(due)).toBe(1);
    expect(fired).toEqual([due, id]);
    expect(await scheduler.advanceTo(2 ** 34)).toBe(0);
  });

  test('a million times, as an idle timeout that is moved with every request', async () => {
    await using scheduler = await manual({ shards });
    const fired = new Map<number, number>();
    const ids = Array.from({ length: 1000 }, (_, i) =>
      scheduler.schedule(i, 60, (_, id) => fired.set(id, scheduler.now())),
    );
    const draws = new Draws(SEED);
    for (let now = 0; now < 100; now++) {
      await scheduler.advanceTo(now);
      for (let i = 0; i < 10_000; i++) scheduler.rescheduleAfter(ids[draws.below(1000)], 60);
    }
    const deadlines = ids.map((id) => scheduler.deadlineOf(id));
    await scheduler.advanceTo(1000);
    expect(fired.size).toBe(1000);
    expect(deadlines.every((deadline) => deadline !== undefined && deadline <= 159)).toBe(true);
    const { rescheduled, delivered } = await scheduler.stats();
    expect({ rescheduled, delivered }).toEqual({ rescheduled: 1_000_000, delivered: 1000 });
  });

  test(`fires each timer once, at the tick of its last deadline, seed ${SEED}`, async () => {
    await using scheduler = await manual({ shards });
    const draws = new Draws(SEED);
    const due = new Map<number, number>();
    const wrong: unknown[] = [];
    let fired = 0;
    let now = 0;
    const check = (_: unknown, id: number) => {
      fired += 1;
      // Each advance goes one tick on, so a timer fires exactly when its tick ends.
      if (due.get(id) !== now) wrong.push({ now, due: due.get(id) });
    };
    const dueOf = (deadline: number) => Math.max(Math.ceil(deadline), now + 1);
    for (let i = 0; i < 500; i++) {
      const deadline = draws.between(0, 600);
      due.set(scheduler.schedule(i, deadline, check), dueOf(deadline));
    }
    const ids = [...due.keys()];
    while (scheduler.size > 0) {
      for (let i = 0; i < 5 && now < 400; i++) {
        const id = draws.pick(ids);
        const deadline = now + draws.between(-10, draws.below(4) === 0 ? 600 : 40);
        if (scheduler.reschedule(id, deadline)) due.set(id, dueOf(deadline));
      }
      now += 1;
      await scheduler.advanceTo(now);
    }
    expect({ fired, wrong }).toEqual({ fired: 500, wrong: [] });
  });

  test('on the real clock, again and again to later and at last to now', async () => {
    await using scheduler = createScheduler({ shards });
    let fired = 0;
    const id = scheduler.scheduleAfter('a', 5, () => {
      fired += 1;
    });
    const end = scheduler.now() + 60;
    await until(() => {
      if (scheduler.now() < end) return !scheduler.rescheduleAfter(id, 200);
      return true;
    });
    expect(fired).toBe(0);
    expect(scheduler.rescheduleAfter(id, 0)).toBe(true);
    await until(() => fired === 1);
    expect(scheduler.rescheduleAfter(id, 0)).toBe(false);
  });
});
