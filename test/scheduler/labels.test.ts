import { createScheduler, InvalidArgumentError, type Scheduler, SchedulerClosedError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { internalsOf } from '../fixtures/internals.ts';
import { manual } from './manual.ts';

const nothing = (): void => undefined;

async function labelsOf(scheduler: Scheduler): Promise<Record<string, object>> {
  const { labels } = await scheduler.stats();
  const entries = labels.map(({ label, size, scheduled, cancelled, delivered, lateness }) => [
    label,
    { size, scheduled, cancelled, delivered, late: lateness.count },
  ]);
  return Object.fromEntries(entries);
}

describe.each([0, 1, 2])('labels: shards %i', (shards) => {
  test(`count what becomes of their timers, and of no others, seed ${SEED}`, async () => {
    await using scheduler = await manual({ shards });
    const draws = new Draws(SEED);
    const names = ['idle', 'request', undefined, 'keepalive'] as const;
    const ledger = new Map(names.map((name) => [name, { size: 0, scheduled: 0, cancelled: 0, delivered: 0, late: 0 }]));
    const live = new Map<number, (typeof names)[number]>();
    const of = (name: (typeof names)[number]) => ledger.get(name)!;
    const fired = (_: unknown, id: number): void => {
      const counts = of(live.get(id));
      counts.size -= 1;
      counts.delivered += 1;
      counts.late += 1;
      expect(live.delete(id)).toBe(true);
    };
    scheduler.on('fired', ({ ids, length }) => {
      for (const id of ids.subarray(0, length)) fired(undefined, id);
    });
    let now = 0;
    for (let step = 0; step < 300; step++) {
      for (let i = 0; i < 20; i++) {
        const name = draws.pick(names);
        const starts = name === undefined ? scheduler : scheduler.label(name);
        const hint = draws.below(1000);
        const callback = draws.below(3) === 0 ? undefined : fired;
        const id =
          draws.below(2) === 0
            ? starts.schedule(hint, now + draws.between(0, 40), callback)
            : starts.scheduleAfter(hint, draws.between(0, 40), callback);
        live.set(id, name);
        of(name).size += 1;
        of(name).scheduled += 1;
      }
      const ids = [...live.keys()];
      for (let i = 0; i < 8; i++) {
        const id = draws.pick(ids);
        if (draws.below(2) === 0) {
          scheduler.reschedule(id, now + draws.between(0, 60));
        } else if (scheduler.cancel(id)) {
          of(live.get(id)).size -= 1;
          of(live.get(id)).cancelled += 1;
          live.delete(id);
        }
      }
      now += draws.between(0, 5);
      await scheduler.advanceTo(now);
    }
    const { undefined: _, ...expected } = Object.fromEntries(ledger);
    expect(await labelsOf(scheduler)).toEqual(expected);
    expect(scheduler.label('idle').size).toBe(of('idle').size);
    expect(of('idle').delivered).toBeGreaterThan(100);
    expect(of('idle').cancelled).toBeGreaterThan(100);
    const seen = [...scheduler.liveTimers()].map(({ id, label }) => [id, label]);
    expect(seen.sort()).toEqual([...live].sort());
  });

  test('tell the lateness of their own timers', async () => {
    await using scheduler = await manual({ shards });
    scheduler.label('late').schedule(1, 10, nothing);
    scheduler.label('punctual').schedule(1, 100, nothing);
    await scheduler.advanceTo(50);
    await scheduler.advanceTo(100);
    const { labels } = await scheduler.stats();
    expect(labels.map(({ label, lateness }) => [label, lateness.max])).toEqual([
      ['late', 40],
      ['punctual', 0],
    ]);
  });

  test('a slot that changes hands takes no label along', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 1 });
    scheduler.cancel(scheduler.label('gone').schedule(1, 50));
    scheduler.schedule(1, 60);
    expect([...scheduler.liveTimers()].map(({ label }) => label)).toEqual([undefined]);
    expect(await labelsOf(scheduler)).toMatchObject({ gone: { size: 0, scheduled: 1, cancelled: 1 } });
  });

  test('groups, and slack, go with them', async () => {
    await using scheduler = await manual({ shards });
    const idle = scheduler.label('idle', { slack: 15 });
    const group = scheduler.group('connection');
    idle.schedule(group, 20, nothing);
    idle.scheduleAfter(group, 1000, nothing);
    expect(idle.size).toBe(2);
    scheduler.schedule('connection', 20, nothing); // without slack, as before
    expect(await scheduler.advanceTo(20)).toBe(1);
    expect(await scheduler.advanceTo(31)).toBe(0);
    expect(await scheduler.advanceTo(32)).toBe(1); // the next multiple of 16, less than 16 ticks after its own
    group.cancelAll();
    expect(await labelsOf(scheduler)).toMatchObject({ idle: { size: 0, delivered: 1, cancelled: 1 } });
  });
});

