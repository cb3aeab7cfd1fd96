import { connectScheduler, createScheduler, type Scheduler, TimeoutError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { turn } from '../fixtures/event-loop.ts';
import { restartShard } from '../fixtures/shard-threads.ts';
import { manual } from './manual.ts';
import { dueTick } from './slack-model.ts';

/** The ticks at which timers were delivered, in order, each with how many. */
async function firingTicks(scheduler: Scheduler, to: number, tick = 1): Promise<Map<number, number>> {
  const ticks = new Map<number, number>();
  for (let at = Math.floor(scheduler.now() / tick) + 1; at <= to; at++) {
    const fired = await scheduler.advanceTo(at * tick);
    if (fired > 0) ticks.set(at, fired);
  }
  return ticks;
}

/** The same after the model. */
function expectedTicks(deadlines: readonly number[], slack: number, tick = 1): Map<number, number> {
  const ticks = new Map<number, number>();
  const all = deadlines.map((deadline) => dueTick(deadline, slack, tick)).sort((one, other) => one - other);
  for (const due of all) ticks.set(due, (ticks.get(due) ?? 0) + 1);
  return ticks;
}

describe.each([0, 1, 2, 'auto'] as const)('slack: shards %s', (shards) => {
  test.each([
    [1, 100],
    [1, 63],
    [1, 1],
    [0.25, 10],
    [7.3, 100],
    [1, 2.5],
    [0.25, 0],
    [7.3, 3.65], // half a tick
  ])('each timer comes with the very tick that the rule names, tick %f, slack %f', async (tick, slack) => {
    await using scheduler = createScheduler({ shards, tick, slack, clock: 'manual', capacity: 4096 });
    const draws = new Draws(SEED);
    const deadlines = Array.from({ length: 400 }, () => draws.between(0, 300) * tick);
    const late: number[] = [];
    const schedule = (deadline: number) =>
      scheduler.schedule(deadline, deadline, (at) => late.push(scheduler.now() - at), deadline);
    deadlines.slice(0, 200).forEach(schedule);
    await turn(); // the inline shard has taken them
    await scheduler.ready;
    deadlines.slice(200).forEach(schedule);
    expect(await firingTicks(scheduler, 460, tick)).toEqual(expectedTicks(deadlines, slack, tick));
    expect(late.length).toBe(400);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...late)).toBeLessThan(slack + tick + 1e-9);
  });

  test.each([
    [0, 1],
    [10, 8],
    [100, 64],
    [127, 128],
  ])('%i ms: timers close together take as many wakes as the window has granules, and one', async (slack, granule) => {
    const window = 1000;
    await using scheduler = await manual({ shards, slack, capacity: 8192 });
    for (let i = 0; i < 5000; i++) scheduler.schedule(i, 7 + (i * window) / 5000);
    const ticks = await firingTicks(scheduler, 1200);
    expect(ticks.size).toBeLessThanOrEqual(Math.ceil(window / granule) + 1);
    const stats = await scheduler.stats();
    expect(stats).toMatchObject({ slack, delivered: 5000 });
    // The shards of one tick may each bring a turn of their own.
    expect(stats.wakes).toBeGreaterThanOrEqual(ticks.size);
    expect(stats.wakes).toBeLessThanOrEqual(ticks.size * Math.max(1, stats.shards.length));
  });

  test('a timer that waits for company is live: it can be moved, and cancelled, and is handed back', async () => {
    const scheduler = await manual({ shards, slack: 1000 });
    const log: string[] = [];
    const [cancelled, moved, left] = ['cancelled', 'moved', 'left'].map((name) =>
      scheduler.schedule('a', 10, () => log.push(`${name} at ${scheduler.now()}`)),
    );
    await scheduler.advanceTo(500);
    expect([scheduler.has(left), scheduler.deadlineOf(left), await scheduler.nextExpiration()]).toEqual([
      true,
      10,
      512,
    ]);
    expect([scheduler.cancel(cancelled), scheduler.reschedule(moved, 2000)]).toEqual([true, true]);
    expect(await scheduler.close()).toMatchObject([
      { id: moved, deadline: 2000 },
      { id: left, deadline: 10 },
    ]);
    expect(log).toEqual([]);
  });
});

