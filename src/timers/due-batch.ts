import type { Context } from '../async-context/context-keeper.ts';

/** A timeout as the queues of its face see it. */
export interface QueuedTimeout {
  /** The tick at which it is due, and its place among the timeouts of that tick. */
  readonly tick: number;
  readonly order: number;
  /** It was refreshed while it waited. */
  readonly isMoved: boolean;
  readonly context: Context;
  /** The client's turn in which it was scheduled. */
  readonly turn: number;
  /** Its place among those that are watched; less than 0 where it is none of them. */
  watchedAt: number;
  /** A batch that has overtaken it takes it in. Precondition: it is waiting, and due. */
  pull(batch: DueBatch): void;
  /** Its turn in a batch has come; it may have left the batch since it was put there. `context`: that of this call. */
  runIn(batch: DueBatch, context: Context): void;
}

/** Less than 0 where `one` stands before `other` in Node's order. */
export const compareInNodesOrder = (one: QueuedTimeout, other: QueuedTimeout): number =>
  one.tick - other.tick || one.order - other.order;

/** Timeouts that were delivered in one turn. None runs before the last of them has come in. */
export class DueBatch {
  /** The one that stands last in Node's order, while none has been taken. */
  last: QueuedTimeout | undefined;
  private readonly timeouts: QueuedTimeout[] = [];
  /** How many have had their turn. */
  private done = 0;
  private isInOrder = true;
  /** The last tick that a moved timeout has come in for: others of that tick may stand before it. */
  private movedTick = Number.NEGATIVE_INFINITY;

  add(timeout: QueuedTimeout): void {
    if (this.last === undefined || compareInNodesOrder(timeout, this.last) >= 0) this.last = timeout;
    else this.isInOrder = false;
    if (timeout.isMoved) this.movedTick = Math.max(this.movedTick, timeout.tick);
    this.timeouts.push(timeout);
  }

  /** Whether what is still to be delivered may belong before what is here. */
  isOpenEnded(): boolean {
    return this.movedTick === this.last?.tick;
  }

  take(): QueuedTimeout {
    if (!this.isInOrder) this.timeouts.sort(compareInNodesOrder);
    this.isInOrder = true;
    const timeout = this.timeouts[this.done];
    this.done += 1;
    return timeout;
  }
}
