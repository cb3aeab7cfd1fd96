import { dueTick } from './slack-model.ts';

export interface ModelLabel {
  readonly name: string | undefined;
  /** ms */
  readonly min: number | undefined;
  readonly slack: number;
  readonly ref: boolean;
  factor: number;
  scheduled: number;
  cancelled: number;
  delivered: number;
}

/** A timer as the model knows it; times in ms, `due` in ticks. */
export interface ModelTimer {
  id: number;
  readonly kind: 'callback' | 'batch' | 'repeating' | 'sleep' | 'withTimeout' | 'signal';
  readonly shard: number;
  readonly label: ModelLabel;
  readonly group?: number;
  /** What ends it. */
  readonly outer?: AbortController;
  readonly holds: boolean;
  readonly missedCalls?: 'skip' | 'burst' | 'delay';
  readonly period?: number;
  /** Of a repeating one: call n is due at start + n × period. */
  start: number;
  call: number;
  /** The promise that its last call returned is pending, and calls may not overlap. */
  isPending: boolean;
  deadline: number;
  due: number;
  /** Between these its label's factor has its share. */
  earliest: number;
  full: number;
  sequence: number;
  /** It was moved, or repeats, or its shard has died: within its tick it may stand anywhere. */
  isMoved: boolean;
  /** A call that makes up for a missed one: it comes after whatever has fired meanwhile. */
  isLate: boolean;
}

/**
 * What the contract says, by looking at all timers each time. Shares no code with the scheduler and none of its ideas:
 * a timer of deadline d is due at the first tick that ends at or after d, and after the present one; or with slack at
 * the roundest that it allows.
 */
export class ContractModel {
  now = 0;
  readonly live = new Map<number, ModelTimer>();
  readonly counts = { scheduled: 0, rescheduled: 0, cancelled: 0, delivered: 0, overlapped: 0 };
  /** The clock goes in one step. */
  isJump = false;
  private readonly tick: number;
  private sequence = 0;
  /** Shards that have died; when they are replaced is not told, so they count as disordered from there on. */
  private readonly crashed = new Set<number>();

  constructor(tick: number) {
    this.tick = tick;
  }

  start(timer: ModelTimer, deadline: number): void {
    const { label } = timer;
    timer.sequence = this.sequence++;
    timer.isMoved = this.crashed.has(timer.shard);
    timer.start = deadline;
    this.place(timer, deadline);
    this.live.set(timer.id, timer);
    this.counts.scheduled += 1;
    label.scheduled += 1;
  }

  /** Ends a timer otherwise than by its time; false if it is not live. */
  cancel(timer: ModelTimer | undefined): boolean {
    if (timer === undefined || !this.live.delete(timer.id)) return false;
    this.counts.cancelled += 1;
    timer.label.cancelled += 1;
    return true;
  }

  move(timer: ModelTimer | undefined, deadline: number): boolean {
    if (timer === undefined) return false;
    timer.start = deadline;
    timer.call = 0;
    timer.isMoved = true;
    timer.isLate = false;
    this.place(timer, deadline);
    this.counts.rescheduled += 1;
    return true;
  }

  rescale(label: ModelLabel, factor: number): void {
    label.factor = factor;
    for (const timer of this.live.values()) {
      if (timer.label !== label || timer.kind === 'repeating' || scaled(timer) === timer.deadline) continue;
      timer.deadline = scaled(timer);
      timer.due = this.dueOf(timer);
      timer.isMoved = true;
    }
  }

  /** Takes note that something is delivered at a time; says what is wrong with that time, if anything is. */
  come(now: number): string | undefined {
    if (now < this.now) return `the clock falls from ${this.now} to ${now}`;
    this.now = now;
    if (this.isJump) return undefined;
    const { ticks } = this;
    if (now !== ticks * this.tick) return `the clock stops at ${now}, which is no tick`;
    this.passOver(ticks - 1);
    for (const { deadline, due, id, isPending } of this.live.values()) {
      if (!isPending && due < ticks) return `${id} is passed at ${now}: ${deadline}`;
    }
    return undefined;
  }

