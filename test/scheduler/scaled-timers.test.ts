import {
  AllocationError,
  createScheduler,
  InvalidArgumentError,
  type Scheduler,
  SchedulerClosedError,
} from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { turn } from '../fixtures/event-loop.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { killShard } from '../fixtures/shard-threads.ts';
import { Tally } from '../fixtures/tally.ts';
import { manual } from './manual.ts';

const MIN = 100;

/** What a timer's due time is to be: worked out here without the code under test. */
interface Known {
  /** When it was started or moved last, ms. */
  start: number;
  full: number;
  scale: 'idle' | 'lifetime' | undefined;
}

const minimum = { idle: MIN, lifetime: 0 };

const dueOf = ({ start, full, scale }: Known, factors: { idle: number; lifetime: number }): number => {
  if (scale === undefined) return full;
  const earliest = start + minimum[scale];
  if (full <= earliest) return full;
  return earliest + (full - earliest) * factors[scale];
};

describe.each([0, 1, 2])('scaled timers: shards %i', (shards) => {
  test(`come when their factor says, whatever it was before, and never before their minimum, seed ${SEED}`, async () => {
    await using scheduler = await manual({ shards, capacity: 8192 });
    const draws = new Draws(SEED);
    const calls = {
      idle: scheduler.label('idle', { min: MIN }),
      lifetime: scheduler.label('lifetime', { min: 0 }),
      plain: scheduler.label('plain'),
    };
    const factors = { idle: 1, lifetime: 1 };
    const live = new Map<number, Known>();
    let now = 0;
    let fired = 0;
    const fire = (_: unknown, id: number): void => {
      const known = live.get(id)!;
      const due = dueOf(known, factors);
      const at = scheduler.now();
      if (at < due - 1e-6) throw new Error(`early at ${at}: due at ${due}`);
      const least = known.scale === undefined ? known.full : known.start + minimum[known.scale];
      if (at < Math.min(known.full, least)) throw new Error(`before its minimum, at ${at}`);
      live.delete(id);
      fired += 1;
    };
    scheduler.on('error', (error) => {
      throw error;
    });
    for (let step = 0; step < 500; step++) {
      for (let i = 0; i < 10; i++) {
        const scale = draws.pick(['idle', 'lifetime', undefined] as const);
        const starts = scale === undefined ? draws.pick([scheduler, calls.plain]) : calls[scale];
        const delay = draws.between(0, draws.pick([50, 400, 5000]));
        const hint = draws.below(100);
        const id =
          draws.below(2) === 0 ? starts.schedule(hint, now + delay, fire) : starts.scheduleAfter(hint, delay, fire);
        live.set(id, { start: now, full: now + delay, scale });
      }
      const ids = [...live.keys()];
      for (let i = 0; i < 4; i++) {
        const id = draws.pick(ids);
        const known = live.get(id);
        if (known === undefined) continue;
        if (draws.below(4) === 0) {
          scheduler.cancel(id);
          live.delete(id);
          continue;
        }
        const delay = draws.between(0, 3000);
        if (draws.below(2) === 0) scheduler.reschedule(id, now + delay);
        else scheduler.rescheduleAfter(id, delay);
        live.set(id, { ...known, start: now, full: now + delay });
      }
      if (draws.below(10) === 0) {
        const name = draws.pick(['idle', 'lifetime'] as const);
        factors[name] = draws.pick([0, 1, draws.between(0, 1)]);
        await scheduler.label(name).setScale(factors[name]);
      }
      const wrong = [...live].filter(
        ([id, known]) => Math.abs(scheduler.deadlineOf(id)! - dueOf(known, factors)) > 1e-6,
      );
      expect(wrong).toEqual([]);
      now += draws.between(2, 30); // a timer that is moved to the past is due at the next tick
      await scheduler.advanceTo(now);
      const left = [...live.values()].filter((known) => dueOf(known, factors) <= now - 1);
      expect(left).toEqual([]);
    }
    expect(fired).toBeGreaterThan(1000);
    const { labels, rescheduled } = await scheduler.stats();
    expect(labels.map(({ label, min, factor }) => ({ label, min, factor }))).toEqual([
      { label: 'idle', min: MIN, factor: factors.idle },
      { label: 'lifetime', min: 0, factor: factors.lifetime },
      { label: 'plain', min: undefined, factor: 1 },
    ]);
    expect(rescheduled).toBeLessThan(500 * 4); // those of the program alone
  });

  test('of a hundred thousand each is delivered once, whatever factors come, and however the shards fare', async () => {
    await using scheduler = createScheduler({ shards, capacity: 2 ** 17 });
    await scheduler.ready;
    const count = 100_000;
    const tally = new Tally(count);
    const idle = scheduler.label('idle', { min: 20 });
    const starts = new Float64Array(count);
    const early: number[] = [];
    const fire = (index: number): void => {
      if (scheduler.now() < starts[index] + 20) early.push(index);
      tally.add(index);
    };
    for (let i = 0; i < count; i++) {
      starts[i] = scheduler.now();
      idle.scheduleAfter(i, 1e5 + i, fire, i);
    }
    const changes = [0.5, 0.9, 0.1, 1, 0.3].map((factor) => scheduler.label('idle').setScale(factor));
    await turn();
    if (shards > 0) await killShard(scheduler, 0);
    await Promise.all(changes);
    expect(tally.total).toBe(0); // the earliest is due after 30 s
    await scheduler.label('idle').setScale(0);
    while (tally.total < count) await turn();
    tally.expectEachOnce();
    expect(early).toEqual([]);
    expect(scheduler.size).toBe(0);
  });
});

