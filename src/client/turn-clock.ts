import { forgetContexts, outsideContexts } from '../async-context/async-context.ts';
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from '../time/native-timers.ts';
import type { ClientTime } from './client-time.ts';
import type { KeepAlive } from './keep-alive.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/**
 * How long commands may wait to be published, in ms; a command with a nearer deadline does not wait. A proxy cancels many of its
 * timers within milliseconds; those never leave this thread.
 */
const HOLD_WINDOW = 4;

/** ms after which an asked turn comes that does not hold the process: an unref'd immediate does not end the loop's wait. */
const NUDGE = 1;

/** The longest delay of a native timer, in ms. */
const LONGEST = 2 ** 31 - 1;

// V8: folded constants
/** Nothing waits for a turn. One may come by a native timer. */
export const IDLE = 0;
/** Commands are staged: a turn comes within HOLD_WINDOW, by the native timer. */
const HELD = 1;
/** A turn comes now, by the immediate. */
const ASKED = 2;
/** A turn catches up with the clock: what shards here fire belongs to it. */
const CATCHING = 3;
/** A turn delivers and publishes. */
const TURNING = 4;
/** The same, and another turn has been asked for. */
const AGAIN = 5;
/** A turn has left something to deliver: the rest comes by the immediate, after the loop has served its I/O. */
const LEFT = 6;
/** The same, and the native timer has come before the immediate: if it comes again, immediates come no more. */
const MISSED = 7;
/** The client is closed. */
const OVER = 8;

type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

const setOf = (...states: State[]): number => states.reduce((set: number, state) => set | (1 << state), 0);

/** Which states may follow one, by its number. */
const NEXT: readonly number[] = [
  setOf(HELD, ASKED, CATCHING, OVER),
  setOf(ASKED, CATCHING, OVER),
  setOf(CATCHING, OVER),
  setOf(TURNING, OVER),
  setOf(AGAIN, IDLE, LEFT, OVER),
  setOf(ASKED, LEFT, OVER),
  setOf(CATCHING, MISSED, OVER),
  setOf(CATCHING, OVER),
  setOf(),
];

export interface ClientTurn {
  /** Makes shards in this thread fire their due timers. */
  catchUp(): void;
  /** Delivers fired timers; returns whether some are left. Throws what a tick of the program throws. */
  readonly delivery: { deliver(): boolean };
  /**
   * Runs due drop-in timers, `isPhase`: those due by now, else the rest of an earlier turn. Returns whether some are left. Throws
   * what a callback, or a tick of the program, throws.
   */
  readonly home: { run(isPhase: boolean): boolean };
  /** Publishes commands, says when the next turn has to come, and updates whether timers keep the process alive. */
  finish(): void;
  /** Called when the turn has left nothing to deliver. */
  becameIdle(): void;
}

/**
 * When a client's turns come: the mirror of `shard/shard-loop.ts`. There is one native timer, for the earliest time asked for, and
 * one immediate.
 *
 *     by(time): staged commands, HOLD_WINDOW ─╮
 *               a drop-in timer is due ┼─▶ the native timer, for the earliest ─╮
 *               a shard here has work ─╯                                       ├─▶ turn: catch up → deliver → publish
 *     now(): news of a shard, a near deadline, a rest ───▶ the immediate ──────╯
 *
 *     IDLE ─▶ HELD ─▶ ASKED ─▶ CATCHING ─▶ TURNING ─▶ IDLE, or ASKED, or LEFT (─▶ MISSED); OVER from any, for good
 *
 * With one timer a client has one turn in a phase of timers, and drop-in timers begin to be due only there: so no timer fires in the
 * phase that has set it, however long the callback takes that sets it. A rest comes after the immediates of the program.
 *
 * Turns belong to no async context, whatever asks for them. Node calls them directly, since it must get an error that a tick or
 * a callback throws; the next turn then goes on, by a new timer, for the one that has thrown may keep a context.
 *
 * The handles hold the process only while live timers do, see `KeepAlive`.
 *
 * On Node 20 and 22 immediates come no more once a program has passed a timeout to `clearImmediate`. Then the native timer brings
 * the turn: it is also set for a rest, and takes over what the immediate was to bring; a rest when it comes for the second time.
 */
export class TurnClock {
  state: State = IDLE;
  turns = 0; // begun
  /** The time in ms for which the native timer is set; Infinity if it is not. */
  comesBy = Number.POSITIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  /** With which `timer` was set, in ms. */
  private delay = 0;
  private immediate: NodeJS.Immediate | undefined;
  private readonly client: ClientTurn;
  private readonly time: ClientTime;
  private readonly keepAlive: KeepAlive;

  constructor(client: ClientTurn, time: ClientTime, keepAlive: KeepAlive) {
    this.client = client;
    this.time = time;
    this.keepAlive = keepAlive;
    keepAlive.onChange((isHolding) => this.followHold(isHolding));
  }

  /** Makes sure that a turn comes now. */
  now(): void {
    if (this.state === TURNING) this.enter(AGAIN);
    else if (this.state === IDLE || this.state === HELD) this.ask(ASKED);
  }

