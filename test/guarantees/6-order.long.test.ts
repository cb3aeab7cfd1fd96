import type { Scheduler, WheelConfig } from 'shardwheel';
import { describe, expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';
import { blockLoop, pass, turn, until } from '../fixtures/event-loop.ts';
import { readyScheduler } from '../fixtures/ready-scheduler.ts';
import { restartShard } from '../fixtures/shard-threads.ts';

interface Entry {
  due: number;
  sequence: number;
  shard: number;
}

/** Schedules timers that write down when they were delivered, and knows in which order that must have been. */
class Book {
  readonly delivered: Entry[] = [];
  private readonly expected = new Map<number, Entry>();
  private readonly scheduler: Scheduler;
  private readonly tick: number;
  private sequence = 0;

  constructor(scheduler: Scheduler, tick = 1) {
    this.scheduler = scheduler;
    this.tick = tick;
  }

  schedule(hint: number | string, deadline: number): number {
    // A deadline that has come is due at the next tick.
    const due = Math.max(Math.ceil(deadline / this.tick), Math.floor(this.scheduler.now() / this.tick) + 1);
    const entry = { due, sequence: this.sequence++, shard: this.scheduler.shardOf(hint) };
    const id = this.scheduler.schedule(hint, deadline, (timer) => this.delivered.push(timer), entry);
    this.expected.set(id, entry);
    return id;
  }

  cancel(id: number): void {
    if (this.scheduler.cancel(id)) this.expected.delete(id);
  }

  expectOrder(shards: number): void {
    for (let shard = 0; shard < Math.max(1, shards); shard++) {
      const due = [...this.expected.values()].filter((entry) => entry.shard === shard);
      due.sort((one, other) => one.due - other.due || one.sequence - other.sequence);
      const delivered = this.delivered.filter((entry) => entry.shard === shard);
      expect(delivered.length).toBe(due.length);
      const wrong = due.findIndex((entry, i) => entry !== delivered[i]);
      if (wrong >= 0) expect(delivered.slice(wrong, wrong + 5)).toEqual(due.slice(wrong, wrong + 5));
    }
    expect(this.delivered.length).toBe(this.expected.size);
  }
}

describe.each([0, 1, 2])('guarantee 6, order: shards %i', (shards) => {
  test.each([1, 0.25, 3])(`by due tick, then as scheduled; slots are reused, seed ${SEED}, tick %f`, async (tick) => {
    await using scheduler = await readyScheduler({ shards, tick, clock: 'manual', capacity: 300 });
    const draws = new Draws(SEED);
    const book = new Book(scheduler, tick);
    const ids: number[] = [];
    let now = 0;
    while (ids.length < 6000) {
      // Never more than the capacity of one shard are live, and each slot has some twenty timers in the end.
      while (scheduler.size < 300) ids.push(book.schedule(draws.below(50), now + draws.between(-3, 700) * tick));
      for (let i = 0; i < 60; i++) book.cancel(ids[ids.length - 1 - draws.below(300)]);
      now += draws.between(0, 60) * tick;
      await scheduler.advanceTo(now);
    }
    await scheduler.advanceTo(now + 1000 * tick);
    book.expectOrder(shards);
  });

  test.each([0, 8])(
    'of one deadline that passes while its timers are being scheduled, others %i ms before it among them',
    async (spread) => {
      await using scheduler = await readyScheduler({ shards });
      const count = 120_000;
      const deadline = scheduler.now() + 10;
      const delivered: number[] = [];
      const note = (sequence: number) => delivered.push(sequence);
      for (let i = 0; i < count; i++) {
        const own = deadline - (i % 3 === 1 ? spread : 0);
        scheduler.schedule('one', own, note, i);
        if (i % 40_000 === 39_999) blockLoop(3); // the shard fires in between, as far as its budget goes
      }
      await until(() => delivered.length === count);
      const before = new Float64Array(2).fill(-1); // by whether the deadline is the later one
      for (const sequence of delivered) {
        const kind = sequence % 3 === 1 ? 0 : 1;
        if (sequence < before[kind]) expect.fail(`${sequence} came after ${before[kind]}`);
        before[kind] = sequence;
      }
    },
  );

  test('of timers that callbacks schedule', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 5000 });
    const draws = new Draws(SEED);
    const book = new Book(scheduler);
    for (let i = 0; i < 1500; i++) {
      scheduler.schedule(i, draws.between(0, 300), () => book.schedule(i, scheduler.now() + draws.between(-2, 40)));
    }
    for (let now = 0; now < 400; now += draws.below(9)) await scheduler.advanceTo(now);
    expect(book.delivered.length).toBe(1500);
    book.expectOrder(shards);
  });

  test('one jump over three years delivers in the order of ticks, however many turns it takes', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 20_000, maxBatch: 100 });
    const draws = new Draws(SEED);
    const book = new Book(scheduler);
    const years = 3 * 365 * 86_400_000;
    for (let i = 0; i < 10_000; i++) book.schedule(i, draws.below(i % 5 === 0 ? years : 1000));
    expect(await scheduler.advanceTo(years)).toBe(10_000);
    book.expectOrder(shards);
  });

  test('a timer that was scheduled long ahead comes before one of its tick that was scheduled later', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 200 });
    const book = new Book(scheduler);
    const due = 2 ** 33 + 5000;
    for (const ahead of [due, 2 ** 32, 2 ** 31, 2 ** 30 + 1, 2 ** 30 - 1, 70_000, 300, 100, 1]) {
      await scheduler.advanceTo(due - ahead);
      for (let i = 0; i < 10; i++) book.schedule(i, due - (i % 2));
    }
    await scheduler.advanceTo(due);
    book.expectOrder(shards);
  });

  test('so it does on a wheel of 256 ticks that holds no list of what lies beyond', async () => {
    const wheel: WheelConfig = { engine: 'cascading', precision: 1, levelBits: [4, 4], overflow: 'throw' };
    await using scheduler = await readyScheduler({ shards, wheel, clock: 'manual', capacity: 200 });
    const book = new Book(scheduler);
    for (let now = 0; now < 1000; now += 10) {
      await scheduler.advanceTo(now);
      book.schedule('one shard', 1000);
    }
    await scheduler.advanceTo(1000);
    book.expectOrder(shards);
  });

  test('rescheduled timers stand in the order of their new ticks', async () => {
    await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 2000 });
    const draws = new Draws(SEED);
    const dues: number[] = [];
    const moved = new Map<number, number>();
    const note = (_: unknown, id: number) => dues.push(moved.get(id) as number);
    for (let i = 0; i < 1000; i++) moved.set(scheduler.schedule('one shard', 1 + draws.below(500), note), 0);
    for (const id of draws.shuffle([...moved.keys()])) {
      const due = 1 + draws.below(500);
      scheduler.reschedule(id, due);
      moved.set(id, due);
    }
    await scheduler.advanceTo(500);
    expect(dues).toEqual([...moved.values()].sort((one, other) => one - other));
  });

  test('on the real clock, also when the loop was blocked until all were overdue', async () => {
    const draws = new Draws(SEED);
    for (let isInTime = false; !isInTime; ) {
      await using scheduler = await readyScheduler({ shards, capacity: 4096 });
      const book = new Book(scheduler);
      const start = Math.ceil(scheduler.now()) + 150;
      for (let i = 0; i < 3000; i++) book.schedule(i, start + draws.below(60));
      isInTime = scheduler.now() < start; // else the machine was too busy: some were overdue when they were scheduled
      await turn();
      await pass(20);
      blockLoop(300);
      await until(() => scheduler.size === 0);
      if (isInTime) book.expectOrder(shards);
    }
  });
});

