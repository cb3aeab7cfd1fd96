import { createScheduler, type Scheduler } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { manual } from './manual.ts';

/** Ways to move a timer to what is due at the next tick, though its deadline has passed. */
const toNow: Record<string, (scheduler: Scheduler, id: number) => boolean> = {
  'to the present': (scheduler, id) => scheduler.reschedule(id, scheduler.now()),
  'to the past': (scheduler, id) => scheduler.reschedule(id, -5),
  'to where it was': (scheduler, id) => scheduler.reschedule(id, 16),
  'by no delay': (scheduler, id) => scheduler.rescheduleAfter(id, 0),
  'away and back': (scheduler, id) => scheduler.reschedule(id, 1e6) && scheduler.reschedule(id, scheduler.now()),
};

const ways = Object.keys(toNow).flatMap((way) => [1, 8192].map((maxBatch) => ({ way, maxBatch })));

describe.each([0, 1, 2])('reschedule: shards %i', (shards) => {
  test.each(ways)(
    '$way, when fired but not delivered: the next tick, batches of $maxBatch',
    async ({ way, maxBatch }) => {
      for (const [tick, now] of [
        [1, 16],
        [16, 16],
        [16, 21], // within a tick: the deadline has passed, but its tick is not over
        [1, 2 ** 32], // what was due long ago is not taken for what has been moved
      ]) {
        const next = (Math.floor(now / tick) + 1) * tick;
        await using scheduler = await manual({ shards, tick, maxBatch });
        const log: unknown[] = [];
        const note = (name: string) => log.push([name, scheduler.now()]);
        scheduler.schedule('one shard', 16, () => {
          note('first');
          log.push(toNow[way](scheduler, moved));
        });
        const moved = scheduler.schedule('one shard', 16, () => note('moved'));
        scheduler.schedule('one shard', 16, () => note('last'));
        expect(await scheduler.advanceTo(now, { jump: true })).toBe(2);
        expect(log.splice(0)).toEqual([['first', now], true, ['last', now]]);
        expect(await scheduler.nextExpiration()).toBe(next);
        expect(await scheduler.advanceTo(next - 0.5)).toBe(0);
        expect(await scheduler.advanceTo(next)).toBe(1);
        expect(log).toEqual([['moved', next]]);
      }
    },
  );

  test.each([
    ['to later', [300], 300],
    ['to earlier', [30], 30],
    ['to the same', [100], 100],
    ['to the past', [-5], 1],
    ['to the present', [0], 1],
    ['to earlier and back', [30, 100], 100],
    ['to later and back', [300, 100], 100],
    ['over several levels of the wheel and back', [1e6, 5, 70_000, 300, 2 ** 33, 250], 250],
    ['within its tick', [99.5, 99.1], 100],
  ] as const)('%s', async (_name, moves, due) => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    const fired: number[] = [];
    const id = scheduler.schedule('a', 100, (_, own) => fired.push(scheduler.now(), own));
    for (const deadline of moves) {
      expect(scheduler.reschedule(id, deadline)).toBe(true);
      expect([scheduler.deadlineOf(id), scheduler.has(id), scheduler.size]).toEqual([deadline, true, 1]);
      expect(await scheduler.nextExpiration()).toBe(Math.max(1, Math.ceil(deadline)));
    }
    expect(await scheduler.advanceTo(due - 0.5)).toBe(0);
    expect(await scheduler.advanceTo(due)).toBe(1);
    expect(fired).toEqual([due, id]);
    expect(await scheduler.advanceTo(2 ** 34)).toBe(0);
  });

  test(`a million times, as an idle timeout that is moved with every request, seed ${SEED}`, async () => {
    await using scheduler = await manual({ shards });
    const fired = new Map<number, number>();
    const note = (_: unknown, id: number) => fired.set(id, scheduler.now());
    const ids = Array.from({ length: 1000 }, (_, i) => scheduler.schedule(i, 60, note));
    const draws = new Draws(SEED);
    for (let now = 0; now < 100; now++) {
      await scheduler.advanceTo(now);
      for (let i = 0; i < 10_000; i++) scheduler.rescheduleAfter(ids[draws.below(1000)], 60);
    }
    const deadlines = ids.map((id) => scheduler.deadlineOf(id));
    for (let now = 100; now < 160; now++) await scheduler.advanceTo(now);
    expect(ids.map((id) => fired.get(id))).toEqual(deadlines);
    const { rescheduled, delivered } = await scheduler.stats();
    expect({ rescheduled, delivered }).toEqual({ rescheduled: 1_000_000, delivered: 1000 });
  });
});
