import { forgetContexts, outsideContexts } from '../async-context/async-context.ts';
import { clearImmediate, clearTimeout, setTimeout } from '../time/native-timers.ts';
import { Alarm } from './alarm.ts';
import type { ClientTime } from './client-time.ts';
import type { DeferredRuns } from './deferral.ts';
import type { KeepAlive } from './keep-alive.ts';
import { inNextTurn } from './next-turn.ts';
import { TimersPhase } from './timers-phase.ts';

/**
 * How long commands may wait to be published, in ms; a command with a nearer deadline does not wait. A proxy cancels many of its
 * timers within milliseconds; those never leave this thread.
 */
export const HOLD = 4;
const URGENT = 2 * HOLD;

/** ms after which an armed turn comes that does not hold the process: an unref'd immediate does not end the loop's wait. */
const NUDGE = 1;

/** The parts of a turn. */
export interface ClientTurn {
  readonly isClosed: boolean;
  /** Makes a shard in this thread fire its due timers. */
  catchUp(): void;
  hasFired(): boolean;
  /** Delivers fired timers; returns whether some are left. Throws what a tick of the program throws. */
  deliver(): boolean;
  /** Publishes commands, and updates whether live timers keep the process alive. */
  finish(): void;
  readonly young: { hasUnripe(): boolean };
  /** Callbacks deferred to the end of the turn. */
  readonly deferred: DeferredRuns;
  /** Called when the turn has left nothing to deliver. */
  becameIdle(): void;
}

/**
 * When a client's turns come: the mirror of `shard/shard-loop.ts`.
 *
 *     change ─▶ hold timer, HOLD ms ───────────────────────────────────────────────────╮
 *     an inline shard's event has come ────────────────────────────────────────────────┤
 *     news of a shard, a near deadline, fired records left ─▶ the next immediate ─▶ turn: deliver → finish → run deferred
 *
 * Turns belong to no async context, whatever requests them. Node calls them directly, since it must get an error that a
 * tick or a deferred callback throws. After such an error the next turn goes on.
 *
 * The handle that brings a turn holds the process only while live timers do, see `KeepAlive`.
 */
export class ClientLoop {
  turns = 0; // begun
  /** Whether the hold timer is set: a turn comes within HOLD. */
  isHeld = false;
  /** Whether a turn comes now. */
  private isArmed = false;
  /** The last turn has left something to deliver: only the armed turn takes it. */
  private hasBacklog = false;
  private isMissed = false; // the hold timer has left a turn to an immediate
  /** By this time, in ms, a turn comes without a request; Infinity if none does. */
  comesBy = Number.POSITIVE_INFINITY;
  /** Deadlines before this, in ms, are urgent while only the hold timer is set. */
  private heldUntil = Number.NaN;
  private immediate: NodeJS.Immediate | undefined;
  private holdTimer: NodeJS.Timeout | undefined;
  private nudgeTimer: NodeJS.Timeout | undefined;
  private readonly alarm: Alarm;
  readonly phase = new TimersPhase();
  private readonly client: ClientTurn;
  private readonly time: ClientTime;
  private readonly keepAlive: KeepAlive;

  constructor(client: ClientTurn, time: ClientTime, keepAlive: KeepAlive) {
    this.client = client;
    this.time = time;
    this.keepAlive = keepAlive;
    this.alarm = new Alarm(time, () => {
      this.noteComing();
      this.wake();
    });
    keepAlive.onChange((isHolding) => this.followHold(isHolding));
  }

  /** Makes sure that a turn comes now. */
  arm(): void {
    if (this.isArmed || this.client.isClosed) return;
    outsideContexts(this.setArmed);
    this.isArmed = true;
    this.noteUrgency();
    if (!this.keepAlive.isHolding) this.followHold(false);
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
    this.heldUntil = this.time.scale.timeOf(this.time.tick) + URGENT;
    this.noteComing();
    this.noteUrgency();
  }

  /** Makes sure that a turn comes within HOLD, and at the deadline if that is sooner. */
  comeBy(deadline: number): void {
    this.hold();
    if (deadline < this.comesBy) this.setAlarm(deadline);
  }

  /** Makes sure that a turn comes at a deadline, in ms. */
  setAlarm(deadline: number): void {
    if (this.client.isClosed) return;
    try {
      this.alarm.set(deadline);
    } catch {
      this.arm(); // without a timer, now
    }
    this.noteComing();
  }

  /** Makes sure that a turn comes in time for a deadline. */
  requestTurnFor(deadline: number): void {
    this.hold();
    if (deadline < this.time.urgentBefore) this.arm();
  }

  /** Ends all turns. Precondition: the client is closed. */
  end(): void {
    clearTimeout(this.holdTimer);
    clearTimeout(this.nudgeTimer);
    this.alarm.clear();
    clearImmediate(this.immediate);
    if (!this.client.deferred.isEmpty) this.runLeftSoon();
  }

  /** See `Client.heldResources`. */
  heldResources(): string[] {
    return this.isArmed && this.immediate?.hasRef() ? ['Immediate'] : [];
  }

