import { createWheel, PinnedWheel, type WheelConfig } from '../../../src/entries/wheel.ts';
import type { Move } from './move.ts';
import { ReferenceWheel, type Refusal } from './reference-wheel.ts';
import { Violation } from './violation.ts';
import { WheelComparison } from './wheel-comparison.ts';

export interface DuelOptions {
  readonly config: WheelConfig;
  readonly start: number;
  readonly id: number;
  /** Most timers that may live at a time. */
  readonly room: number;
}

/** What a handler of a duel throws when it is asked to. */
const thrown = new Error('from a handler');

/**
 * A wheel and the reference do the same, and every answer is compared: results, errors, what fires, in what order, with
 * which id, value and deadline, at which `now`. Timers are picked by rank: their place in the reference's list.
 */
export class Duel extends WheelComparison {
  /** Moves made. */
  operations = 0;
  fired = 0;
  refusals = 0;
  /** Called in the wheel's handler, with the name of the timer that fired. */
  onFired: (name: number) => void = () => {};
  /** Is told each move. */
  record: ((move: Move) => void) | undefined = undefined;
  /** Ids that were live once. */
  readonly ended = new Float64Array(64).fill(Number.NaN);
  private endings = 0;
  private names = 0;
  /** Of the advance that is running: the last tick that is due, the limit, what has fired. */
  private target = 0;
  private limit = Number.POSITIVE_INFINITY;
  private firedNow = 0;
  private during: number | undefined = undefined;
  private readonly pinned: PinnedWheel<unknown> | undefined;
  /** Every id that was given out, where it is wanted. */
  private readonly seen: Set<number> | undefined;

  constructor({ config, start, id, room }: DuelOptions, remembersIds = false) {
    super(createWheel<unknown>(config, { start, id }), new ReferenceWheel(config, start, room));
    this.pinned = this.wheel instanceof PinnedWheel ? this.wheel : undefined;
    this.seen = remembersIds ? new Set() : undefined;
  }

  get isPinned(): boolean {
    return this.pinned !== undefined;
  }

  /** Whether a handler is running. */
  get isFiring(): boolean {
    return this.during !== undefined;
  }

  schedule(deadline: number, value: unknown, name = this.names++): void {
    const { model, wheel } = this;
    if (this.record !== undefined) this.note({ do: 'schedule', name, deadline, value });
    this.operations++;
    const refusal = this.refusalOf(deadline);
    if (refusal !== undefined) {
      this.expectError(refusal, () => wheel.schedule(deadline, value));
      return;
    }
    const id = wheel.schedule(deadline, value);
    this.takeId(id);
    model.schedule(deadline, value, id, name);
    this.compareClock();
  }

  /** Of a pinned wheel: a deadline beyond its bound is brought down to its last tick. */
  scheduleBestFit(deadline: number, value: unknown, name = this.names++): void {
    const { model, pinned } = this;
    const fitting = deadline < model.upperBound ? deadline : model.lastFitting;
    if (pinned === undefined || this.refusalOf(fitting) !== undefined) return;
    if (this.record !== undefined) this.note({ do: 'best fit', name, deadline, value });
    this.operations++;
    const { id, wheelDeadline } = pinned.scheduleBestFit(deadline, value);
    if (wheelDeadline !== fitting) throw new Violation('wheelDeadline', wheelDeadline, fitting);
    this.takeId(id);
    model.schedule(fitting, value, id, name);
    this.compareClock();
  }

  reschedule(rank: number, deadline: number): void {
    const { model, wheel } = this;
    const timer = model.order[rank];
    if (this.record !== undefined) this.note({ do: 'reschedule', name: model.names[timer], deadline });
    this.operations++;
    const refusal = model.refusalOf(deadline);
    const id = model.ids[timer];
    if (refusal !== undefined) {
      this.expectError(refusal, () => wheel.reschedule(id, deadline));
      this.compareTimer(timer);
      return;
    }
    if (wheel.reschedule(id, deadline) !== true) throw new Violation('reschedule of a live timer', false, true);
    model.rescheduleAt(rank, deadline);
    this.compareClock();
  }

  cancel(rank: number): void {
    const { model } = this;
    const id = model.ids[model.order[rank]];
    if (this.record !== undefined) this.note({ do: 'cancel', name: model.names[model.order[rank]] });
    this.operations++;
    if (this.wheel.cancel(id) !== true) throw new Violation('cancel of a live timer', false, true);
    model.removeAt(rank);
    this.endId(id);
    this.compareClock();
  }

  lookUp(rank: number): void {
    const timer = this.model.order[rank];
    if (this.record !== undefined) this.note({ do: 'look up', name: this.model.names[timer] });
    this.operations++;
    this.compareTimer(timer);
  }

  /** An id that is not live answers false and undefined. */
  tryStale(id: number, deadline: number): void {
    const { wheel } = this;
    if (this.record !== undefined) this.note({ do: 'stale', id, deadline });
    this.operations++;
    if (wheel.has(id)) throw new Violation(`has(${id}), a stale id`, true, false);
    if (wheel.get(id) !== undefined) throw new Violation(`get(${id}), a stale id`, wheel.get(id), undefined);
    if (wheel.deadlineOf(id) !== undefined)
      throw new Violation(`deadlineOf(${id}), a stale id`, wheel.deadlineOf(id), undefined);
    if (wheel.cancel(id) !== false) throw new Violation(`cancel(${id}), a stale id`, true, false);
    if (this.model.refusalOf(deadline) === undefined && wheel.reschedule(id, deadline) !== false) {
      throw new Violation(`reschedule(${id}), a stale id`, true, false);
    }
    this.compareClock();
  }

