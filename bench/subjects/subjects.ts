import FlatQueue from 'flatqueue';
import { createWheel } from '../../src/extras/wheels/create-wheel.ts';
import type { TimingWheel } from '../../src/extras/wheels/timing-wheel.ts';
import { type PresetName, presets } from '../../src/wheel/presets.ts';
import type { WheelConfig } from '../../src/wheel/wheel-config.ts';
import type { SubjectEntry } from '../engine/suite.ts';
import { FAST_TICK, FastTimers } from './fast-timers.ts';
import { ID_YARDSTICK, IdYardstick } from './id-yardstick.ts';
import { PeriodicTimerWheel } from './periodic-timer-wheel.ts';
import type { FireSink, WheelSubject, WheelSubjectFactory } from './wheel-subject.ts';

export const DRIVER = 'driver alone';
const HEAP = 'flatqueue';
export const TIMER_WHEEL = 'npm timer-wheel';
const FAST_TIMERS = "undici's fast timers";

/**
 * Nanoseconds per millisecond for the presets that count in them: a power of two, so that their tick is the workload's.
 */
const NS = 2 ** 20;

interface WheelSubjectEntry extends SubjectEntry {
  readonly create: WheelSubjectFactory;
  /** The most that it may be late, ms. */
  readonly lateBy: number;
}

const preset = (name: PresetName, note: string, lateBy = 0): WheelSubjectEntry => ({
  name,
  note,
  lateBy,
  create: (capacity, sink) =>
    isMilliseconds(name) ? new PresetSubject(name, capacity, sink) : new ScaledPresetSubject(name, capacity, sink),
});

/** Who takes part in the wheel's workloads. */
const wheelSubjects: readonly WheelSubjectEntry[] = [
  { name: DRIVER, note: 'the loop and its tally, no timers', lateBy: 0, create: () => new NoWheel() },
  {
    name: ID_YARDSTICK,
    note: '4 × 256 slots, doubly linked lists, ids and values: a plain wheel that gives the service of createWheel',
    lateBy: 0,
    create: (capacity, sink) => new IdYardstickSubject(capacity, sink),
  },
  preset('default', 'createWheel: ids, values, deadlines; 1 ms per tick'),
  preset('janestreet', '1 ms per tick; asked for 1 ms earlier, as it fires after the deadline, not at it'),
  preset(
    'pinned3',
    'ticks of 2^20, 2^30, 2^36 ns, 2^20 ns being a millisecond here; late by its coarser levels',
    2 ** 16,
  ),
  preset('ustack', '1 ms per tick'),
  preset('twolevel', 'ticks of 2^20 ns, being a millisecond here'),
  preset('blitz', '1 ms per tick'),
  { name: HEAP, note: 'binary heap, lazy cancellation', lateBy: 0, create: (n, sink) => new HeapSubject(n, sink) },
  {
    name: TIMER_WHEEL,
    note: 'ticks of 1,024 ms; advanced at their ends only, as it loses timers else; up to 2 s late',
    lateBy: 2048,
    create: (capacity, sink) => new PeriodicTimerWheel(capacity, sink),
  },
  {
    name: FAST_TIMERS,
    note: 'its own ticks of 499 ms, on the clock of the workload; asked for one of them more, as it is up to one early',
    lateBy: 2 * FAST_TICK,
    create: (capacity, sink) => new FastTimers(capacity, sink),
  },
];

/** Whether nothing of a subject ever fires: it is there to show what the rest costs. */
export const hasNoTimers = (name: string): boolean => name === DRIVER;

export function wheelSubject(name: string): WheelSubjectEntry {
  return wheelSubjects.find((subject) => subject.name === name) as WheelSubjectEntry;
}

/** Entries for a suite; `absent` gives reasons by name. */
export const wheelEntries = (absent: Readonly<Record<string, string>> = {}): SubjectEntry[] =>
  wheelSubjects.map(({ name, note }) => ({ name, note, absent: absent[name] }));

class NoWheel implements WheelSubject {
  schedule(): void {}
  cancel(): void {}
  advanceTo(): void {}
}

