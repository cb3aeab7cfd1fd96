import { dueTick } from './slack-model.ts';

/** What intervals do with missed calls, and what long delays become. */
export interface DropInOptions {
  readonly missedCalls: 'skip' | 'burst' | 'delay';
  readonly longDelays: 'keep' | 'warn';
}

/** A drop-in timer as the model knows it; times in ms, ticks as the words say. */
export interface DropIn {
  readonly kind: 'timeout' | 'interval' | 'sleep' | 'each';
  /** Whole. */
  readonly delay: number;
  isRef: boolean;
  /** For good. */
  isCleared: boolean;
  isRunning: boolean;
  /** Call n of an interval is due at start + n × delay. */
  start: number;
  call: number;
  deadline: number;
  /** The tick of the deadline, and that at which it fires: with slack a later one. */
  deadlineTick: number;
  due: number;
  /** Of its latest setting or refresh. */
  sequence: number;
}

const LONGEST_OF_NODE = 2 ** 31 - 1;

/** The delay that a timer has whose caller says so: in whole ms, at least 1. */
export function delayOf(given: unknown, longDelays: DropInOptions['longDelays']): number {
  const ms = Math.trunc(Number(given));
  if (longDelays === 'warn' && Number(given) > LONGEST_OF_NODE) return 1;
  return ms >= 1 ? Math.min(ms, Number.MAX_SAFE_INTEGER) : 1;
}

export const newDropIn = (kind: DropIn['kind'], delay: number, isRef: boolean): DropIn => ({
  ...{ kind, delay, isRef, isCleared: false, isRunning: false },
  ...{ start: 0, call: 1, deadline: 0, deadlineTick: 0, due: 0, sequence: 0 },
});

/**
 * What the documents say of drop-in timers, by looking at all of them each time: one that fires is the least of the
 * live ones.
 */
export class DropInModel {
  readonly live = new Set<DropIn>();
  readonly counts = { scheduled: 0, rescheduled: 0, cancelled: 0, delivered: 0 };
  readonly missedCalls: DropInOptions['missedCalls'];
  private readonly tick: number;
  private readonly slack: number;
  private readonly capacity: number;
  private sequence = 0;

  /** `tick` and `slack` in ms. */
  constructor(tick: number, slack: number, capacity: number, { missedCalls }: DropInOptions) {
    this.tick = tick;
    this.slack = slack;
    this.capacity = capacity;
    this.missedCalls = missedCalls;
  }

  get isFull(): boolean {
    return this.live.size >= this.capacity;
  }

  /** Whether one of them holds the process. */
  get holds(): boolean {
    return [...this.live].some(({ isRef }) => isRef);
  }

  /** The tick at which the next of them fires; Infinity without any. */
  get nextDue(): number {
    return Math.min(...[...this.live].map(({ due }) => due));
  }

  /** Returns whether there is room. */
  set(timer: DropIn, now: number): boolean {
    timer.start = now;
    timer.call = 1;
    return this.begin(timer, 0);
  }

  /** Whether it is refused. One that was cleared stays as it is. */
  refresh(timer: DropIn, now: number): boolean {
    if (timer.isCleared) return true;
    if (!this.live.has(timer)) return this.set(timer, now);
    timer.start = now;
    timer.call = 1;
    this.place(timer, 0);
    this.counts.rescheduled += 1;
    return true;
  }

  /** Whether it was live. */
  clear(timer: DropIn): boolean {
    timer.isCleared = true;
    const isLive = this.live.delete(timer);
    if (isLive) this.counts.cancelled += 1;
    return isLive;
  }

  /** Takes note that a timer fires at a time: says what is wrong with it, if anything is. */
  deliver(timer: DropIn, now: number, isJump: boolean): string | undefined {
    if (!this.live.delete(timer)) return `a ${timer.kind} of ${timer.delay} is called, and is not live`;
    const ticks = Math.floor(now / this.tick);
    this.counts.delivered += 1;
    const isRight = isJump ? timer.due <= ticks : timer.due === ticks;
    if (timer.deadline > now || !isRight) return `a ${timer.kind} due at tick ${timer.due} is called at ${ticks}`;
    for (const other of this.live) {
      if (comesBefore(other, timer)) return `a ${other.kind} due at ${other.due} comes before one due at ${timer.due}`;
    }
    return undefined;
  }

  /** Sets the next call of an interval whose call began at a time. Returns whether there is room. */
  setNext(timer: DropIn, begun: number): boolean {
    const { delay, due, start } = timer;
    const timeOf = (call: number) => start + call * delay;
    const wasLate = begun >= (this.dueOf(timer.deadline) + 1) * this.tick;
    timer.call += 1;
    if (this.missedCalls === 'delay') {
      timer.start = begun;
      timer.call = 1;
    } else if (this.missedCalls === 'skip' && (wasLate || timeOf(timer.call) <= begun)) {
      timer.call = Math.max(timer.call, Math.floor((begun - start) / delay) - 2);
      while (timeOf(timer.call) < begun + delay / 2) timer.call += 1;
    }
    return this.begin(timer, due + 1); // at most one call a tick
  }

  /** Those that should have been called by a time. */
  overdue(now: number): DropIn[] {
    return [...this.live].filter(({ due }) => due * this.tick <= now);
  }

  private begin(timer: DropIn, earliest: number): boolean {
    if (this.isFull) return false;
    this.place(timer, earliest);
    this.live.add(timer);
    this.counts.scheduled += 1;
    return true;
  }

  private place(timer: DropIn, earliest: number): void {
    timer.deadline = timer.start + timer.call * timer.delay;
    timer.deadlineTick = Math.ceil(timer.deadline / this.tick);
    timer.due = Math.max(this.dueOf(timer.deadline), earliest);
    timer.sequence = this.sequence++;
  }

  private dueOf(deadline: number): number {
    if (this.slack < this.tick) return Math.ceil(deadline / this.tick);
    return dueTick(deadline, this.slack, this.tick, Number.NEGATIVE_INFINITY);
  }
}

function comesBefore(one: DropIn, other: DropIn): boolean {
  if (one.due !== other.due) return one.due < other.due;
  if (one.deadlineTick !== other.deadlineTick) return one.deadlineTick < other.deadlineTick;
  return one.sequence < other.sequence;
}
