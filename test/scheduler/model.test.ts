import fc from 'fast-check';
import { createScheduler, type Scheduler, type SchedulerOptions } from 'shardwheel';
import { expect, test } from 'vitest';
import { SEED } from '../fixtures/draws.ts';
import { SortedModel } from './sorted-model.ts';

/** One thing that a client does; `pick` chooses among all ids that were ever given. */
type Action =
  | { kind: 'schedule' | 'scheduleAfter'; by: number; inCallback: Action | undefined }
  | { kind: 'scheduleMany'; by: number; count: number }
  | { kind: 'cancel' | 'cancelMany'; pick: number }
  | { kind: 'reschedule' | 'rescheduleAfter'; pick: number; by: number }
  | { kind: 'advance'; by: number }
  | { kind: 'nextExpiration' };

const CAPACITY = 24;

/** Drives a scheduler and the model side by side. Times count in quarters of a tick, so that all sums are exact. */
class Pair {
  readonly scheduler: Scheduler;
  readonly model: SortedModel;
  readonly faults: string[] = [];
  private readonly unit: number;
  private readonly ids: number[] = [];
  private isAdvancing = false;

  constructor(scheduler: Scheduler, tick: number) {
    this.scheduler = scheduler;
    this.model = new SortedModel(tick);
    this.unit = tick / 4;
    scheduler.on('fired', ({ ids, length }) => {
      for (const id of ids.subarray(0, length)) this.delivered(id);
    });
  }

  async run(action: Action): Promise<void> {
    if (action.kind === 'advance') {
      const now = this.model.now + Math.max(0, action.by) * this.unit;
      const before = this.model.delivered;
      this.isAdvancing = true;
      const delivered = await this.scheduler.advanceTo(now);
      this.isAdvancing = false;
      this.model.now = now;
      this.expectSame('delivered', delivered, this.model.delivered - before);
      this.expectSame('overdue', this.model.overdue(), []);
      this.expectSame('now', this.scheduler.now(), this.model.now);
    } else if (action.kind === 'nextExpiration') {
      this.expectSame('nextExpiration', await this.scheduler.nextExpiration(), this.model.nextExpiration());
    } else {
      this.runAtOnce(action);
    }
    this.expectSame('size', this.scheduler.size, this.model.live.length);
    for (const { id, deadline } of this.model.live)
      this.expectSame('deadline', this.scheduler.deadlineOf(id), deadline);
    for (const id of this.model.ended) this.expectSame('has', this.scheduler.has(id), false);
  }

  private runAtOnce(action: Action): void {
    const { scheduler, model } = this;
    if (action.kind === 'schedule' || action.kind === 'scheduleAfter') {
      const { inCallback } = action;
      const callback = inCallback && ((_: unknown, id: number) => this.delivered(id, inCallback));
      const deadline = model.now + action.by * this.unit;
      const schedule = () =>
        action.kind === 'schedule'
          ? scheduler.schedule('a', deadline, callback)
          : scheduler.scheduleAfter('a', action.by * this.unit, callback);
      this.scheduleUnlessFull(1, () => this.scheduled(schedule(), deadline));
    } else if (action.kind === 'scheduleMany') {
      const deadlines = Array.from({ length: action.count }, (_, i) => model.now + (action.by + i) * this.unit);
      this.scheduleUnlessFull(action.count, () => {
        const ids = scheduler.scheduleMany(new Array(action.count).fill(1), deadlines);
        for (const [i, id] of ids.entries()) this.scheduled(id, deadlines[i]);
      });
    } else if (action.kind === 'cancel') {
      const id = this.pick(action.pick);
      this.expectSame('cancel', scheduler.cancel(id), model.cancel(id));
    } else if (action.kind === 'cancelMany') {
      const ids = [0, 1, 2, 0].map((i) => this.pick(action.pick + i));
      this.expectSame('cancelMany', scheduler.cancelMany(ids), ids.filter((id) => model.cancel(id)).length);
    } else if (action.kind === 'reschedule' || action.kind === 'rescheduleAfter') {
      const id = this.pick(action.pick);
      const deadline = model.now + action.by * this.unit;
      const moved =
        action.kind === 'reschedule'
          ? scheduler.reschedule(id, deadline)
          : scheduler.rescheduleAfter(id, action.by * this.unit);
      this.expectSame('reschedule', moved, model.move(id, deadline, this.isAdvancing));
    }
  }