class IdYardstickSubject implements WheelSubject {
  declare private readonly wheel: IdYardstick;
  declare private readonly ids: Float64Array;
  declare private readonly onFire: (timer: number) => void;

  constructor(capacity: number, sink: FireSink) {
    this.wheel = new IdYardstick(capacity);
    this.ids = idsFor(capacity);
    this.onFire = (timer) => sink.fired(timer);
  }

  schedule(timer: number, deadline: number): void {
    this.ids[timer] = this.wheel.schedule(deadline, timer);
  }

  cancel(timer: number): void {
    if (!this.wheel.cancel(this.ids[timer])) throw new Error(`cancel said that timer ${timer} was not live`);
  }

  advanceTo(now: number): void {
    this.wheel.advanceTo(now, this.onFire);
  }
}

/** A public wheel. The timer's number is its value; the id is kept by the caller, in memory that is there before. */
class PresetSubject implements WheelSubject {
  declare protected readonly wheel: TimingWheel<number>;
  declare protected readonly ids: Float64Array;
  declare protected readonly sink: FireSink;

  constructor(name: PresetName, capacity: number, sink: FireSink) {
    this.wheel = createWheel<number>({ ...presets[name], capacity });
    this.ids = idsFor(capacity);
    this.sink = sink;
  }

  schedule(timer: number, deadline: number): void {
    this.ids[timer] = this.wheel.schedule(deadline, timer);
  }

  cancel(timer: number): void {
    if (!this.wheel.cancel(this.ids[timer])) throw new Error(`cancel said that timer ${timer} was not live`);
  }

  /** With a handler made for each call, as most would write it. */
  advanceTo(now: number): void {
    this.wheel.advanceTo(now, (timer) => this.sink.fired(timer));
  }
}

/** One that counts in nanoseconds, or fires after the deadline. */
class ScaledPresetSubject extends PresetSubject {
  declare private readonly unit: number;
  declare private readonly earlier: number;

  constructor(name: PresetName, capacity: number, sink: FireSink) {
    super(name, capacity, sink);
    const config = presets[name];
    this.unit = finestOf(config) === 1 ? 1 : NS;
    this.earlier = firesAfter(config) ? 1 : 0;
  }

  override schedule(timer: number, deadline: number): void {
    this.ids[timer] = this.wheel.schedule((deadline - this.earlier) * this.unit, timer);
  }

  override advanceTo(now: number): void {
    this.wheel.advanceTo(now * this.unit, (timer) => this.sink.fired(timer));
  }
}

const finestOf = (config: WheelConfig): number =>
  config.engine === 'pinned' ? config.levels[0].precision : config.precision;

const firesAfter = (config: WheelConfig): boolean => config.engine === 'cascading' && config.rounding === 'next';

const isMilliseconds = (name: PresetName): boolean => finestOf(presets[name]) === 1 && !firesAfter(presets[name]);

/** Cancelling leaves the entry; it is dropped when its time comes and the timer's deadline is no longer the same. */
class HeapSubject implements WheelSubject {
  private readonly queue = new FlatQueue<number>();
  private readonly deadlines: Float64Array;
  private readonly sink: FireSink;

  constructor(capacity: number, sink: FireSink) {
    this.deadlines = idsFor(capacity);
    this.sink = sink;
  }

  schedule(timer: number, deadline: number): void {
    this.deadlines[timer] = deadline;
    this.queue.push(timer, deadline);
  }

  cancel(timer: number): void {
    this.deadlines[timer] = 0;
  }

  advanceTo(now: number): void {
    const { deadlines, queue } = this;
    for (let next = queue.peekValue(); next !== undefined && next <= now; next = queue.peekValue()) {
      const timer = queue.pop() as number;
      if (deadlines[timer] !== next) continue;
      deadlines[timer] = 0;
      this.sink.fired(timer);
    }
  }
}

let reservedIds = new Float64Array(0);

/** Memory in which a caller keeps one number per timer, touched now, so that it does not count as the subject's. */
export function reserveIds(capacity: number): void {
  reservedIds = new Float64Array(capacity).fill(1);
}

const idsFor = (capacity: number): Float64Array =>
  reservedIds.length >= capacity ? reservedIds : new Float64Array(capacity);
