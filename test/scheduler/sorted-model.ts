/** A timer as the model knows it. */
export interface ModelTimer {
  readonly id: number;
  readonly sequence: number;
  deadline: number;
  due: number;
  /** It was rescheduled: within its tick it may stand anywhere. */
  isMoved: boolean;
  /** It was rescheduled while a batch was being delivered, that it may have been part of. */
  isMovedInFlight: boolean;
}

/**
 * What one shard must do, by looking at all timers each time. Shares no code with the scheduler and none of its ideas:
 * a timer of deadline d is due at the first tick that ends at or after d, and after the present one.
 */
export class SortedModel {
  now = 0;
  readonly live: ModelTimer[] = [];
  readonly ended: number[] = [];
  delivered = 0;
  private readonly tick: number;
  private sequence = 0;

  constructor(tick: number) {
    this.tick = tick;
  }

  schedule(id: number, deadline: number): void {
    this.live.push({
      id,
      sequence: this.sequence++,
      deadline,
      due: this.dueOf(deadline),
      isMoved: false,
      isMovedInFlight: false,
    });
  }

  cancel(id: number): boolean {
    const at = this.live.findIndex((timer) => timer.id === id);
    if (at < 0) return false;
    this.live.splice(at, 1);
    this.ended.push(id);
    return true;
  }

  move(id: number, deadline: number, isInFlight: boolean): boolean {
    const timer = this.find(id);
    if (timer === undefined) return false;
    timer.deadline = deadline;
    timer.due = this.dueOf(deadline);
    timer.isMoved = true;
    timer.isMovedInFlight ||= isInFlight;
    return true;
  }

  /** Takes note of a delivery; says what is wrong with it, if anything is. */
  deliver(id: number): string | undefined {
    const timer = this.find(id);
    if (timer === undefined) return `${id} is not live`;
    if (timer.deadline > this.now) return `${id} is early`;
    this.cancel(id);
    this.delivered += 1;
    if (timer.isMovedInFlight) return undefined;
    if (timer.due > this.ticks()) return `${id} is due at tick ${timer.due} only`;
    const before = this.live.find((other) => !other.isMovedInFlight && this.comesBefore(other, timer));
    return before === undefined ? undefined : `${before.id} comes before ${id}`;
  }

  /** After an advance: the timers that it should have delivered. */
  overdue(): ModelTimer[] {
    const left = this.live.filter((timer) => timer.due <= this.ticks());
    for (const timer of this.live) timer.isMovedInFlight = false;
    return left;
  }

  nextExpiration(): number | undefined {
    const dues = this.live.map(({ deadline }) => this.dueOf(deadline)).sort((one, other) => one - other);
    return dues.length === 0 ? undefined : dues[0] * this.tick;
  }

  find(id: number): ModelTimer | undefined {
    return this.live.find((timer) => timer.id === id);
  }

  private comesBefore(one: ModelTimer, other: ModelTimer): boolean {
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
