import fc from 'fast-check';
import type { SchedulerOptions } from 'shardwheel';

/** One thing that a client does at once; `pick` chooses among all ids that were ever given, `hint` among the hints. */
export type SmallAction =
  | { kind: 'schedule' | 'scheduleAfter'; hint: number; by: number; then: readonly SmallAction[]; throws: boolean }
  | { kind: 'scheduleMany'; hint: number; by: number; count: number }
  | { kind: 'cancel' | 'cancelMany' | 'query'; pick: number }
  | { kind: 'reschedule' | 'rescheduleAfter'; pick: number; by: number }
  | { kind: 'hostile'; call: number; pick: number }
  | { kind: 'ref' | 'close' };

/** One thing that takes turns of the event loop. */
export type Action =
  | SmallAction
  | { kind: 'advance'; by: number }
  | { kind: 'nextExpiration' }
  | { kind: 'stats' }
  | { kind: 'turn' }
  | { kind: 'crash'; shard: number };

/** Mostly near, at times on the edges of levels, at times far. */
const by = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -8, max: 60 }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 3000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 2 ** 34 }) },
);
const pick = fc.nat({ max: 1000 });
const hint = fc.nat({ max: 5 });
const of = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds);

const weighted = <T>(...parts: [number, fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const plain: fc.Arbitrary<SmallAction> = weighted<SmallAction>(
  [6, fc.record({ kind: of('cancel', 'cancelMany', 'query'), pick })],
  [6, fc.record({ kind: of('reschedule', 'rescheduleAfter'), pick, by })],
  [2, fc.record({ kind: of('hostile'), call: pick, pick })],
  [1, fc.record({ kind: of('ref') })],
);

const scheduling = (then: fc.Arbitrary<readonly SmallAction[]>): fc.Arbitrary<SmallAction> =>
  fc.record({ kind: of('schedule', 'scheduleAfter'), hint, by, then, throws: fc.boolean() });

/** What a callback does: among other things it schedules timers whose callbacks do something in turn. */
const inner = weighted<SmallAction>(
  [12, plain],
  [6, scheduling(fc.array(weighted<SmallAction>([4, plain], [2, scheduling(fc.constant([]))]), { maxLength: 2 }))],
  [1, fc.record({ kind: of('close') })],
);

export const action: fc.Arbitrary<Action> = weighted<Action>(
  [8, plain],
  [
    10,
    scheduling(
      fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.array(inner, { maxLength: 3 }) }),
    ),
  ],
  [2, fc.record({ kind: of('scheduleMany'), hint, by, count: fc.nat({ max: 24 }) })],
  [9, fc.record({ kind: of('advance'), by })],
  [1, fc.record({ kind: of('nextExpiration') })],
  [1, fc.record({ kind: of('stats') })],
  [1, fc.record({ kind: of('turn') })],
  [1, fc.record({ kind: of('crash'), shard: fc.nat({ max: 1 }) })],
);

/** Mostly inline, since a run on threads takes fifty times as long. */
export const options: fc.Arbitrary<SchedulerOptions & { tick: number; shards: number }> = fc.record({
  shards: weighted<number>([30, fc.constant(0)], [1, fc.constant(1)], [1, fc.constant(2)]),
  tick: fc.constantFrom(1, 0.25, 16),
  maxBatch: fc.constantFrom(1, 3, 8192),
  wheel: fc.constantFrom<NonNullable<SchedulerOptions['wheel']>>(
    'default',
    { engine: 'cascading', precision: 1, levelBits: [1, 1, 1] },
    { engine: 'cascading', precision: 1, levelBits: [3, 2, 4] },
    { engine: 'cascading', precision: 1, levelBits: [6, 6, 6, 6, 6, 6] },
  ),
});
