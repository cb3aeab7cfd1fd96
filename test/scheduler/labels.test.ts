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
    const names = ['idle', 'request', undefined, 'keepalive'];
    const ledger = new Map(names.map((name) => [name, { size: 0, scheduled: 0, cancelled: 0, delivered: 0, late: 0 }]));
    const live = new Map<number, string | undefined>();
    const of = (name: string | undefined) => ledger.get(name)!;
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
        const [hint, delay] = [draws.below(1000), draws.between(0, 40)];
        const callback = draws.below(3) === 0 ? undefined : fired;
        const isDelay = draws.below(2) === 0;
        const id = isDelay ? starts.scheduleAfter(hint, delay, callback) : starts.schedule(hint, now + delay, callback);
        live.set(id, name);
        of(name).size += 1;
        of(name).scheduled += 1;
      }
      for (let i = 0; i < 8; i++) {
        const id = draws.pick([...live.keys()]);
        if (draws.below(2) === 0) scheduler.reschedule(id, now + draws.between(0, 60));
        else if (scheduler.cancel(id)) {
          of(live.get(id)).size -= 1;
          of(live.get(id)).cancelled += 1;
          live.delete(id);
        }
      }
      now += draws.between(0, 5);
      await scheduler.advanceTo(now, { jump: true });
    }
    const { undefined: _, ...expected } = Object.fromEntries(ledger);
    expect(await labelsOf(scheduler)).toEqual(expected);
    expect(scheduler.label('idle').size).toBe(of('idle').size);
    expect(Math.min(of('idle').delivered, of('idle').cancelled)).toBeGreaterThan(100);
    expect([...scheduler.liveTimers()].map(({ id, label }) => [id, label]).sort()).toEqual([...live].sort());
  });

  test('tell the lateness of their own timers', async () => {
    await using scheduler = await manual({ shards });
    scheduler.label('late').schedule(1, 10, nothing);
    scheduler.label('punctual').schedule(1, 100, nothing);
    await scheduler.advanceTo(50, { jump: true });
    await scheduler.advanceTo(100, { jump: true });
    const { labels } = await scheduler.stats();
    expect(labels.map(({ label, lateness }) => [label, lateness.max])).toEqual([
      ['late', 40],
      ['punctual', 0],
    ]);
  });
});

describe('labels', () => {
  test('take no memory where there are none', async () => {
    await using scheduler = createScheduler({ shards: 2, clock: 'manual', capacity: 1024 });
    for (let i = 0; i < 1000; i++) scheduler.schedule(i, 1000, nothing);
    scheduler.reschedule(scheduler.schedule(1, 50), 60);
    await scheduler.advanceTo(2000, { jump: true });
    const labelled = () => internalsOf(scheduler).client.lanes.map(({ slotLabels }) => slotLabels !== undefined);
    expect(labelled()).toEqual([false, false]);
    scheduler.label('idle').schedule(1, 3000);
    expect(labelled().filter(Boolean).length).toBe(1);
  });

  test('cannot be named as the drop-in timers are', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual' });
    expect(() => scheduler.label('(drop-in)')).toThrow(InvalidArgumentError);
  });

  test('beyond 254 count together, with one warning for all schedulers', async () => {
    await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 1024 });
    await using other = createScheduler({ shards: 0, clock: 'manual' });
    const warnings: string[] = [];
    const note = (warning: Error & { code?: string }) => warnings.push(`${warning.code}: ${warning.message}`);
    process.on('warning', note);
    for (let i = 0; i < 1000; i++) scheduler.label(`connection ${i}`).schedule(i, 1000);
    for (let i = 0; i < 300; i++) other.label(`connection ${i}`);
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
    expect(() => idle.schedule(1, Number.NaN)).toThrow(RangeError);
    expect(() => idle.schedule({} as never, 50)).toThrow(InvalidArgumentError);
    expect(idle.size).toBe(1);
    expect(await labelsOf(scheduler)).toMatchObject({ idle: { size: 1, scheduled: 1, cancelled: 0 } });
  });

  test('are as they were made, whatever is asked for later', async () => {
    await using scheduler = await manual({ shards: 0 });
    scheduler.label('scaled', { min: 5, slack: 7 });
    scheduler.label('plain');
    expect(scheduler.label('scaled')).toBe(scheduler.label('scaled', { min: 5 }));
    expect(scheduler.label('scaled')).toMatchObject({ min: 5, slack: 7, factor: 1 });
    const refused: [name: string, options: unknown, message: string][] = [
      ['x'.repeat(129), undefined, 'label must be a string of 1 to 128 characters'],
      ['a', null, 'options must be an object, got null'],
      ['scaled', { min: 6 }, "must be 5, as when the label 'scaled' was made, got 6"],
      ['scaled', { slack: 6 }, "must be 7, as when the label 'scaled' was made, got 6"],
      ['plain', { min: 6 }, "must be omitted, as when the label 'plain' was made, got 6"],
    ];
    for (const [name, options, message] of refused) {
      expect(() => scheduler.label(name, options as never)).toThrow(InvalidArgumentError);
      expect(() => scheduler.label(name, options as never)).toThrow(message);
    }
  });

  test('after close() are of no use, but for what they counted', async () => {
    const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: 16 });
    const idle = scheduler.label('idle');
    idle.schedule(1, 50);
    await scheduler.close();
    expect(idle.size).toBe(0);
    expect(() => idle.schedule(1, 50)).toThrow(SchedulerClosedError);
    expect(() => idle.scheduleAfter(1, 50)).toThrow(SchedulerClosedError);
    expect(await labelsOf(scheduler)).toMatchObject({ idle: { size: 0, scheduled: 1, cancelled: 0 } });
  });
});