  /** A wheel that only notes the time knows its handler; `isFresh` passes another. */
  advance(to: number, limit?: number, isFresh = false): void {
    const { model, wheel } = this;
    if (this.record !== undefined) this.note({ do: 'advance', to, limit, isFresh });
    this.operations++;
    if (!Number.isFinite(to) || to >= model.time.end) {
      this.expectError('ERR_INVALID_DEADLINE', () => wheel.advanceTo(to, this.handler, limit));
      return;
    }
    this.target = model.time.intervalOf(to, model.tick);
    this.limit = limit ?? Number.POSITIVE_INFINITY;
    this.firedNow = 0;
    const handler: typeof this.handler = isFresh ? (value, id, at) => this.handler(value, id, at) : this.handler;
    try {
      const { fired, cascaded, complete, nextExpiration } = wheel.advanceTo(to, handler, limit);
      const isRest = model.nextTick <= this.target;
      if (fired !== this.firedNow) throw new Violation('fired', fired, this.firedNow);
      if (complete === isRest) throw new Violation('complete', complete, !isRest);
      if (isRest && fired !== limit) throw new Violation('fired by a call that stopped at its limit', fired, limit);
      if (!(cascaded >= 0 && (!this.isPinned || cascaded === 0))) throw new Violation('cascaded', cascaded, 0);
      if (!isRest) model.arrive(to);
      if (nextExpiration !== model.nextExpiration)
        throw new Violation('nextExpiration of the result', nextExpiration, model.nextExpiration);
    } catch (error) {
      if (error !== thrown) throw error;
    } finally {
      this.during = undefined;
    }
    this.compareClock();
  }

  clear(): void {
    const { model } = this;
    if (this.record !== undefined) this.note({ do: 'clear' });
    this.operations++;
    for (let rank = Math.max(0, model.size - 8); rank < model.size; rank++) this.endId(model.ids[model.order[rank]]);
    model.clear();
    this.wheel.clear();
    this.compareClock();
  }

  compareNext(): void {
    if (this.record !== undefined) this.note({ do: 'next' });
    this.operations++;
    const next = this.wheel.nextExpiration();
    if (next !== this.model.nextExpiration) throw new Violation('nextExpiration()', next, this.model.nextExpiration);
  }

  compareBound(): void {
    if (this.record !== undefined) this.note({ do: 'bound' });
    this.operations++;
    const { upperBound } = this.wheel;
    if (upperBound !== this.model.upperBound) throw new Violation('upperBound', upperBound, this.model.upperBound);
  }

  /** Of a pinned wheel: shows nowhere. */
  compact(): void {
    if (this.pinned === undefined) return;
    if (this.record !== undefined) this.note({ do: 'compact' });
    this.operations++;
    this.pinned.compact();
  }

  /** Everything that can be seen, and what cannot be seen from without. */
  inspect(): void {
    if (this.record !== undefined) this.note({ do: 'inspect' });
    this.operations++;
    this.compareAll();
  }

  /** In a handler: the wheel must not be advanced. */
  tryNested(): void {
    if (this.record !== undefined) this.note({ do: 'nested' });
    this.operations++;
    try {
      this.wheel.advanceTo(this.wheel.now + this.wheel.precision, this.handler);
    } catch (error) {
      if (error instanceof Error && error.message.includes('from within a handler')) return;
      throw error;
    }
    throw new Violation('advanceTo from within a handler', 'an answer', 'an error');
  }

  /** In a handler: never returns. */
  throw(): never {
    if (this.record !== undefined) this.note({ do: 'throw' });
    this.operations++;
    throw thrown;
  }

  /** Must stay the same function: it is by this that a wheel knows that nothing has changed. */
  private readonly handler = (value: unknown, id: number, deadline: number): void => {
    const { model, wheel } = this;
    if (model.nextTick > this.target) throw new Violation('fires', { id, deadline }, 'nothing, as nothing is due');
    if (++this.firedNow > this.limit) throw new Violation('timers fired', this.firedNow, this.limit);
    model.arriveAtNext();
    const timer = model.order[model.size - 1];
    const name = model.names[timer];
    if (id !== model.ids[timer]) throw new Violation(`fires in place of t${name}`, id, model.ids[timer]);
    if (!Object.is(value, model.values[timer])) throw new Violation(`value of t${name}`, value, model.values[timer]);
    if (deadline !== model.deadlines[timer])
      throw new Violation(`deadline of t${name}`, deadline, model.deadlines[timer]);
    model.removeAt(model.size - 1);
    this.endId(id);
    this.fired++;
    this.during = name;
    if (wheel.has(id)) throw new Violation(`t${name} is live in its handler`, true, false);
    this.compareClock();
    this.onFired(name);
  };

  private note(move: Move): void {
    this.record?.(this.during === undefined ? move : { ...move, during: this.during });
  }

  private refusalOf(deadline: number): Refusal | undefined {
    return this.model.refusalOf(deadline) ?? (this.model.isFull ? 'ERR_CAPACITY_EXCEEDED' : undefined);
  }

  private takeId(id: number): void {
    if (!(Number.isSafeInteger(id) && id > 0)) throw new Violation('an id', id, 'a safe integer');
    if (this.seen === undefined) return;
    if (this.seen.has(id)) throw new Violation('an id', id, 'one that was never given out');
    this.seen.add(id);
  }

  private endId(id: number): void {
    this.ended[this.endings++ & 63] = id;
  }

  private expectError(code: Refusal, call: () => unknown): void {
    let result: unknown;
    this.refusals++;
    try {
      result = call();
    } catch (error) {
      if ((error as { code?: unknown }).code !== code) throw error;
      this.compareClock();
      return;
    }
    throw new Violation('a call that must be refused', result, code);
  }
}
