import { expect, test, vi } from 'vitest';
import { AllocationError } from '../../src/errors.ts';
import type { TableView } from '../../src/lane/table-view.ts';
import { createScheduler } from '../../src/scheduler/create-scheduler.ts';
import { Scheduler } from '../../src/scheduler/scheduler.ts';
import { ScannedTable } from '../../src/shard/scanned-table.ts';
import type { ServedLane } from '../../src/shard/served-lane.ts';
import { Draws, SEED } from '../fixtures/draws.ts';
import { until } from '../fixtures/event-loop.ts';

const memory = vi.hoisted(() => ({ isRefused: false, isRefusedLater: false, made: 0 }));

vi.mock('../../src/wheel/create-index.ts', async (importOriginal) => {
  const { createTickIndex } = await importOriginal<typeof import('../../src/wheel/create-index.ts')>();
  const refusing: typeof createTickIndex = (...given) => {
    if (memory.isRefused) throw new AllocationError(1, new Error('refused by the test'));
    memory.made += 1;
    const index = createTickIndex(...given);
    const advanceTo = index.advanceTo.bind(index);
    index.advanceTo = (...steps) => {
      if (memory.isRefusedLater) throw new AllocationError(1, new Error('refused by the test'));
      return advanceTo(...steps);
    };
    return index;
  };
  return { createTickIndex: refusing };
});

/** A scheduler in this thread on a clock that the test moves, and the lane that it serves. */
function scan(capacity: number) {
  memory.isRefused = true;
  const scheduler = createScheduler({ shards: 0, clock: 'manual', capacity });
  const servedLane = () => {
    const [host] = Scheduler.coordinatorOf(scheduler).hosts;
    const { inline } = host as unknown as { inline: { server?: { built: { shard: { lanes: ServedLane[] } } } } };
    return inline.server?.built.shard.lanes[0];
  };
  return { scheduler, servedLane };
}

test('without memory for an index every timer comes when it is due, in the order of due ticks', async () => {
  const draws = new Draws(SEED);
  const { scheduler, servedLane } = scan(2 ** 14);
  const live = new Map<number, number>(); // by id: the deadline
  let [now, last, delivered, scans] = [0, 0, 0, 0];
  const fire = (_: unknown, id: number): void => {
    const due = Math.ceil(live.get(id) ?? Number.NaN);
    expect(due >= last && due <= now, `${due} from ${last} to ${now}, seed ${SEED}`).toBe(true);
    last = due;
    live.delete(id);
    delivered += 1;
  };
  for (let step = 0; step < 100; step++) {
    for (let i = draws.below(600); i > 0; i--) {
      const deadline = now + draws.between(0.1, 4000);
      live.set(scheduler.schedule(i, deadline, fire), deadline);
    }
    for (const id of live.keys()) {
      if (draws.below(20) > 0) continue;
      if (draws.below(2) === 0 && scheduler.cancel(id)) live.delete(id);
      else {
        const deadline = now + draws.between(0.1, 4000);
        scheduler.reschedule(id, deadline);
        live.set(id, deadline);
      }
    }
    last = 0;
    now += draws.below(300);
    await scheduler.advanceTo(now);
    const overdue = [...live.values()].filter((deadline) => Math.ceil(deadline) <= now);
    expect(overdue, `seed ${SEED}`).toEqual([]);
    expect(scheduler.size).toBe(live.size);
    if ((servedLane()?.index.size ?? 0) > 0) scans += 1; // else they are few, and all in the list
  }
  expect(servedLane()?.index).toBeInstanceOf(ScannedTable);
  expect((await scheduler.wheels())[0].levels).toEqual([]);
  expect(delivered).toBeGreaterThan(10_000);
  expect(scans).toBeGreaterThan(50);
  expect((await scheduler.close()).length).toBe(live.size);
});

test('memory that becomes free is taken: an index is built for the timers that there are', async () => {
  const { scheduler, servedLane } = scan(64);
  const order: number[] = [];
  for (const deadline of [30, 10, 20]) scheduler.schedule(0, deadline, (given: number) => order.push(given), deadline);
  await scheduler.advanceTo(10);
  expect([order, servedLane()?.index instanceof ScannedTable]).toEqual([[10], true]);
  memory.isRefused = false;
  let now = 10;
  await until(() => {
    now += 0.001;
    void scheduler.advanceTo(now);
    const index = servedLane()?.index;
    return index !== undefined && !(index instanceof ScannedTable);
  });
  await scheduler.advanceTo(30);
  expect(order).toEqual([10, 20, 30]);
  await scheduler.close();
});