  /** Takes note of a delivery, at the present; says what is wrong with it, if anything is. */
  deliver(timer: ModelTimer): string | undefined {
    const { now, ticks } = this;
    const { id, deadline, due, label } = timer;
    if (this.live.get(id) !== timer) return `${id} is not live`;
    if (timer.isPending) return `${id} is called though its last call is pending`;
    if (deadline > now) return `${id} is early at ${now}: ${deadline}`;
    const isEarly = due > ticks;
    if (isEarly && !(timer.isMoved && label.slack > 0)) return `${id} is due at tick ${due}, and comes at ${ticks}`;
    for (const other of this.live.values()) {
      if (other === timer || other.isPending) continue;
      if (!isEarly && this.comesBefore(other, timer)) return `${other.id} comes before ${id}`;
    }
    if (timer.kind === 'repeating') this.nextCall(timer, now);
    else this.live.delete(id);
    this.counts.delivered += 1;
    label.delivered += 1;
    return undefined;
  }

  /** The clock has gone to a time: returns the timers that should have been delivered. */
  reach(now: number): ModelTimer[] {
    this.now = now;
    this.passOver(this.ticks);
    for (const timer of this.live.values()) timer.isLate = false;
    return [...this.live.values()].filter(({ due }) => due <= this.ticks);
  }

  /**
   * Among the timers of a shard that dies, and those that come before it is replaced, there is no order within a tick.
   */
  crash(shard: number): void {
    this.crashed.add(shard);
    for (const timer of this.live.values()) if (timer.shard === shard) timer.isMoved = true;
  }

  /** ms: the first and the last time at which the next timer may fire; of a moved timer with slack it is not fixed. */
  nextExpiration(): [from: number, to: number] {
    let [from, to] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (const timer of this.live.values()) {
      from = Math.min(from, Math.max(this.firstDueOf(timer), this.ticks + 1));
      to = Math.min(to, timer.due);
    }
    return [from * this.tick, to * this.tick];
  }

  countOf(shard: number): number {
    let count = 0;
    for (const timer of this.live.values()) if (timer.shard === shard) count += 1;
    return count;
  }

  /** Whether a call that is due has been passed over or not is not known within the tick. */
  isOpen({ isPending, due }: ModelTimer): boolean {
    return isPending && due <= this.ticks;
  }

  private comesBefore(one: ModelTimer, other: ModelTimer): boolean {
    if (one.shard !== other.shard || one.isLate || other.isLate) return false;
    const first = this.firstDueOf(other);
    if (one.due !== first) return one.due < first;
    return !one.isMoved && !other.isMoved && one.sequence < other.sequence;
  }

  /** The first tick at which a timer may fire: of a moved one with slack it is not fixed. */
  private firstDueOf({ deadline, due, isMoved, label }: ModelTimer): number {
    return isMoved && label.slack > 0 ? Math.min(due, Math.ceil(deadline / this.tick)) : due;
  }

  private get ticks(): number {
    return Math.floor(this.now / this.tick);
  }

  private place(timer: ModelTimer, full: number): void {
    const { label } = timer;
    timer.full = full;
    timer.earliest = label.min === undefined || timer.kind === 'repeating' ? full : this.now + label.min;
    timer.deadline = scaled(timer);
    timer.due = this.dueOf(timer);
  }

  private dueOf(timer: ModelTimer, now = this.now): number {
    const { deadline, label } = timer;
    return label.slack === 0
      ? Math.max(Math.ceil(deadline / this.tick), Math.floor(now / this.tick) + 1)
      : dueTick(deadline, label.slack, this.tick, now);
  }

  /** The calls up to a tick that are not made, since the one before is pending. */
  private passOver(tick: number): void {
    for (const timer of this.live.values()) {
      while (timer.isPending && timer.due <= tick) {
        this.nextCall(timer, this.isJump ? this.now : timer.due * this.tick);
        this.counts.overlapped += 1;
      }
    }
  }

  private nextCall(timer: ModelTimer, begun: number): void {
    const { due, missedCalls, period = 0, start } = timer;
    const timeOf = (call: number) => start + call * period;
    timer.call += 1;
    if (missedCalls === 'delay') {
      timer.start = begun;
      timer.call = 1;
    } else if (missedCalls === 'skip' && (begun >= (due + 1) * this.tick || timeOf(timer.call) <= begun)) {
      timer.call = Math.max(timer.call, Math.floor((begun - start) / period) - 2);
      while (timeOf(timer.call) < begun + period / 2) timer.call += 1;
    }
    timer.isMoved = true;
    timer.deadline = timer.start + timer.call * period;
    timer.due = this.dueOf(timer, Number.NEGATIVE_INFINITY); // what a jump has passed comes within it
    timer.isLate = timer.due <= this.ticks;
  }
}

function scaled({ earliest, full, label }: ModelTimer): number {
  return full <= earliest ? full : earliest + (full - earliest) * label.factor;
}
