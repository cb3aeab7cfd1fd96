import fc from 'fast-check';
import { expect } from 'vitest';
import { checkInvariants } from '../../src/wheel/check-invariants.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import type { TimingWheel } from '../../src/wheel/timing-wheel.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { ModelWheel } from './model-wheel.ts';

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

export type Action =
  | { do: 'schedule'; ahead: number }
  | { do: 'cancel' | 'stale'; pick: number }
  | { do: 'reschedule'; pick: number; ahead: number }
  | { do: 'throw' }
  | { do: 'clear' };

export type Step =
  | Action
  | { do: 'many'; count: number; ahead: number; spread: number }
  | { do: 'advance'; by: number; limit: number; handlers: Action[] }
  | { do: 'advance-to-next'; off: number; limit: number };

const action = (most: number): fc.Arbitrary<Action> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('schedule' as const), ahead: distance(most).map((d) => d - 2) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('stale' as const), pick: fc.nat() }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant('reschedule' as const), pick: fc.nat(), ahead: distance(most) }),
    },
    { weight: 1, arbitrary: fc.constant({ do: 'throw' as const }) },
  );

export const script = (most: number, maxLength: number): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.oneof(
      { weight: 10, arbitrary: action(most) as fc.Arbitrary<Step> },
      {
        weight: 1,
        arbitrary: fc.record({
          do: fc.constant('many' as const),
          count: fc.integer({ min: 1, max: 150 }),
          ahead: distance(most),
          spread: fc.integer({ min: 1, max: 3 }),
        }),
      },
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('advance' as const),
          by: distance(most).map((d) => d - 1),
          limit: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.constant(1), fc.integer({ min: 0, max: 5 })),
          handlers: fc.array(action(most), { maxLength: 4 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant('advance-to-next' as const),
          off: fc.integer({ min: -1, max: 1 }),
          limit: fc.constantFrom(1, Number.POSITIVE_INFINITY),
        }),
      },
      { weight: 1, arbitrary: fc.constant({ do: 'clear' as const }) },
    ),
    { maxLength, size: 'max' },
  );

class FromHandler extends Error {}

/** Runs a script on a wheel and on the model, comparing everything that can be seen and checking invariants after every step. */
export class ScriptRun {
  steps = 0;
  private readonly wheel: TimingWheel<number>;
  private readonly model: ModelWheel;
  private readonly ids = new Map<number, number>();
  private readonly ended: number[] = [];
  private names = 0;

  constructor(config: WheelConfig, start: number) {
    this.wheel = createWheel<number>(config, { start });
    this.model = new ModelWheel(config, start);
  }

  run(steps: Step[]): void {
    for (const step of steps) {
      this.step(step);
      this.compare();
      this.steps++;
    }
    this.advance(this.wheel.now + 2 ** 20 * this.wheel.precision, Number.POSITIVE_INFINITY, []);
    this.compare();
  }

  private step(step: Step): void {
    if (step.do === 'many') {
      for (let i = 0; i < step.count; i++) this.act({ do: 'schedule', ahead: step.ahead + (i % step.spread) });
    } else if (step.do === 'advance') {
      this.advance(this.wheel.now + step.by, step.limit, step.handlers);
    } else if (step.do === 'advance-to-next') {
      const next = this.wheel.nextExpiration();
      if (next !== undefined) this.advance(next + step.off, step.limit, []);
    } else if (step.do !== 'throw') {
      this.act(step);
    }
  }

  private act(action: Action): void {
    const live = [...this.ids.keys()];
    if (action.do === 'schedule') {
      const deadline = this.wheel.now + action.ahead;
      const refusal = this.model.refusal(deadline);
      if (refusal !== undefined) {
        const code = refusal === 'far' ? 'ERR_DEADLINE_TOO_FAR' : 'ERR_INVALID_DEADLINE';
        expect(() => this.wheel.schedule(deadline, -1)).toThrow(expect.objectContaining({ code }));
        return;
      }
      const name = this.names++;
      this.ids.set(name, this.wheel.schedule(deadline, name));
      this.model.schedule(name, deadline);
    } else if (action.do === 'stale') {
      if (this.ended.length === 0) return;
      const id = this.ended[action.pick % this.ended.length];
      expect([this.wheel.cancel(id), this.wheel.has(id), this.wheel.get(id), this.wheel.deadlineOf(id)]).toEqual([
        false,
        false,
        undefined,
        undefined,
      ]);
      expect(this.wheel.reschedule(id, this.wheel.now + 1)).toBe(false);
    } else if (action.do === 'clear') {
      this.wheel.clear();
      this.model.clear();
      for (const name of live) this.end(name);
    } else if (action.do === 'throw') {
      throw new FromHandler();
    } else if (live.length > 0) {
      const name = live[action.pick % live.length];
      const id = this.ids.get(name) as number;
      if (action.do === 'reschedule') {
        const deadline = this.wheel.now + action.ahead;
        if (this.model.refusal(deadline) !== undefined) return;
        expect(this.wheel.reschedule(id, deadline)).toBe(true);
        this.model.reschedule(name, deadline);
      } else {
        expect(this.wheel.cancel(id)).toBe(true);
        this.model.cancel(name);
        this.end(name);
      }
    }
  }

  private advance(to: number, limit: number, handlers: Action[]): void {
    let fired = 0;
    let thrown = false;
    const handler = (name: number, id: number, deadline: number): void => {
      const expected = this.model.fireNext(to);
      expect({ name, deadline, now: this.wheel.now }).toEqual({
        name: expected?.name,
        deadline: expected?.deadline,
        now: this.model.now,
      });
      expect(this.ids.get(name)).toBe(id);
      expect(this.wheel.has(id)).toBe(false);
      this.end(name);
      fired++;
      const action = handlers[(fired - 1) % Math.max(1, handlers.length)];
      if (action !== undefined && fired < 40) this.act(action);
      expect(this.wheel.nextExpiration()).toBe(this.model.nextExpiration());
    };
    try {
      const result = this.wheel.advanceTo(to, handler, limit);
      expect(result.fired).toBe(fired);
      const next = this.model.nextExpiration();
      const rest = next !== undefined && next <= to;
      expect(result.complete).toBe(!rest);
      if (rest) expect(fired).toBe(limit);
      else this.model.arrive(to);
      expect(result.nextExpiration).toBe(next);
    } catch (error) {
      if (!(error instanceof FromHandler)) throw error;
      thrown = true;
    }
    if (!thrown) expect(fired).toBeLessThanOrEqual(limit);
  }

  private end(name: number): void {
    this.ended.push(this.ids.get(name) as number);
    this.ids.delete(name);
  }

  private compare(): void {
    expect(this.wheel.size).toBe(this.model.size);
    expect(this.wheel.now).toBe(this.model.now);
    expect(this.wheel.nextExpiration()).toBe(this.model.nextExpiration());
    for (const name of this.model.names().slice(-5)) {
      const id = this.ids.get(name) as number;
      expect(this.wheel.deadlineOf(id)).toBe(this.model.deadlineOf(name));
      expect(this.wheel.get(id)).toBe(name);
    }
    checkInvariants(this.wheel.snapshot());
  }
}
