import { expect } from 'vitest';
import { checkInvariants } from '../../src/wheel/check-invariants.ts';
import { createWheel } from '../../src/wheel/create-wheel.ts';
import type { TimingWheel } from '../../src/wheel/timing-wheel.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import { ModelWheel } from './model-wheel.ts';
import { noTimes } from './no-times.ts';
import type { Action, Operation, Step } from './wheel-script.ts';

class FromHandler extends Error {}

/** Runs a script on a wheel and on the model, comparing everything that can be seen. */
export class ScriptRun {
  steps = 0;
  private readonly wheel: TimingWheel<number>;
  private readonly model: ModelWheel;
  private readonly ids = new Map<number, number>();
  private readonly ended: number[] = [];
  private names = 0;
  /** Of the advance that is running. */
  private to = 0;
  private fired = 0;
  private handlers: Action[][] = [];

  constructor(config: WheelConfig, start: number) {
    this.wheel = createWheel<number>(config, { start });
    this.model = new ModelWheel(config, start);
  }

  run(steps: Step[]): void {
    for (const { operation, look } of steps) {
      this.operate(operation);
      this.compare();
      if (look) checkInvariants(this.wheel.snapshot());
      this.steps++;
    }
    this.advance(Math.min(this.wheel.now + 2 ** 20 * this.wheel.precision, this.model.lastTime));
    this.compare();
    checkInvariants(this.wheel.snapshot());
  }

  private operate(operation: Operation): void {
    if (operation.do === 'many') {
      for (let i = 0; i < operation.count; i++) {
        this.act({ do: 'schedule', ahead: operation.ahead + (i % operation.spread) });
      }
    } else if (operation.do === 'advance') {
      this.advance(this.wheel.now + operation.by, operation.limit, operation.handlers, operation.isFresh);
    } else if (operation.do === 'idle') {
      const next = this.wheel.nextExpiration() ?? this.wheel.now + 100;
      this.advance(this.wheel.now + Math.floor(((next - this.wheel.now) * operation.parts) / 8));
    } else if (operation.do === 'advance-to-next') {
      const next = this.wheel.nextExpiration();
      if (next !== undefined) this.advance(next + operation.off, operation.limit);
    } else if (operation.do === 'advance-to-no-time') {
      const times = noTimes(this.wheel.now + 1);
      this.expectRefused(times[operation.pick % times.length]);
    } else if (operation.do !== 'throw') {
      this.act(operation);
    }
  }

  private act(action: Action): void {
    const live = [...this.ids.keys()];
    if (action.do === 'schedule') {
      this.schedule(this.wheel.now + action.ahead);
    } else if (action.do === 'schedule-last') {
      if (this.model.isExact) this.schedule(action.before < -1 ? 1e300 : this.model.end - action.before);
    } else if (action.do === 'stale') {
      if (this.ended.length === 0) return;
      const id = this.ended[action.pick % this.ended.length];
      expect([this.wheel.cancel(id), this.wheel.has(id), this.wheel.get(id), this.wheel.deadlineOf(id)]).toEqual([
        false,
        false,
        undefined,
        undefined,
      ]);
      if (this.model.refusal(this.wheel.now) !== undefined) return;
      expect(this.wheel.reschedule(id, this.wheel.now)).toBe(false);
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

  private schedule(deadline: number): void {
    const refusal = this.model.refusal(deadline);
    if (refusal !== undefined) {
      const code = refusal === 'far' ? 'ERR_DEADLINE_TOO_FAR' : 'ERR_INVALID_DEADLINE';
      expect(() => this.wheel.schedule(deadline, -1)).toThrow(expect.objectContaining({ code }));
      return;
    }
    const name = this.names++;
    this.ids.set(name, this.wheel.schedule(deadline, name));
    this.model.schedule(name, deadline);
  }

  /** A wheel is quiet for the handler that it knows; `isFresh` passes another one. */
  private advance(to: number, limit?: number, handlers: Action[][] = [], isFresh = false): void {
    if (to >= this.model.end) {
      this.expectRefused(to);
      return;
    }
    [this.to, this.fired, this.handlers] = [to, 0, handlers];
    const handler: typeof this.onFire = isFresh ? (name, id, at) => this.onFire(name, id, at) : this.onFire;
    try {
      const result = this.wheel.advanceTo(to, handler, limit);
      expect(result.fired).toBe(this.fired);
      const next = this.model.nextExpiration();
      const rest = next !== undefined && next <= to;
      expect(result.complete).toBe(!rest);
      if (rest) expect(this.fired).toBe(limit);
      else this.model.arrive(to);
      expect(result.nextExpiration).toBe(next);
    } catch (error) {
      if (!(error instanceof FromHandler)) throw error;
    }
    expect(this.fired).toBeLessThanOrEqual(limit ?? Number.POSITIVE_INFINITY);
  }

  private readonly onFire = (name: number, id: number, deadline: number): void => {
    const expected = this.model.fireNext(this.to);
    expect({ name, deadline, now: this.wheel.now }).toEqual({
      name: expected?.name,
      deadline: expected?.deadline,
      now: this.model.now,
    });
    expect(this.ids.get(name)).toBe(id);
    expect(this.wheel.has(id)).toBe(false);
    this.end(name);
    this.fired++;
    const actions = this.handlers[(this.fired - 1) % Math.max(1, this.handlers.length)] ?? [];
    if (this.fired < 40) for (const action of actions) this.act(action);
    expect(this.wheel.nextExpiration()).toBe(this.model.nextExpiration());
  };

  private expectRefused(time: unknown): void {
    expect(() => this.wheel.advanceTo(time as number, this.onFire)).toThrow(
      expect.objectContaining({ code: 'ERR_INVALID_DEADLINE' }),
    );
  }

  private end(name: number): void {
    this.ended.push(this.ids.get(name) as number);
    this.ids.delete(name);
  }

  /** Only by what leaves a quiet wheel quiet. */
  private compare(): void {
    expect(this.wheel.size).toBe(this.model.size);
    expect(this.wheel.now).toBe(this.model.now);
    expect(this.wheel.nextExpiration()).toBe(this.model.nextExpiration());
    for (const name of this.model.names().slice(-5)) {
      const id = this.ids.get(name) as number;
      expect(this.wheel.deadlineOf(id)).toBe(this.model.deadlineOf(name));
      expect(this.wheel.get(id)).toBe(name);
    }
  }
}