test.each([
  [0, 2000],
  [1, 2000],
  [2, 2000],
  [1, 20_000], // more than the rings hold
])(
  'guarantee 6, order, though the loop stood still when a thread was to hear of timers: shards %i, twice %i timers',
  async (shards, count) => {
    const draws = new Draws(SEED);
    for (let rounds = 0; rounds < 3; ) {
      await using scheduler = await readyScheduler({ shards, capacity: 2 ** 17 });
      const book = new Book(scheduler);
      const start = Math.ceil(scheduler.now()) + 300;
      for (let i = 0; i < count; i++) book.schedule(i, start + draws.below(100));
      scheduler.schedule(0, start - 290); // in its turn the thread is told of all
      await pass(100);
      for (let i = 0; i < count; i++) book.schedule(i, start + draws.below(100)); // which it is to hear of later
      // else the machine was too busy: some were overdue when they were scheduled
      const isInTime = scheduler.now() < start;
      blockLoop(start + 250 - scheduler.now());
      while (scheduler.size > 0) {
        const next = await scheduler.nextExpiration();
        if (scheduler.size > 0) expect(next, 'all are overdue').toBeLessThanOrEqual(scheduler.now() + 1);
        await turn();
      }
      if (!isInTime) continue;
      book.expectOrder(shards);
      rounds += 1;
    }
  },
);

test.each([1, 2])(
  `guarantee 6, order, wherever the loop stands still, and whoever asks the shards then: shards %i, seed ${SEED}`,
  async (shards) => {
    const draws = new Draws(SEED);
    for (let rounds = 0; rounds < 8; ) {
      await using scheduler = await readyScheduler({ shards, capacity: 2 ** 16 });
      const book = new Book(scheduler);
      const asks = [() => scheduler.stats(), () => scheduler.nextExpiration(), () => Promise.resolve()];
      const start = Math.ceil(scheduler.now()) + 200;
      const schedule = () => {
        for (let i = draws.below(2000); i > 0; i--) book.schedule(i, start + draws.below(150));
      };
      for (let calls = 1 + draws.below(3); calls > 0; calls--) {
        schedule();
        await draws.pick([() => turn(), () => pass(30), ...asks])();
      }
      schedule();
      const isInTime = scheduler.now() < start;
      blockLoop(start + draws.below(250) - scheduler.now());
      while (scheduler.size > 0) await draws.pick([() => turn(), ...asks])();
      if (!isInTime) continue; // as above
      book.expectOrder(shards);
      rounds += 1;
    }
  },
);

test.each([1, 2])('guarantee 6, order by due tick across a restart: shards %i', async (shards) => {
  await using scheduler = await readyScheduler({ shards, clock: 'manual', capacity: 2000 });
  const draws = new Draws(SEED);
  const dues: number[][] = Array.from({ length: shards }, () => []);
  for (let i = 0; i < 1500; i++) {
    const due = 1 + draws.below(600);
    scheduler.schedule(i, due, () => dues[scheduler.shardOf(i)].push(due));
  }
  await scheduler.advanceTo(100);
  for (let shard = 0; shard < shards; shard++) {
    const restarted = restartShard(scheduler, shard);
    await scheduler.advanceTo(300 + shard); // overdue when the successor starts
    await restarted;
  }
  await scheduler.advanceTo(600);
  for (const list of dues) expect(list).toEqual([...list].sort((one, other) => one - other));
  expect(dues.flat().length).toBe(1500);
});