describe('setScale()', () => {
  const scaled = (options: { clock?: 'manual' } = {}): Scheduler => {
    const scheduler = createScheduler({ shards: 0, capacity: 2 ** 17, ...options });
    scheduler.label('idle', { min: MIN });
    return scheduler;
  };

  test.each([-0.1, 1.1, Number.NaN, Number.POSITIVE_INFINITY, '0.5', undefined])(
    'refuses the factor %j',
    async (factor) => {
      await using scheduler = scaled({ clock: 'manual' });
      await expect(scheduler.label('idle').setScale(factor as number)).rejects.toThrow(InvalidArgumentError);
      await expect(scheduler.label('idle').setScale(factor as number)).rejects.toThrow(
        /factor must be a number from 0 to 1, got/,
      );
      expect(scheduler.label('idle').factor).toBe(1);
    },
  );

  test('refuses a label that is not scaled, and says how to make one that is', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    await expect(scheduler.label('plain').setScale(0.5)).rejects.toThrow(
      "The label must be scaled; create it with scheduler.label('plain', { min }), got 'plain'",
    );
  });

  test('moves no more than a thousand timers in a turn of the event loop', async () => {
    await using scheduler = scaled();
    const idle = scheduler.label('idle');
    const count = 100_000;
    for (let i = 0; i < count; i++) idle.scheduleAfter(i, 1e6);
    await turn();
    let isDone = false;
    const done = scheduler
      .label('idle')
      .setScale(0.5)
      .then(() => {
        isDone = true;
      });
    let turns = 0;
    for (; !isDone; turns++) await turn();
    await done;
    expect(turns).toBeGreaterThan(count / (1024 + 64) - 1);
    const moved = [...scheduler.liveTimers()].filter(({ deadline }) => deadline < 6e5);
    expect(moved.length).toBe(count);
  });

  test('set again before the timers are moved: the last factor is that of all', async () => {
    await using scheduler = scaled();
    const idle = scheduler.label('idle');
    const count = 20_000;
    for (let i = 0; i < count; i++) idle.scheduleAfter(i, 1e6);
    const changes = [0.1, 0.2, 0.3, 0.4].map((factor) => scheduler.label('idle').setScale(factor));
    await turn();
    changes.push(scheduler.label('idle').setScale(0.8));
    await Promise.all(changes);
    const deadlines = [...scheduler.liveTimers()].map(({ deadline }) => deadline);
    const least = MIN + (1e6 - MIN) * 0.8;
    expect(deadlines.filter((deadline) => deadline < least || deadline > least + 1e4)).toEqual([]);
  });

  test('the factor that is set already: resolves when the pass that gives it to all has come to its end', async () => {
    await using scheduler = scaled();
    const idle = scheduler.label('idle');
    for (let i = 0; i < 20_000; i++) idle.scheduleAfter(i, 1e6);
    const leastOf = () => Math.min(...[...scheduler.liveTimers()].map(({ deadline }) => deadline));
    const mostOf = () => Math.max(...[...scheduler.liveTimers()].map(({ deadline }) => deadline));
    void scheduler.label('idle').setScale(0.5);
    await turn();
    await scheduler.label('idle').setScale(0.5);
    expect(mostOf()).toBeLessThan(6e5);
    void scheduler.label('idle').setScale(0.1);
    await turn();
    void scheduler.label('idle').setScale(0.9);
    await scheduler.label('idle').setScale(0.9);
    expect(leastOf()).toBeGreaterThan(8e5);
    await scheduler.label('idle').setScale(0.9); // at once
  });

  test('resolves where the scheduler is closed meanwhile, and rejects afterwards', async () => {
    const scheduler = scaled();
    const idle = scheduler.label('idle');
    for (let i = 0; i < 20_000; i++) idle.scheduleAfter(i, 1e6);
    const changes = [scheduler.label('idle').setScale(0.5), scheduler.label('idle').setScale(0.7)];
    await scheduler.close();
    await Promise.all(changes);
    await expect(idle.setScale(0.5)).rejects.toThrow(SchedulerClosedError);
  });

  test('a move that is refused changes nothing, neither now nor when the factor changes', async () => {
    await using scheduler = scaled({ clock: 'manual' });
    const id = scheduler.label('idle').schedule(1, 1000);
    const { commands } = internalsOf(scheduler).client.lanes[0];
    const { reserve } = commands;
    commands.reserve = () => {
      throw new AllocationError(4, new Error('none left'));
    };
    expect(() => scheduler.reschedule(id, 500)).toThrow(AllocationError);
    commands.reserve = reserve;
    expect(scheduler.deadlineOf(id)).toBe(1000);
    await scheduler.label('idle').setScale(0.5);
    expect(scheduler.deadlineOf(id)).toBe(MIN + (1000 - MIN) / 2);
  });

  test('a timer whose record is on its way when the factor grows waits for its new deadline', async () => {
    await using scheduler = scaled({ clock: 'manual' });
    const fired: number[] = [];
    await scheduler.label('idle').setScale(0);
    scheduler.schedule(1, MIN, () => void scheduler.label('idle').setScale(1)); // the first of two that are due in one tick
    scheduler.label('idle').schedule(1, 1000, () => fired.push(scheduler.now()));
    expect(await scheduler.advanceTo(999)).toBe(1);
    expect(fired).toEqual([]);
    expect((await scheduler.stats()).stale).toBe(1);
    await scheduler.advanceTo(1000);
    expect(fired).toEqual([1000]);
  });
});