  /** Takes a turn in this call. Only Node may call it: neither a callback nor a promise of the program. */
  wake(): void {
    this.phase.timerCame();
    if (this.isArmed && this.hasBacklog) return;
    try {
      this.turn();
      // Native timers come up to 1 ms early. What a shard here has fired since is due in this phase, not with the immediates.
      if (this.isArmed && !this.hasBacklog && this.client.hasFired()) this.turn();
    } finally {
      if (this.hasBacklog || this.client.young.hasUnripe()) this.phase.open(!this.keepAlive.isHolding);
    }
  }

  /** Does the same as `wake`, in any phase. */
  turn(): void {
    if (this.client.isClosed) return;
    this.turns += 1;
    this.isMissed = false;
    this.catchUp();
    let isMore: boolean | undefined;
    try {
      isMore = this.client.deliver();
    } finally {
      forgetContexts();
      // After a tick has thrown, handles set now must not belong to the context of that tick.
      if (isMore === undefined) outsideContexts(() => this.finish(true));
      else this.finish(isMore);
    }
    let isDone = false;
    try {
      isDone = !this.client.deferred.run();
    } finally {
      if (!isDone) this.goOnAfter();
    }
    if (!isMore && isDone && !this.client.isClosed) this.client.becameIdle();
  }

  /** Timers fired here need no further turn. */
  private catchUp(): void {
    const { isArmed } = this;
    this.isArmed = true;
    this.client.catchUp();
    this.isArmed = isArmed;
  }

  private finish(isMore: boolean): void {
    if (this.client.isClosed) return;
    this.client.finish();
    this.hasBacklog = isMore;
    if (isMore) this.arm();
  }

  /**
   * Some deferred callbacks are left, most likely because one has thrown. Then Node runs its handlers in the context of this
   * call. The timer that brought the turn may keep that context, so it is not used again.
   */
  private goOnAfter(): void {
    if (this.client.isClosed) {
      this.runLeftSoon();
      return;
    }
    outsideContexts(() => {
      clearTimeout(this.holdTimer);
      clearTimeout(this.nudgeTimer);
      this.holdTimer = undefined;
      this.nudgeTimer = undefined;
      if (this.isHeld) {
        this.isHeld = false;
        this.hold();
      }
      this.arm();
      this.followHold(this.keepAlive.isHolding);
    });
  }

  /** Deferred callbacks run even after their client is closed: they have been delivered. */
  private runLeftSoon(): void {
    outsideContexts(this.setLeft);
  }

  private readonly setLeft = (): void => void inNextTurn(this.runLeft);

  private readonly runLeft = (): void => {
    let isLeft = true;
    try {
      isLeft = this.client.deferred.run();
    } finally {
      if (isLeft) this.runLeftSoon();
    }
  };

  private noteComing(): void {
    const held = this.isHeld ? this.heldUntil - URGENT + HOLD : Number.POSITIVE_INFINITY;
    this.comesBy = Math.min(held, this.alarm.deadline);
  }

  /** Updates which deadlines are urgent: none, once a turn comes now. */
  private noteUrgency(): void {
    const { time } = this;
    if (!this.isHeld || time.clock.memory.manual) time.urgentBefore = Number.POSITIVE_INFINITY;
    else time.urgentBefore = this.isArmed ? time.nextTickTime : Math.max(this.heldUntil, time.nextTickTime);
  }

  /** An armed turn holds the process, or ends the loop's wait without holding it. Due callbacks hold it. */
  private followHold(isHolding: boolean): void {
    if (!this.isArmed || this.immediate === undefined) return;
    if (isHolding || !this.client.deferred.isEmpty) {
      this.immediate.ref();
      return;
    }
    this.immediate.unref();
    try {
      outsideContexts(this.setNudge);
    } catch {
      // Refused: the turn comes when the loop next wakes.
    }
  }

  private readonly setArmed = (): unknown => (this.immediate = inNextTurn(this.runArmed));

  private readonly setHold = (): void => {
    if (this.holdTimer === undefined) this.holdTimer = setTimeout(this.runHeld, HOLD).unref();
    else this.holdTimer.refresh();
  };

  private readonly setNudge = (): void => {
    if (this.nudgeTimer === undefined) this.nudgeTimer = setTimeout(this.runArmed, NUDGE).unref();
    else this.nudgeTimer.refresh();
  };

  private readonly runArmed = (): void => {
    if (!this.isArmed) return; // the turn has already come
    this.disarm();
    if (this.phase.isOpen) this.arm();
    else this.turn();
  };

  private readonly runHeld = (): void => {
    this.isHeld = false;
    this.noteComing();
    if (this.isArmed && this.hasBacklog && !this.isMissed) {
      this.isMissed = true; // if immediates no longer come, the next hold timer brings the turn
      this.hold();
      return;
    }
    this.disarm();
    this.hasBacklog = false;
    this.wake();
  };

  private disarm(): void {
    this.isArmed = false;
    clearImmediate(this.immediate);
    this.immediate = undefined;
    this.noteUrgency();
  }
}
