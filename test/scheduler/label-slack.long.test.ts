import { connectScheduler, createScheduler, InvalidArgumentError, InvalidConfigError, TimeoutError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { dueTick } from './slack-model.ts';

interface Known {
  deadline: number;
  due: number;
  wasMoved: boolean;
}

describe.each([0, 1, 2])('timers of many slacks: shards %i', (shards) => {
  test(`come from their deadlines on, by their due ticks, and none is lost, seed ${SEED}`, async () => {
    const slacks = [0, 1, 3, 10, 63, 100, 1000];
    await using scheduler = createScheduler({ shards, slack: 7, clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const callers = [scheduler, ...slacks.map((slack) => scheduler.withSlack(slack))];
    const slackOf = (caller: number) => (caller === 0 ? 7 : slacks[caller - 1]);
    const draws = new Draws(SEED);
    const live = new Map<number, Known>();
    const wrong: string[] = [];
    let now = 0;
    let delivered = 0;
    const fired = (name: number) => {
      const timer = live.get(name) as Known;
      const at = Math.floor(scheduler.now());
      if (scheduler.now() < timer.deadline) wrong.push(`${name} is early at ${at}: ${timer.deadline}`);
      // One that was moved may come with an entry of its earlier tick, if its deadline has come by then.
      if (at < timer.due && !timer.wasMoved) wrong.push(`${name} came at ${at}, before ${timer.due}`);
      live.delete(name);
      delivered += 1;
    };
    const ids = new Map<number, number>();
    let names = 0;
    let moves = 0;
    for (let step = 0; step < 400; step++) {
      for (let i = 0; i < 20; i++) {
        const caller = draws.below(callers.length);
        const deadline = now + draws.between(-20, 400);
        const due = dueTick(deadline, slackOf(caller), 1, now);
        const kind = draws.below(10);
        if (kind < 6) {
          const name = names++;
          live.set(name, { deadline, due, wasMoved: false });
          ids.set(name, callers[caller].schedule(name, deadline, fired, name));
          continue;
        }
        const name = draws.below(names || 1);
        const id = ids.get(name) ?? 0;
        const isLive = live.has(name);
        if (kind === 9) {
          if (scheduler.cancel(id) !== isLive) wrong.push(`cancel of ${name}`);
          live.delete(name);
        } else {
          if (callers[caller].reschedule(id, deadline) !== isLive) wrong.push(`reschedule of ${name}`);
          if (isLive) live.set(name, { deadline, due, wasMoved: true });
          moves += 1;
        }
        if (live.has(name) && scheduler.deadlineOf(id) !== live.get(name)?.deadline) wrong.push(`deadline of ${name}`);
      }
      now += draws.below(4) === 0 ? draws.between(0, 200) : draws.below(4);
      await scheduler.advanceTo(now);
      for (const [name, { due }] of live) if (due <= Math.floor(now)) wrong.push(`${name} is late at ${now}: ${due}`);
      expect(wrong).toEqual([]);
    }
    await scheduler.advanceTo(now + 2000);
    expect([wrong, live.size, scheduler.size]).toEqual([[], 0, 0]);
    expect(delivered).toBeGreaterThan(2000);
    expect(moves).toBeGreaterThan(1000);
  });

  test('those of one due tick come in the order in which they were scheduled, whatever slack has put them there', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 4096 });
    await scheduler.ready;
    const order: number[] = [];
    const deadlines = [100, 128, 3, 128, 90, 127.5, 66, 1, 128];
    for (const [i, deadline] of deadlines.entries()) {
      const slack = dueTick(deadline, 0, 1) === 128 ? 0 : 127;
      scheduler.withSlack(slack).schedule('one', deadline, (sequence) => order.push(sequence), i);
    }
    expect(await scheduler.advanceTo(127)).toBe(0);
    await scheduler.advanceTo(128);
    expect(order).toEqual(deadlines.map((_, i) => i));
  });

  test('the slack is the call’s: a timer that is moved comes by the slack of the move, to earlier or to later', async () => {
    await using scheduler = createScheduler({ shards, slack: 10, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const log: string[] = [];
    const lazy = scheduler.withSlack(1000);
    const exact = scheduler.withSlack(0);
    const [kept, soon, late, mid] = ['kept', 'soon', 'late', 'mid'].map((name) =>
      lazy.schedule('a', 101, () => log.push(`${name} at ${scheduler.now()}`)),
    );
    await scheduler.advanceTo(1); // all are filed, at 1024
    expect(exact.reschedule(soon, 201)).toBe(true); // a later deadline with an earlier due tick
    expect(scheduler.reschedule(mid, 205)).toBe(true);
    expect(lazy.rescheduleAfter(late, 1200)).toBe(true);
    for (let now = 2; now <= 2100; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['soon at 201', 'mid at 208', 'kept at 1024', 'late at 2048']);
    expect([kept, soon, late, mid].map((id) => scheduler.has(id))).toEqual([false, false, false, false]);
  });

  test('one that is moved while its fired record is on the way comes by the slack of the move', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const log: string[] = [];
    const victims: number[] = [];
    scheduler.schedule('a', 10, () => {
      scheduler.withSlack(127).reschedule(victims[0], 15);
      scheduler.withSlack(127).reschedule(victims[1], 10); // the present waits for the next tick
      scheduler.withSlack(3).reschedule(victims[2], 10);
    });
    for (const name of ['later', 'now', 'past']) {
      victims.push(scheduler.schedule('a', 10, () => log.push(`${name} at ${scheduler.now()}`)));
    }
    for (let now = 10; now <= 130; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['past at 12', 'later at 128', 'now at 128']);
  });

  test('all calls that give a time have it: many at once, groups, waits, signals', async () => {
    await using scheduler = createScheduler({ shards, clock: 'manual', capacity: 64 });
    await scheduler.ready;
    const lazy = scheduler.withSlack(63);
    expect(lazy.slack).toBe(63);
    const log: string[] = [];
    const note = (name: string) => log.push(`${name} at ${scheduler.now()}`);
    scheduler.on('fired', ({ length }) => note(`${length} of many`));
    const [first] = lazy.scheduleMany([1, 1, 1], [5, 10, 15]);
    expect(scheduler.cancel(first)).toBe(true);
    lazy.scheduleAfter('a', 5, note, 'after');
    const group = lazy.group('a');
    group.schedule(7, note, 'group');
    group.scheduleAfter(7, note, 'group, after');
    const cancelled = lazy.group('a');
    cancelled.scheduleAfter(7, note, 'cancelled');
    expect([group.size, cancelled.cancelAll()]).toEqual([2, 1]);
    const signal = scheduler.signalAfter(9, { slack: 63, workerHint: 'a' });
    signal.addEventListener('abort', () => note('signal'));
    const wait = scheduler.timeout(new Promise(() => undefined), 9, { slack: 63 }).catch((error) => {
      expect(error).toBeInstanceOf(TimeoutError);
      note('wait');
    });
    scheduler.schedule('a', 9, note, 'exact');
    scheduler.timeout(new Promise(() => undefined), 9).catch(() => note('exact wait'));
    for (let now = 1; now <= 64; now++) await scheduler.advanceTo(now);
    await wait;
    expect(log.slice(0, 2).sort()).toEqual(['exact at 9', 'exact wait at 9']);
    expect(log.slice(2).sort()).toEqual(
      ['2 of many', 'after', 'group', 'group, after', 'signal', 'wait'].map((name) => `${name} at 64`),
    );
  });
});

test('a call that throws leaves the scheduler its own slack', async () => {
  await using scheduler = createScheduler({ shards: 0, slack: 3, clock: 'manual', capacity: 4 });
  const lazy = scheduler.withSlack(1000);
  const throwing = [
    () => lazy.schedule('a', Number.NaN),
    () => lazy.scheduleAfter('a', Number.NaN),
    () => lazy.reschedule(1, Number.NaN),
    () => lazy.rescheduleAfter(1, Number.NaN),
    () => lazy.scheduleMany([1], [Number.NaN]),
    () => lazy.group(Number.NaN),
    () => scheduler.signalAfter(5, { slack: 1000, workerHint: Number.NaN }),
    () => lazy.scheduleMany([1, 2, 3, 4, 5], [1, 2, 3, 4, 5]),
  ];
  for (const call of throwing) expect(call).toThrow();
  expect((await scheduler.stats()).slack).toBe(3);
  scheduler.schedule('a', 5);
  expect(await scheduler.nextExpiration()).toBe(8);
});

test('wrong slacks are refused, and shown', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 16 });
  let refused = 0;
  for (const { name, value, shown } of badValues) {
    if (value === 2.5) continue;
    const calls = [
      () => scheduler.withSlack(value as number),
      ...(value === undefined ? [] : [() => scheduler.signalAfter(5, { slack: value as number })]),
    ];
    for (const call of calls) {
      expect(call, name).toThrow(InvalidArgumentError);
      expect(call, name).toThrow(`The slack must be ms from 0 to 536870912, got ${shown}`);
      refused += 1;
    }
    if (value === undefined) continue;
    const wait = scheduler.timeout(Promise.race([]), 5, { slack: value as number });
    await expect(wait, name).rejects.toThrow(InvalidArgumentError);
    refused += 1;
  }
  expect(refused).toBe(19 + 18 + 18);
  expect(() => createScheduler({ shards: 0, tick: 0.25, slack: 2 ** 28 })).toThrow(InvalidConfigError);
  expect(() => createScheduler({ shards: 0, tick: 0.25, slack: 2 ** 28 })).toThrow(
    'options.slack must be ms from 0 to 134217728, got 268435456',
  );
  expect(scheduler.size).toBe(0);
});

describe('a client has a slack of its own', () => {
  test.each([0, 1])('shards %i', async (shards) => {
    await using owner = createScheduler({ shards, slack: 500, clock: 'manual' });
    await owner.ready;
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
  });

  test('a wrong one is refused', async () => {
    await using owner = createScheduler({ shards: 0 });
    await using thread = ClientThread.connect(owner.share(), { slack: -1 });
    await thread.ended;
    expect(thread.errors.map(({ message }) => message)).toEqual([
      'options.slack must be ms from 0 to 536870912, got -1',
    ]);
    expect(() => connectScheduler(owner.share(), { slack: Number.NaN })).toThrow('got NaN');
  });
});
