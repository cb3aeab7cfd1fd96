import type { ClientLane } from './client-lane.ts';
import { LAST_TICK } from './client-time.ts';

/** The parts of the client that it needs. @internal */
export interface QuiescenceClient {
  readonly lanes: readonly ClientLane[];
  readonly isClosed: boolean;
  readonly time: { readonly tick: number };
  readonly turnClock: { now(): void; onIdle: (() => void) | undefined };
  readonly turns: { walk: Walk | undefined };
  /** Counts that change when a timer is started, moved or cancelled. */
  readonly started: number;
  readonly moved: number;
  readonly cancelled: number;
  /** Lets the shards know all commands, and makes sure that a turn comes now. */
  publish(): void;
}

/** What a turn does for a clock that goes from due time to due time. @internal */
export interface Walk {
  /** Called as a turn begins. */
  prepare(): void;
  /**
   * Called when the shards of this thread have had their turns. Returns whether the clock has been moved: they need
   * another.
   */
  step(): boolean;
}

/**
 * Waits until every shard has caught up with the clock and with all commands, and all fired timers are delivered and
 * have run:
 *
 *     ask all shards ─▶ all have answered ─▶ nothing waits for delivery ─▶ nothing was sent since ─▶ reached
 *          ▲                                                                     │ something was
 *          └─────────────────────────────────────────────────────────────────────┘
 *
 * An answer also says when the shard fires its next timer. That holds until a timer is started, moved or cancelled. So
 * a walk, which takes a manual clock from due time to due time, has one turn a stop if all shards are in this thread:
 *
 *     a turn begins: all reactions have run of promises that are settled ─▶ prepare: ask, if anything has changed
 *       ─▶ shards answer ─▶ step: the clock goes to the next due time ─▶ shards fire ─▶ deliver ─▶ the next turn
 *
 * With a shard in a thread, each answer takes as long as two threads need to wake each other.
 */
export class Quiescence implements Walk {
  private readonly client: QuiescenceClient;
  private reached: (() => void) | undefined;
  /** The client's counts when the shards were asked. */
  private countsAsked = Number.NaN;
  /**
   * Of a walk: moves the clock to a stop after the tick of the shards' next timer; returns false if that was the last.
   */
  private move: ((next: number) => boolean) | undefined;
  /** Whether a turn of the walk has ended that has left nothing to deliver. */
  private isQuiet = false;

  /** @internal */
  constructor(client: QuiescenceClient) {
    this.client = client;
  }

  /** Resolves then, or when the client is closed. Precondition: there is no other waiter. */
  quiesce(): Promise<void> {
    if (this.client.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.reached = resolve;
      this.client.turnClock.onIdle = this.check;
      this.ask();
    });
  }

  /**
   * Walks: calls `move` each time that this is reached, in a macrotask of its own, with the tick at which a shard next
   * fires a timer, or Infinity. Resolves when `move` has returned false, or the client is closed. Precondition: there
   * is no other waiter.
   */
  walk(move: (next: number) => boolean): Promise<void> {
    if (this.client.isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.reached = resolve;
      this.move = move;
      this.isQuiet = true;
      this.client.turns.walk = this;
      this.client.turnClock.onIdle = this.check;
      this.client.turnClock.now();
    });
  }

  prepare(): void {
    const { lanes } = this.client;
    const isChanged = this.counts() !== this.countsAsked || lanes.some((lane) => lane.hasSentSinceRequest());
    if (this.isQuiet && isChanged) this.ask();
  }

  step(): boolean {
    const { lanes } = this.client;
    if (!this.isQuiet || this.move === undefined) return false;
    let next = Number.POSITIVE_INFINITY;
    for (const lane of lanes) {
      if (!lane.isAnswered() || lane.fired.available() > 0 || lane.hasSentSinceRequest()) return false;
      next = Math.min(next, lane.nextDue());
    }
    const isMoved = this.move(next);
    if (isMoved) {
      this.isQuiet = false;
      this.ask();
    } else this.move = undefined;
    return isMoved;
  }

  /** Called when the client has ended a turn and left nothing to deliver. */
  private readonly check = (): void => {
    const { lanes, time, turnClock } = this.client;
    for (const lane of lanes) {
      if (!lane.isAnswered()) return; // the shard rings when it has
    }
    if (lanes.some((lane) => lane.fired.available() > 0)) turnClock.now();
    else if (this.move !== undefined) {
      this.isQuiet = true;
      turnClock.now();
    } else if (time.tick < LAST_TICK && lanes.some((lane) => lane.hasSentSinceRequest()))
      this.ask(); // some of those commands may be due
    else this.end(); // also at the end of the clock: what is due later waits for ever
  };

  end(): void {
    this.client.turnClock.onIdle = undefined;
    this.client.turns.walk = undefined;
    this.move = undefined;
    this.reached?.();
    this.reached = undefined;
  }

  /** Asks all shards to report when they have caught up, including the commands that are staged now. */
  private ask(): void {
    this.countsAsked = this.counts();
    this.client.publish();
    for (const lane of this.client.lanes) lane.requestAnswer();
  }

  private counts(): number {
    const { started, moved, cancelled } = this.client;
    return started + moved + cancelled;
  }
}