describe('labels', () => {
  test('take no memory where there are none', async () => {
    await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 1024 });
    for (let i = 0; i < 1000; i++) scheduler.schedule(i, 1000, nothing);
    scheduler.reschedule(scheduler.schedule(1, 50), 60);
    await scheduler.advanceTo(2000);
    const labelled = () => internalsOf(scheduler).client.lanes.map(({ labels }) => labels !== undefined);
    expect(labelled()).toEqual([false, false]);
    scheduler.label('idle').schedule(1, 3000);
    expect(labelled().filter(Boolean).length).toBe(1);
  });

  test('beyond 254 count together, with one warning', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
    const warnings: string[] = [];
    const note = (warning: Error & { code?: string }) => warnings.push(`${warning.code}: ${warning.message}`);
    process.on('warning', note);
    for (let i = 0; i < 1000; i++) scheduler.label(`connection ${i}`).schedule(i, 1000);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([
      "SHARDWHEEL_LABELS: More than 254 labels of timers are in use: those from 'connection 254' on count as '(other)'",
    ]);
    const { labels } = await scheduler.stats();
    expect(labels.length).toBe(255);
    expect(labels.at(-1)).toMatchObject({ label: '(other)', size: 746 });
    expect(scheduler.label('connection 999').name).toBe('(other)');
    expect(() => scheduler.label('one more', { min: 5 })).toThrow(/one of the first 254 labels, .* got 'one more'/);
  });

  test('a call that is refused counts nothing', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1 });
    const idle = scheduler.label('idle', { min: 5 });
    idle.schedule(1, 50);
    expect(() => idle.schedule(1, 50)).toThrow(/capacity of 1/);
    expect(() => idle.schedule(1, Number.NaN)).toThrow(/deadline must be a finite number, got NaN/);
    expect(() => idle.scheduleAfter(1, Number.POSITIVE_INFINITY)).toThrow(
      /delay must be a finite number, got Infinity/,
    );
    expect(() => idle.schedule(1, 50, 'callback' as never)).toThrow(InvalidArgumentError);
    expect(() => idle.schedule({} as never, 50)).toThrow(InvalidArgumentError);
    expect(idle.size).toBe(1);
    expect(await labelsOf(scheduler)).toMatchObject({ idle: { size: 1, scheduled: 1, cancelled: 0 } });
  });

  test.each([
    ['', undefined, /label must be a string of 1 to 128 characters, got ''/],
    ['x'.repeat(129), undefined, /label must be a string of 1 to 128 characters/],
    [7, undefined, /label must be a string of 1 to 128 characters, got 7/],
    ['a', null, /options must be an object, got null/],
    ['a', { min: -1 }, /min must be a finite number of ms, at least 0, got -1/],
    ['a', { min: Number.NaN }, /min must be .*, got NaN/],
    ['a', { slack: -1 }, /slack must be ms from 0/],
    ['scaled', { min: 6 }, /must be 5, as when the label 'scaled' was made, got 6/],
    ['plain', { min: 6 }, /must be omitted, as when the label 'plain' was made, got 6/],
  ])('refuses %j with %j', async (name, options, message) => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    scheduler.label('scaled', { min: 5 });
    scheduler.label('plain');
    expect(() => scheduler.label(name as string, options as never)).toThrow(message);
    expect(() => scheduler.label(name as string, options as never)).toThrow(InvalidArgumentError);
  });

  test('without the options a label is as it was made', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    scheduler.label('idle', { min: 5 });
    expect(scheduler.label('idle').min).toBe(5);
    expect(scheduler.label('idle', { min: 5 }).factor).toBe(1);
  });

  test('after close() are of no use, but for what they counted', async () => {
    const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    const idle = scheduler.label('idle');
    idle.schedule(1, 50);
    await scheduler.close();
    expect(idle.size).toBe(0);
    expect(() => idle.schedule(1, 50)).toThrow(SchedulerClosedError);
    expect(() => idle.scheduleAfter(1, 50)).toThrow(SchedulerClosedError);
    expect(() => scheduler.label('idle')).toThrow(SchedulerClosedError);
    expect(() => scheduler.liveTimers()).toThrow(SchedulerClosedError);
    expect(await labelsOf(scheduler)).toMatchObject({ idle: { size: 0, scheduled: 1, cancelled: 0 } });
  });
});