  /** Makes sure that a turn comes within HOLD_WINDOW. */
  delayTurn(): void {
    if (this.state !== IDLE) return; // it comes, or publishes at its end
    this.by(this.time.read() + HOLD_WINDOW);
    this.enter(HELD);
  }

  /** Makes sure that a turn comes by a time in ms, or up to 1 ms before, as is usual for native timers. */
  by(time: number): void {
    if (time >= this.comesBy || this.state === OVER) return;
    this.comesBy = time;
    this.setTimer(time - this.time.clock.exact());
  }

  /** Makes sure that a turn comes in time for a command with this deadline. */
  requestTurnFor(deadline: number): void {
    this.delayTurn();
    if (deadline < this.time.urgentBefore) this.now();
  }

  end(): void {
    this.enter(OVER);
    clearTimeout(this.timer);
    clearImmediate(this.immediate);
  }

  /** See `Client.heldResources`. */
  heldResources(): string[] {
    return this.immediate?.hasRef() ? ['Immediate'] : [];
  }

  /** Takes a turn. Only Node may call it: neither a callback nor a promise of the program. `isTimer`: the timer has come. */
  private readonly turn = (isTimer: boolean): void => {
    if (isTimer && this.leaveTurn()) return;
    this.begin();
    if (this.isOver()) return;
    let isThrown = true;
    let isLeft = true;
    try {
      const areFired = this.client.delivery.deliver();
      isLeft = this.client.home.run(isTimer || this.time.clock.memory.manual) || areFired;
      isThrown = false;
    } finally {
      this.finish(isLeft, isThrown);
    }
  };

  /** Called when the timer has come; returns whether it leaves the turn to the immediate, so that the loop serves its I/O. */
  private leaveTurn(): boolean {
    this.comesBy = Number.POSITIVE_INFINITY;
    if (this.state !== LEFT) return false;
    this.enter(MISSED);
    this.by(this.time.clock.exact() + HOLD_WINDOW);
    return true;
  }

  private begin(): void {
    if (this.isOver()) return; // Node had already taken the timer
    clearImmediate(this.immediate);
    this.immediate = undefined;
    this.turns += 1;
    this.enter(CATCHING);
    this.client.catchUp();
    if (this.isOver()) return;
    this.enter(TURNING);
  }

  private finish(isLeft: boolean, isThrown: boolean): void {
    forgetContexts();
    if (this.isOver()) return;
    // It is overdue if the time has jumped: then it is set for what was far before.
    if (isThrown || this.comesBy < this.time.nextTickTime) this.renewTimer();
    let isFinished = false;
    try {
      this.client.finish();
      isFinished = true;
    } finally {
      this.leave(isLeft || !isFinished);
    }
    if (this.state === IDLE || this.state === ASKED) this.client.becameIdle();
  }

  /** Ends a turn, even where memory was refused to it. */
  private leave(isLeft: boolean): void {
    if (this.isOver()) return;
    if (isLeft) {
      this.by(this.time.clock.exact() + HOLD_WINDOW); // where immediates come no more
      this.ask(LEFT);
    } else if (this.state === AGAIN) this.ask(ASKED);
    else this.enter(IDLE);
  }

  private isOver(): boolean {
    return this.state === OVER;
  }

  private ask(state: State): void {
    this.enter(state);
    outsideContexts(this.setImmediate);
    if (!this.keepAlive.isHolding) this.followHold(false);
  }

  private enter(state: State): void {
    if (((NEXT[this.state] >> state) & 1) === 0) throwStray(this.state, state);
    this.state = state;
    this.noteUrgency();
  }

  /** Updates which deadlines need more than a staged command. */
  private noteUrgency(): void {
    const { time, state } = this;
    if (state === IDLE || time.clock.memory.manual) time.urgentBefore = Number.POSITIVE_INFINITY;
    else if (state === HELD) time.urgentBefore = max(this.comesBy + HOLD_WINDOW, time.nextTickTime);
    else time.urgentBefore = time.nextTickTime;
  }

  /** An asked turn holds the process, or ends the loop's wait without holding it. A rest, which is due, holds it. */
  private followHold(isHolding: boolean): void {
    if (this.immediate === undefined) return;
    if (isHolding || this.state === LEFT || this.state === MISSED) {
      this.immediate.ref();
      return;
    }
    this.immediate.unref();
    this.by(this.time.clock.exact() + NUDGE);
  }

  /** `delay`: ms */
  private setTimer(delay: number): void {
    const whole = max(1, min(ceil(delay), LONGEST));
    if (whole === this.delay && this.timer !== undefined) {
      outsideContexts(this.refreshTimer);
      return;
    }
    clearTimeout(this.timer);
    this.delay = whole;
    outsideContexts(this.newTimer);
  }

  /** Without the old one: after an error the handlers of Node have run in the context of this call, which that may keep. */
  private renewTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.comesBy = Number.POSITIVE_INFINITY;
  }

  private readonly refreshTimer = (): unknown => this.timer?.refresh();

  private readonly newTimer = (): void => {
    this.timer = setTimeout(this.turn, this.delay, true).unref();
  };

  private readonly setImmediate = (): void => {
    this.immediate = setImmediate(this.turn, false);
  };
}

function throwStray(from: State, to: State): never {
  throw new Error(`A turn clock cannot go from state ${from} to ${to}`);
}