  private delivered(id: number, then?: Action): void {
    this.model.now = this.scheduler.now(); // a long way is gone in steps
    const fault = this.model.deliver(id);
    if (fault !== undefined) this.faults.push(fault);
    if (then !== undefined) this.runAtOnce(then);
  }

  private scheduled(id: number, deadline: number): void {
    if (this.ids.includes(id)) this.faults.push(`${id} was given twice`);
    this.ids.push(id);
    this.model.schedule(id, deadline);
  }

  private scheduleUnlessFull(count: number, schedule: () => void): void {
    const isFull = this.model.live.length + count > CAPACITY;
    try {
      schedule();
      if (isFull) this.faults.push('scheduled beyond the capacity');
    } catch (error) {
      if (!isFull) throw error;
      expect(error).toMatchObject({ code: 'ERR_CAPACITY_EXCEEDED' });
    }
  }

  private pick(at: number): number {
    return this.ids.length === 0 ? 7 : this.ids[at % this.ids.length];
  }

  private expectSame(what: string, given: unknown, wanted: unknown): void {
    if (JSON.stringify(given) !== JSON.stringify(wanted)) {
      this.faults.push(`${what}: ${JSON.stringify(given)} instead of ${JSON.stringify(wanted)}`);
    }
  }
}

/** Mostly near, at times on the edges of levels, at times far. */
const by = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -8, max: 60 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 34 }) },
);
const pick = fc.nat({ max: 1000 });
const small: fc.Arbitrary<Action> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('schedule' as const, 'scheduleAfter' as const),
    by,
    inCallback: fc.constant(undefined),
  }),
  fc.record({ kind: fc.constantFrom('cancel' as const, 'cancelMany' as const), pick }),
  fc.record({ kind: fc.constantFrom('reschedule' as const, 'rescheduleAfter' as const), pick, by }),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: small },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('schedule' as const, 'scheduleAfter' as const),
      by,
      inCallback: fc.option(small, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('scheduleMany' as const), by, count: fc.nat({ max: CAPACITY }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('advance' as const), by }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('nextExpiration' as const) }) },
);
const options: fc.Arbitrary<SchedulerOptions & { tick: number }> = fc.record({
  tick: fc.constantFrom(1, 0.25, 16),
  maxBatch: fc.constantFrom(1, 3, 8192),
  wheel: fc.constantFrom<NonNullable<SchedulerOptions['wheel']>>(
    'default',
    { engine: 'cascading', precision: 1, levelBits: [1, 1, 1] },
    { engine: 'cascading', precision: 1, levelBits: [3, 2, 4] },
    { engine: 'cascading', precision: 1, levelBits: [6, 6, 6, 6, 6, 6] },
  ),
});

/** Many more in `npm run test:slow`. */
const RUNS = process.env.SHARDWHEEL_SLOW === '1' ? 20_000 : 600;

test(`any sequence of operations does what a sorted array would, seed ${SEED}`, async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(options, fc.array(action, { minLength: 1, maxLength: 80 }), async (chosen, actions) => {
      await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: CAPACITY, ...chosen });
      const pair = new Pair(scheduler, chosen.tick);
      for (const each of actions) {
        await pair.run(each);
        expect(pair.faults).toEqual([]);
      }
      const live = pair.model.live.map(({ id }) => id);
      const unfired = (await scheduler.close()).map(({ id }) => id);
      expect(unfired.sort()).toEqual(live.sort());
      runs += 1;
    }),
    { seed: SEED, numRuns: RUNS },
  );
  expect(runs).toBe(RUNS);
});
