import { checkInvariants, type TimingWheel } from '../../../src/entries/wheel.ts';
import type { ReferenceWheel } from './reference-wheel.ts';
import { Violation } from './violation.ts';

/** A wheel and the reference that it must agree with. Timers go by their numbers in the reference. */
export class WheelComparison {
  readonly wheel: TimingWheel<unknown>;
  readonly model: ReferenceWheel;

  constructor(wheel: TimingWheel<unknown>, model: ReferenceWheel) {
    this.wheel = wheel;
    this.model = model;
  }

  /** By what leaves a wheel as it is. */
  protected compareClock(): void {
    if (this.wheel.size !== this.model.size) throw new Violation('size', this.wheel.size, this.model.size);
    if (this.wheel.now !== this.model.now) throw new Violation('now', this.wheel.now, this.model.now);
  }

  protected compareTimer(timer: number): void {
    const { model, wheel } = this;
    const id = model.ids[timer];
    const name = model.names[timer];
    if (!wheel.has(id)) throw new Violation(`has(t${name})`, false, true);
    const value = wheel.get(id);
    if (!Object.is(value, model.values[timer])) throw new Violation(`get(t${name})`, value, model.values[timer]);
    const deadline = wheel.deadlineOf(id);
    if (deadline !== model.deadlines[timer])
      throw new Violation(`deadlineOf(t${name})`, deadline, model.deadlines[timer]);
  }

  /** Everything that can be seen, and what cannot be seen from without. */
  protected compareAll(): void {
    const { model, wheel } = this;
    checkInvariants(wheel.snapshot());
    const timers = new Map<number, number>();
    for (let rank = 0; rank < model.size; rank++) timers.set(model.ids[model.order[rank]], model.order[rank]);
    for (const { id, deadline, value } of wheel) {
      const timer = timers.get(id);
      if (timer === undefined) throw new Violation('an id met in iterating', id, 'a live one, met once');
      const expected = [model.deadlines[timer], model.values[timer]];
      if (deadline !== expected[0] || !Object.is(value, expected[1]))
        throw new Violation('a timer met in iterating', [deadline, value], expected);
      timers.delete(id);
    }
    if (timers.size > 0) throw new Violation('timers not met in iterating', timers.size, 0);
    const counted = wheel.memoryStats().levels.reduce((sum, level) => sum + level.timers, 0);
    if (counted !== model.size) throw new Violation('timers by level', counted, model.size);
  }
}