test('where an index can be made and cannot go on, the table is read, and the index made again after longer and longer pauses', async () => {
  const COUNT = 6000;
  Object.assign(memory, { isRefused: false, isRefusedLater: true, made: 0 });
  const scheduler = createScheduler({ shards: 0, capacity: 2 ** 14 });
  const causes: unknown[] = [];
  scheduler.on('error', (error) => causes.push((error as Error).cause));
  let fired = 0;
  const count = (): void => {
    fired += 1;
  };
  for (let i = 0; i < COUNT; i++) scheduler.scheduleAfter(i, 1 + (i % 400), count);
  await until(() => fired === COUNT);
  expect(memory.made).toBeGreaterThan(0);
  expect(memory.made).toBeLessThan(8); // after 1 s, 2 s, …: however slow this machine is
  expect(causes.length).toBe(memory.made);
  expect(causes.every((cause) => cause instanceof AllocationError)).toBe(true);

  memory.isRefusedLater = false;
  const { made } = memory;
  const { inline } = Scheduler.coordinatorOf(scheduler).hosts[0] as unknown as { inline: { scans: boolean } };
  await until(() => {
    scheduler.scheduleAfter(1, 1, () => undefined);
    return !inline.scans;
  });
  expect(memory.made).toBeGreaterThan(made);
  await scheduler.close();
});

/** A table and its index, beside no lane: what it asks of the table is counted. */
function scanAlone(slots: number) {
  const tags = new Int32Array(slots);
  const dues = new Float64Array(slots);
  let looks = 0;
  const dueTickOf = (slot: number): number => {
    looks += 1;
    return dues[slot];
  };
  const table = { tagOf: (slot: number) => tags[slot], dueTickOf } as unknown as TableView;
  const index = new ScannedTable(table, 0);
  const owner = { wantedAt: (slot: number) => (tags[slot] === 1 ? dues[slot] : -1) };
  /** Begins a timer, or moves one: to earlier by a command, to later by the table alone. */
  const put = (slot: number, due: number): void => {
    const isFiled = tags[slot] === 1 && due >= dues[slot];
    [tags[slot], dues[slot]] = [1, due];
    if (isFiled) return;
    index.remove(slot);
    index.insert(slot, due);
  };
  return { tags, dues, index, owner, put, looks: () => looks };
}

test('what is handed over in small portions costs no look through the table for each', () => {
  const [TIMERS, PORTION] = [20_000, 10];
  const { index, owner, put, looks } = scanAlone(TIMERS);
  for (let slot = 0; slot < TIMERS; slot++) put(slot, 1 + ((slot * 7919) % 997));
  let handedOver = 0;
  const due = (): void => {
    handedOver += 1;
  };
  while (!index.advanceTo(1000, { due, prefetch: () => undefined }, PORTION)) index.nextWanted(owner);
  expect(handedOver).toBe(TIMERS);
  expect(looks() / TIMERS).toBeLessThan(2 * (TIMERS / 512));
});

test('portions, moves and ends between them: each timer comes once, when the table says, in the order of ticks', () => {
  const SLOTS = 3000;
  const draws = new Draws(SEED);
  const { tags, dues, index, owner, put } = scanAlone(SLOTS);
  let [now, last, delivered] = [0, 0, 0];
  const due = (slot: number, tick: number): void => {
    if (tags[slot] === 0) return; // it has ended since the table was looked through
    expect(tick, `slot ${slot}, seed ${SEED}`).toBe(dues[slot]);
    expect(tick >= last && tick <= now, `${tick} from ${last} to ${now}, seed ${SEED}`).toBe(true);
    [tags[slot], last] = [0, tick];
    delivered += 1;
    if (draws.below(10) === 0) put(draws.below(SLOTS), index.now + 1 + draws.below(40));
  };
  for (let step = 0; step < 3000; step++) {
    for (let some = draws.below(40); some > 0; some--) {
      const slot = draws.below(SLOTS);
      if (draws.below(4) === 0) tags[slot] = 0;
      else put(slot, index.now + 1 + draws.below(40));
    }
    if (draws.below(2) === 0) {
      const first = dues.reduce(
        (least, tick, slot) => (tags[slot] === 1 && tick < least ? tick : least),
        Number.POSITIVE_INFINITY,
      );
      expect(index.nextWanted(owner), `seed ${SEED}`).toBe(first);
    }
    now += draws.below(10) === 0 ? draws.below(30) : draws.below(2);
    const isDone = index.advanceTo(now, { due, prefetch: () => undefined }, draws.below(60));
    const isOverdue = dues.some((tick, slot) => tags[slot] === 1 && tick <= now);
    if (isDone) expect(isOverdue, `seed ${SEED}`).toBe(false);
  }
  expect(delivered).toBeGreaterThan(10_000);
});
