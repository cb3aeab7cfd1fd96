import fc from 'fast-check';

/** What may be done between advances, and by a handler. */
export type Action =
  | { do: 'schedule'; ahead: number }
  | { do: 'schedule-last'; before: number }
  | { do: 'cancel' | 'stale'; pick: number }
  | { do: 'reschedule'; pick: number; ahead: number }
  | { do: 'throw' }
  | { do: 'clear' };

export type Operation =
  | Action
  | { do: 'many'; count: number; ahead: number; spread: number }
  | { do: 'advance'; by: number; limit: number | undefined; handlers: Action[][]; isFresh: boolean }
  | { do: 'idle'; parts: number }
  | { do: 'advance-to-next'; off: number; limit: number | undefined }
  | { do: 'advance-to-no-time'; pick: number };

/** With `look`, every invariant is checked afterwards. That wakes a quiet wheel, so it must not be done always. */
export interface Step {
  operation: Operation;
  look: boolean;
}

/** Distances in time, small ones and those around the powers of two more often than others. */
const distance = (most: number) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 12 }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: Math.min(most, 300) }) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: 1, max: Math.floor(Math.log2(most)) }), fc.integer({ min: -2, max: 2 }))
        .map(([bit, off]) => Math.max(0, 2 ** bit + off)),
    },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: most }) },
  );

const weighted = <T>(...parts: [number, fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...parts.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const of = <K extends string>(...kinds: K[]) => fc.constantFrom(...kinds);
const limit = fc.constantFrom(undefined, undefined, undefined, Number.POSITIVE_INFINITY, 0, 0, 1, 1, 2, 3, 5);

const action = (most: number): fc.Arbitrary<Action> =>
  weighted<Action>(
    [24, fc.record({ do: of('schedule'), ahead: distance(most).map((ahead) => ahead - 2) })],
    [1, fc.record({ do: of('schedule-last'), before: fc.integer({ min: -2, max: 3 }) })],
    [12, fc.record({ do: of('cancel'), pick: fc.nat() })],
    [4, fc.record({ do: of('stale'), pick: fc.nat() })],
    [12, fc.record({ do: of('reschedule'), pick: fc.nat(), ahead: distance(most).map((ahead) => ahead - 1) })],
    [4, fc.constant({ do: 'throw' })],
    [2, fc.constant({ do: 'clear' })],
  );

const operation = (most: number): fc.Arbitrary<Operation> =>
  weighted<Operation>(
    [10, action(most)],
    [
      1,
      fc.record({
        do: of('many'),
        count: fc.integer({ min: 1, max: 150 }),
        ahead: distance(most),
        spread: fc.integer({ min: 1, max: 3 }),
      }),
    ],
    [
      6,
      fc.record({
        do: of('advance'),
        by: distance(most).map((by) => by - 1),
        limit,
        handlers: fc.array(fc.array(action(most), { maxLength: 3 }), { maxLength: 4 }),
        isFresh: fc.constantFrom(false, false, true),
      }),
    ],
    [5, fc.record({ do: of('idle'), parts: fc.integer({ min: 0, max: 7 }) })],
    [2, fc.record({ do: of('advance-to-next'), off: fc.integer({ min: -1, max: 1 }), limit })],
    [1, fc.record({ do: of('advance-to-no-time'), pick: fc.nat() })],
  );

/** `most`: the farthest that a step goes. */
export const script = (most: number, maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(fc.record({ operation: operation(most), look: fc.constantFrom(false, false, true) }), {
    maxLength,
    size: 'max',
  });
