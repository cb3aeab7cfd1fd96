import { connectScheduler, createScheduler, InvalidArgumentError, InvalidConfigError, TimeoutError } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { badValues } from '../fixtures/bad-values.ts';
import { ClientThread } from '../fixtures/client-thread.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { manual } from './manual.ts';
import { dueTick } from './slack-model.ts';

interface Known {
  caller: number;
  deadline: number;
  due: number;
  wasMoved: boolean;
}

describe.each([0, 1, 2])('timers of many slacks: shards %i', (shards) => {
  test(`come from their deadlines on, by their due ticks, and none is lost, seed ${SEED}`, async () => {
    const slacks = [0, 1, 3, 10, 63, 100, 1000];
    await using scheduler = await manual({ shards, slack: 7 });
    const callers = [scheduler, ...slacks.map((slack) => scheduler.label(`within ${slack}`, { slack }))];
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
        const kind = draws.below(10);
        if (kind < 6) {
          const name = names++;
          live.set(name, { caller, deadline, due: dueTick(deadline, slackOf(caller), 1, now), wasMoved: false });
          ids.set(name, callers[caller].schedule(name, deadline, fired, name));
          continue;
        }
        const name = draws.below(names || 1);
        const id = ids.get(name) ?? 0;
        const timer = live.get(name);
        const isLive = timer !== undefined;
        if (kind === 9) {
          if (scheduler.cancel(id) !== isLive) wrong.push(`cancel of ${name}`);
          live.delete(name);
        } else {
          if (scheduler.reschedule(id, deadline) !== isLive) wrong.push(`reschedule of ${name}`);
          if (isLive)
            Object.assign(timer, { deadline, due: dueTick(deadline, slackOf(timer.caller), 1, now), wasMoved: true });
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
    const [kept, late] = ['kept', 'late'].map((name) => lazy.schedule('a', 101, note, name));
    const sharp = exact.schedule('a', 101, note, 'sharp');
    const plain = scheduler.schedule('a', 101, note, 'plain');
    await scheduler.advanceTo(1); // all are filed
    const commands = async () => (await scheduler.stats()).shards[0].commands;
    const before = await commands();
    expect(scheduler.reschedule(sharp, 201)).toBe(true);
    expect(scheduler.reschedule(plain, 205)).toBe(true);
    expect(scheduler.rescheduleAfter(late, 1200)).toBe(true);
    await scheduler.advanceTo(2);
    expect(await commands()).toBe(before);
    for (let now = 3; now <= 2100; now++) await scheduler.advanceTo(now);
    expect(log).toEqual(['sharp at 201', 'plain at 208', 'kept at 1024', 'late at 2048']);
    expect([kept, late, sharp, plain].map((id) => scheduler.has(id))).toEqual([false, false, false, false]);
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
    const cancelled = scheduler.group('a');
    label.scheduleAfter(cancelled, 7, note, 'cancelled');
    expect([group.size, cancelled.cancelAll()]).toEqual([2, 1]);
    const signal = scheduler.signalAfter(9, { label, workerHint: 'a' });
    signal.addEventListener('abort', () => note('signal'));
    const wait = scheduler.withTimeout(new Promise(() => undefined), 9, { label }).catch((error) => {
      expect(error).toEqual(new TimeoutError(9, 'lazy'));
      note('wait');
    });
    const slept = scheduler.sleep(9, { label }).then(() => note('sleep'));
    scheduler.schedule('a', 9, note, 'exact');
    scheduler.withTimeout(new Promise(() => undefined), 9).catch(() => note('exact wait'));
    for (let now = 1; now <= 64; now++) await scheduler.advanceTo(now);
    await Promise.all([wait, slept]);
    expect(log.slice(0, 2).sort()).toEqual(['exact at 9', 'exact wait at 9']);
    expect(log.slice(2).sort()).toEqual(
      ['after', 'group', 'group, after', 'signal', 'sleep', 'wait'].map((name) => `${name} at 64`),
    );
  });
});

test('wrong slacks are refused, and shown', async () => {
  await using scheduler = createScheduler({ shards: 0, capacity: 16 });
  let refused = 0;
  for (const { name, value, shown } of badValues) {
    if (value === 2.5 || value === undefined) continue;
    const call = () => scheduler.label('lazy', { slack: value as number });
    expect(call, name).toThrow(InvalidArgumentError);
    expect(call, name).toThrow(`The options.slack must be ms from 0 to 536870912, got ${shown}`);
    refused += 1;
  }
  expect(refused).toBe(18);
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
