import { createScheduler, type Scheduler, type TimerGroup } from 'shardwheel';
import { expect, test } from 'vitest';
import { Draws, SEED } from '../fixtures/draws.ts';

/** More than a group has places for, and so few slots that a timer often gets one that another group remembers. */
const CAPACITY = 48;
const GROUPS = 8;
const STEPS = 10_000;

/** The model: each live timer's group, by number; those of no group have none. */
class Model {
  readonly live = new Map<number, { group: number | undefined; deadline: number }>();

  idsOf(group: number): number[] {
    return [...this.live].filter(([, timer]) => timer.group === group).map(([id]) => id);
  }
}

function startOne(scheduler: Scheduler, groups: readonly TimerGroup[], model: Model, draws: Draws): void {
  if (model.live.size === CAPACITY) return;
  const of = draws.below(3) === 0 ? 0 : draws.below(GROUPS + 3); // the first group is the large one
  const group = of < GROUPS ? of : undefined;
  const deadline = scheduler.now() + 1 + draws.below(200);
  const hint = group === undefined ? 1 : groups[group];
  const id =
    draws.below(4) === 0
      ? scheduler.label('some').schedule(hint, deadline)
      : scheduler.schedule(hint, deadline, () => undefined);
  expect(model.live.has(id)).toBe(false);
  model.live.set(id, { group, deadline });
}

async function advance(scheduler: Scheduler, model: Model, draws: Draws): Promise<void> {
  await scheduler.advanceTo(scheduler.now() + draws.below(30));
  for (const [id, { deadline }] of model.live) if (deadline <= scheduler.now()) model.live.delete(id);
}

function cancelGroup(groups: readonly TimerGroup[], model: Model, draws: Draws): void {
  const group = draws.below(GROUPS);
  const ids = model.idsOf(group);
  expect(groups[group].cancelAll()).toBe(ids.length);
  for (const id of ids) model.live.delete(id);
}

test(`random use of groups that share slots, beside timers of none: as sets of ids (seed ${SEED})`, async () => {
  await using scheduler = createScheduler({ shards: 0, clock: 'manual', capacity: CAPACITY });
  const draws = new Draws(SEED);
  const model = new Model();
  const groups = Array.from({ length: GROUPS }, () => scheduler.group(1));
  let most = 0;
  for (let step = 0; step < STEPS; step++) {
    const choice = draws.below(100);
    if (choice < 60) {
      startOne(scheduler, groups, model, draws);
    } else if (choice < 85 && model.live.size > 0) {
      const id = draws.pick([...model.live.keys()]);
      expect(scheduler.cancel(id)).toBe(true);
      model.live.delete(id);
    } else if (choice < 92) {
      await advance(scheduler, model, draws);
    } else if (choice < 97) {
      cancelGroup(groups, model, draws);
    } else {
      // Seldom: a group drops stale ids when it is asked.
      const sizes = groups.map((group) => group.size);
      expect(sizes).toEqual(groups.map((_, group) => model.idsOf(group).length));
      most = Math.max(most, ...sizes);
    }
    expect(scheduler.size).toBe(model.live.size);
    expect([...model.live.keys()].every((id) => scheduler.has(id))).toBe(true);
  }
  expect(most).toBeGreaterThan(10);
});
