import { forgetContexts, outsideContexts } from '../async-context/async-context.ts';
import type { ClientTime } from './client-time.ts';
import { inNextTurn } from './next-turn.ts';

// Taken once: a test that fakes the timers of its thread must not stop the turns.
const { setTimeout, clearTimeout } = globalThis;

/**
 * How long commands may wait to be published, ms, and how near a deadline must be for its command not to wait. Of the
 * timers that a proxy arms many are cancelled within milliseconds; those never leave this thread.
 */
const HOLD = 4;
const URGENT = 2 * HOLD;

/** What a turn consists of. */
export interface ClientTurn {
  readonly isClosed: boolean;
  /** Delivers what has fired; returns whether some is left. Throws what a tick of the program throws. */
  deliver(): boolean;
  /** Publishes commands, and settles whether live timers keep the process alive. */
  finish(): void;
  /** The turn has left nothing to deliver. */
  becameIdle(): void;
}

/**
 * When a client's turns come: the mirror of `shard/shard-loop.ts`.
 *
 *     change ─▶ hold timer, HOLD ms ─╮
 *     news of a shard, a near deadline, fired records left ─▶ the next immediate ─▶ turn: deliver → finish
 *
 * Turns belong to no async context, whoever asks for them; and nothing lies between them and Node, whom an error that a
 * tick throws must reach. Where one does, the next turn goes on.
 */
export class ClientLoop {
  /** Turns begun. What was scheduled before one is published at its end, if the rings have room. */
  turns = 0;
  /** The hold timer is set: a turn comes within HOLD. */
  isHeld = false;
  /** An immediate is set: a turn comes now. */
  private isArmed = false;
  private holdTimer: NodeJS.Timeout | undefined;
  private readonly client: ClientTurn;
  private readonly time: ClientTime;

  constructor(client: ClientTurn, time: ClientTime) {
    this.client = client;
    this.time = time;
  }

  /** Makes sure that a turn comes now. */
  arm(): void {
    if (this.isArmed || this.client.isClosed) return;
    outsideContexts(this.setArmed);
    this.isArmed = true;
  }

  /** Makes sure that a turn comes within HOLD. */
  hold(): void {
    if (this.isHeld || this.client.isClosed) return;
    try {
      outsideContexts(this.setHold);
    } catch {
      this.arm(); // without a timer, now
      return;
    }
    this.isHeld = true;
    this.time.read();
    if (!this.time.clock.memory.manual) this.time.urgentBefore = this.time.scale.timeOf(this.time.tick) + URGENT;
  }

  /** Makes sure that a turn comes in time for a deadline. */
  requestTurnFor(deadline: number): void {
    this.hold();
    if (deadline < this.time.urgentBefore) this.arm();
  }

  /** No further turn comes. Precondition: the client is closed. */
  end(): void {
    clearTimeout(this.holdTimer);
  }

  /** A turn, in this very call. */
  turn(): void {
    if (this.client.isClosed) return;
    this.turns += 1;
    let isMore: boolean | undefined;
    try {
      isMore = this.client.deliver();
    } finally {
      forgetContexts();
      // Where a tick has thrown, what is set now must not belong to the context of that tick.
      if (isMore === undefined) outsideContexts(() => this.finish(true));
      else this.finish(isMore);
    }
  }

  private finish(isMore: boolean): void {
    if (this.client.isClosed) return;
    this.client.finish();
    if (isMore) this.arm();
    else this.client.becameIdle();
  }

  private readonly setArmed = (): void => inNextTurn(this.runArmed);

  private readonly setHold = (): void => {
    if (this.holdTimer === undefined) this.holdTimer = setTimeout(this.runHeld, HOLD);
    else this.holdTimer.refresh();
  };

  private readonly runArmed = (): void => {
    this.isArmed = false;
    this.turn();
  };

  private readonly runHeld = (): void => {
    this.isHeld = false;
    this.time.urgentBefore = Number.POSITIVE_INFINITY;
    if (this.isArmed) return; // the armed turn comes with this very turn of the event loop
    this.turn();
  };
}