test.each([1, 2])('a shard that dies is built again with the ticks that its timers had: shards %i', async (shards) => {
  await using scheduler = await manual({ shards, slack: 100 });
  const deadlines = Array.from({ length: 300 }, (_, i) => 1 + i * 1.3);
  for (const deadline of deadlines) scheduler.schedule(deadline, deadline);
  const exact = scheduler.label('exact', { slack: 0 });
  for (let i = 0; i < 10; i++) exact.schedule(i, 301 + 2 * i);
  const before = await firingTicks(scheduler, 150); // of some the deadline has come, and not the tick
  for (let shard = 0; shard < shards; shard++) await restartShard(scheduler, shard);
  const after = await firingTicks(scheduler, 600);
  const expected = expectedTicks(deadlines, 100);
  for (let i = 0; i < 10; i++) expected.set(301 + 2 * i, 1 + (expected.get(301 + 2 * i) ?? 0));
  expect(new Map([...before, ...after])).toEqual(new Map([...expected].sort(([one], [other]) => one - other)));
});

describe.each([0, 1, 2])('timers of many slacks: shards %i', (shards) => {
  test(`come from their deadlines on, by their due ticks, and none is lost, seed ${SEED}`, async () => {
    const slacks = [0, 1, 3, 10, 63, 100, 1000];
    await using scheduler = await manual({ shards, slack: 7 });
    const callers = [scheduler, ...slacks.map((slack) => scheduler.label(`within ${slack}`, { slack }))];
    const draws = new Draws(SEED);
    const live = new Map<number, { slack: number; deadline: number; due: number; wasMoved: boolean }>();
    const ids: number[] = [];
    const wrong: string[] = [];
    const counts = { delivered: 0, moved: 0 };
    let now = 0;
    const fired = (name: number) => {
      const { deadline, due, wasMoved } = live.get(name)!;
      if (scheduler.now() < deadline) wrong.push(`${name} is early at ${scheduler.now()}: ${deadline}`);
      // One that was moved may come with an entry of its earlier tick, if its deadline has come by then.
      if (scheduler.now() < due && !wasMoved) wrong.push(`${name} came at ${scheduler.now()}, before ${due}`);
      live.delete(name);
      counts.delivered += 1;
    };
    for (let step = 0; step < 400; step++) {
      for (let i = 0; i < 20; i++) {
        const caller = draws.below(callers.length);
        const deadline = now + draws.between(-20, 400);
        const known = (slack: number) => ({ slack, deadline, due: dueTick(deadline, slack, 1, now) });
        const kind = draws.below(10);
        const name = kind < 6 ? ids.length : draws.below(ids.length || 1);
        const timer = live.get(name);
        if (kind < 6) {
          live.set(name, { ...known([7, ...slacks][caller]), wasMoved: false });
          ids.push(callers[caller].schedule(name, deadline, fired, name));
        } else if (kind === 9) {
          if (scheduler.cancel(ids[name]) !== live.delete(name)) wrong.push(`cancel of ${name}`);
        } else {
          const wasMoved = scheduler.reschedule(ids[name], deadline);
          if (wasMoved !== (timer !== undefined)) wrong.push(`reschedule of ${name}`);
          if (timer !== undefined) live.set(name, { ...known(timer.slack), wasMoved });
          counts.moved += 1;
        }
        if (scheduler.deadlineOf(ids[name]) !== live.get(name)?.deadline) wrong.push(`deadline of ${name}`);
      }
      now += draws.below(4) === 0 ? draws.between(0, 200) : draws.below(4);
      await scheduler.advanceTo(now);
      for (const [name, { due }] of live) if (due <= Math.floor(now)) wrong.push(`${name} is late at ${now}: ${due}`);
      expect(wrong).toEqual([]);
    }
    await scheduler.advanceTo(now + 2000);
    expect([wrong, live.size, scheduler.size]).toEqual([[], 0, 0]);
    expect(counts.delivered).toBeGreaterThan(2000);
    expect(counts.moved).toBeGreaterThan(1000);
  });

  test('those of one due tick come in the order in which they were scheduled, whatever slack has put them there', async () => {
    await using scheduler = await manual({ shards });
    const order: number[] = [];
    const deadlines = [100, 128, 3, 128, 90, 127.5, 66, 1, 128];
    for (const [i, deadline] of deadlines.entries()) {
      const slack = dueTick(deadline, 0, 1) === 128 ? 0 : 127;
      scheduler.label(`within ${slack}`, { slack }).schedule('one', deadline, (sequence) => order.push(sequence), i);
    }
    expect(await scheduler.advanceTo(127)).toBe(0);
    await scheduler.advanceTo(128);
    expect(order).toEqual(deadlines.map((_, i) => i));
  });

  test('the slack is the label’s: a timer that is moved keeps it, and a move to later is no command', async () => {
    await using scheduler = await manual({ shards, slack: 10 });
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    const lazy = scheduler.label('lazy', { slack: 1000 });
    const exact = scheduler.label('exact', { slack: 0 });
    expect([lazy.slack, exact.slack, scheduler.label('as the scheduler').slack]).toEqual([1000, 0, 10]);
    const [, late] = ['kept', 'late'].map((name) => lazy.schedule('a', 101, note, name));
    const sharp = exact.schedule('a', 101, note, 'sharp');
    const plain = scheduler.schedule('a', 101, note, 'plain');
    await scheduler.advanceTo(1); // all are filed
    const commands = async () => (await scheduler.stats()).shards[0].commands;
    const before = await commands();
    const moves = [
      scheduler.reschedule(sharp, 201),
      scheduler.reschedule(plain, 205),
      scheduler.rescheduleAfter(late, 1200),
    ];
    await scheduler.advanceTo(2);
    expect([moves, await commands()]).toEqual([[true, true, true], before]);
    for (let now = 3; now <= 2100; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['sharp at 201', 'plain at 208', 'kept at 1024', 'late at 2048']);
  });

  test('one that is moved while its fired record is on the way comes by its slack', async () => {
    await using scheduler = await manual({ shards });
    const log: string[] = [];
    const victims: number[] = [];
    const lazy = scheduler.label('lazy', { slack: 127 });
    const hasty = scheduler.label('hasty', { slack: 3 });
    scheduler.schedule('a', 128, () => {
      scheduler.reschedule(victims[0], 130);
      scheduler.reschedule(victims[1], 128); // the present waits for the next tick
      scheduler.reschedule(victims[2], 128);
    });
    for (const [name, label] of Object.entries({ later: lazy, now: lazy, past: hasty })) {
      victims.push(label.schedule('a', 128, () => log.push(`${name} at ${scheduler.now()}`)));
    }
    for (let now = 128; now <= 260; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['now at 129', 'past at 129', 'later at 256']);
  });

  test('all that take a label have its slack: groups, waits, signals', async () => {
    await using scheduler = await manual({ shards });
    const label = scheduler.label('lazy', { slack: 63 });
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    label.scheduleAfter('a', 5, note, 'after');
    const group = scheduler.group('a');
    label.schedule(group, 7, note, 'group');
    label.scheduleAfter(group, 7, note, 'group, after');
    scheduler.signalAfter(9, { label, workerHint: 'a' }).addEventListener('abort', () => note('signal'));
    const never = new Promise(() => undefined);
    const waits = [
      scheduler.withTimeout(never, 9, { label }).catch((error) => note(error.message)),
      scheduler.sleep(9, { label }).then(() => note('sleep')),
      scheduler.withTimeout(never, 9).catch(() => note('exact wait')),
    ];
    scheduler.schedule('a', 9, note, 'exact');
    for (let now = 1; now <= 64; now++) await scheduler.advanceTo(now);
    await Promise.all(waits);
    expect(log.splice(0, 2).sort()).toEqual(['exact at 9', 'exact wait at 9']);
    const lazy = ['after', 'group', 'group, after', 'signal', 'sleep', new TimeoutError(9, 'lazy').message];
    expect(log.sort()).toEqual(lazy.map((name) => `${name} at 64`).sort());
  });
});

test.each([0, 1])('a client has a slack of its own, and a wrong one is refused: shards %i', async (shards) => {
  await using owner = await manual({ shards, slack: 500 });
  await using client = ClientThread.connect(owner.share(), { slack: 63 });
  await using other = ClientThread.connect(owner.share());
  const [slack, none] = await Promise.all(
    [client, other].map((thread) =>
      thread.run(async ({ scheduler }) => {
        scheduler.schedule(1, 70);
        return [(await scheduler.stats()).slack, await scheduler.nextExpiration()];
      }),
    ),
  );
  owner.schedule(1, 70);
  expect([slack, none, await owner.nextExpiration()]).toEqual([[63, 128], [0, 70], 512]);
  expect(() => connectScheduler(owner.share(), { slack: -1 })).toThrow(
    'options.slack must be ms from 0 to 536870912, got -1',
  );
});
