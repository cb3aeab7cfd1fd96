/** A timer as the model knows it. */
export interface ModelTimer {
  readonly id: number;
  readonly shard: number;
  readonly sequence: number;
  deadline: number;
  due: number;
  /** It was rescheduled, or its shard has died: within its tick it may stand anywhere. */
  isMoved: boolean;
}

/**
 * What shards must do, by looking at all timers each time. Shares no code with the scheduler and none of its ideas:
 * a timer of deadline d is due at the first tick that ends at or after d, and after the present one.
 */
export class SortedModel {
  now = 0;
  readonly live: ModelTimer[] = [];
  readonly ended: number[] = [];
  delivered = 0;
  private readonly tick: number;
  private sequence = 0;
  /** Shards that have died; when they are replaced is not told, so they count as disordered from there on. */
  private readonly crashed = new Set<number>();

  constructor(tick: number) {
    this.tick = tick;
  }

  schedule(id: number, shard: number, deadline: number): void {
    const order = { sequence: this.sequence++, due: this.dueOf(deadline), isMoved: this.crashed.has(shard) };
    this.live.push({ id, shard, deadline, ...order });
  }

  cancel(id: number): boolean {
    const at = this.live.findIndex((timer) => timer.id === id);
    if (at < 0) return false;
    this.live.splice(at, 1);
    this.ended.push(id);
    return true;
  }

  move(id: number, deadline: number): boolean {
    const timer = this.find(id);
    if (timer === undefined) return false;
    timer.deadline = deadline;
    timer.due = this.dueOf(deadline);
    timer.isMoved = true;
    return true;
  }

  /** Takes note of a delivery; says what is wrong with it, if anything is. */
  deliver(id: number): string | undefined {
    const timer = this.find(id);
    if (timer === undefined) return `${id} is not live`;
    if (timer.deadline > this.now) return `${id} is early`;
    this.cancel(id);
    this.delivered += 1;
    if (timer.due > this.ticks()) return `${id} is due at tick ${timer.due} only`;
    const before = this.live.find((other) => this.comesBefore(other, timer));
    return before === undefined ? undefined : `${before.id} comes before ${id}`;
  }

  /** After an advance: the timers that it should have delivered. */
  overdue(): ModelTimer[] {
    return this.live.filter((timer) => timer.due <= this.ticks());
  }

  /** A shard is dying: among its timers, and those that come before it is replaced, there is no order within a tick. */
  crash(shard: number): void {
    this.crashed.add(shard);
    for (const timer of this.live) if (timer.shard === shard) timer.isMoved = true;
  }

  nextExpiration(): number | undefined {
    if (this.live.length === 0) return undefined;
    return Math.min(...this.live.map(({ deadline }) => this.dueOf(deadline))) * this.tick;
  }

  countOf(shard: number): number {
    return this.live.filter((timer) => timer.shard === shard).length;
  }

  find(id: number): ModelTimer | undefined {
    return this.live.find((timer) => timer.id === id);
  }

  private comesBefore(one: ModelTimer, other: ModelTimer): boolean {
    if (one.shard !== other.shard) return false;
    if (one.due !== other.due) return one.due < other.due;
    return !one.isMoved && !other.isMoved && one.sequence < other.sequence;
  }

  private ticks(): number {
    return Math.floor(this.now / this.tick);
  }

  private dueOf(deadline: number): number {
    return Math.max(Math.ceil(deadline / this.tick), this.ticks() + 1);
  }
}
