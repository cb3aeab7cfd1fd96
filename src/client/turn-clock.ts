import { contexts } from '../async-context/async-context.ts';
import { runTicks } from '../async-context/run-ticks.ts';
import { process } from '../process.ts';
import { runtime } from '../runtime.ts';
import { clearImmediate, clearTimeout, MAX_NATIVE_DELAY_MS, setImmediate, setTimeout } from '../time/native-timers.ts';
import type { ClientTime } from './client-time.ts';
import type { KeepAlive } from './keep-alive.ts';

// Taken once: a program may replace them.
const { ceil, max, min } = Math;

/** ms after which an asked turn, or the rest of one, comes by the native timer, where immediates come no more. */
const REST_WITHIN_MS = 4;

/** Whether immediates come no more, or only by twos, once a program has passed a timeout to `clearImmediate`. */
const MAY_LOSE_IMMEDIATES = runtime === 'node' && Number.parseInt(process.versions.node, 10) < 24;

/**
 * ms after which an asked turn comes that does not hold the process: an unref'd immediate does not end the loop's wait.
 */
const NUDGE_MS = 1;

/** The native timer stays as it is set if a turn is wanted at most so many ms later. */
const MAX_EARLY_MS = 1;

/**
 * ms from which on a native timer that is overdue is set anew. While the clock has fallen back none is set for longer:
 * it may be set right at any time, and what is staged and overdue then asks for no turn.
 */
const LONG_DELAY_MS = 1000;

// V8: folded constants
/** Nothing waits for a turn. One may come by the native timer. */
const IDLE = 0;
/** A turn comes now, by the immediate. */
const ASKED = 1;
/** A turn is under way. */
const TURNING = 2;
/** The same, and another turn has been asked for. */
const AGAIN = 3;
/** A turn has left something to deliver: the rest comes by the immediate, after the loop has served its I/O. */
const LEFT = 4;
/** The same, and the native timer has come before the immediate: if it comes again, immediates come no more. */
const MISSED = 5;
/** The client is closed. */
const OVER = 6;

type State = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const setOf = (...states: State[]): number => states.reduce((set: number, state) => set | (1 << state), 0);

/** Which states may follow one, by its number. */
const NEXT: readonly number[] = [
  setOf(ASKED, TURNING, OVER),
  setOf(TURNING, OVER),
  setOf(AGAIN, IDLE, LEFT, MISSED, OVER),
  setOf(ASKED, LEFT, MISSED, OVER),
  setOf(TURNING, OVER),
  setOf(TURNING, OVER),
  setOf(),
];

export interface ClientTurn {
  /**
   * Reads the clock, files or publishes what is wanted, and has the shards of this thread fire. `isAsked`: the turn has
   * been asked for, and not only the native timer has come. Returns whether the shards have more to do at once.
   */
  begin(isAsked: boolean): boolean;
  /** Reads the clock for a turn of drop-in timers alone: the lanes come in the next. */
  beginPhase(): void;
  /** Whether the lanes have something for this turn. */
  readonly visitsLanes: boolean;
  /**
   * Delivers fired timers; returns whether some are left. `polledFrom`: the loop has served what had reached its
   * sockets by this time, in ms; -Infinity if that is not known. Throws what a tick of the program throws.
   */
  readonly delivery: {
    deliver(polledFrom: number): boolean;
    /** Of the timer that was delivered last, drop-in timers included; in ms. */
    readonly deadline: number;
  };
  /**
   * Runs due drop-in timers, `isPhase`: those due by now, else the rest of an earlier turn. Returns whether some are
   * left. Throws what a callback, or a tick of the program, throws.
   */
  readonly home: { readonly label: { readonly size: number }; run(isPhase: boolean): boolean };
  /**
   * Ends a turn, even one that has thrown: returns by when the next has to come, in ms; Infinity if nothing is known to
   * come.
   */
  finish(): number;
}

/**
 * When a client's turns come: the mirror of `shard/shard-loop.ts`. There is one native timer, for the one time at which
 * somebody needs something, and one immediate.
 *
 *     by(time): a staged command ─╮
 *               a drop-in timer ──┼─▶ the native timer, for the earliest ─╮
 *               released payload ─╯                                       ├─▶ turn ─▶ says when the next has to come
 *     now(): news of a thread, a full stage, a rest ─▶ the immediate ─────╯
 *
 *     IDLE ─▶ ASKED ─▶ TURNING (─▶ AGAIN) ─▶ IDLE, or ASKED, or LEFT (─▶ MISSED); OVER from any, for good
 *
 * With one timer a client has one turn in a phase of timers, and drop-in timers begin to be due only there: so no timer
 * fires in the phase that has set it, however long the callback takes that sets it. A rest comes after the immediates
 * of the program, and after the loop's next poll.
 *
 * Turns belong to no async context, whatever asks for them. Node calls them directly, since it must get an error that a
 * tick or a callback throws; the next turn then goes on, by a new timer, for the one that has thrown may keep a
 * context.
 *
 * The handles hold the process only while live timers do, see `KeepAlive`; and a rest does until what had fallen due
 * when it was left is delivered, as Node runs a list of due timers to its end. What falls due meanwhile holds nothing:
 * else timers that are unref'd, and keep the loop busy, would hold the process for ever.
 *
 * On Node 20 and 22 immediates come no more once a program has passed a timeout to `clearImmediate`. Then the native
 * timer brings the turn: it is also set for an asked turn and for a rest, and takes over what the immediate was to
 * bring; a rest when it comes for the second time.
 */
export class TurnClock {
  turns = 0; // begun
  /**
   * The time in ms by which a turn comes; Infinity if none is needed, -Infinity during a turn, which says at its end
   * when the next comes.
   */
  comesBy = Number.POSITIVE_INFINITY;
  /** Called when a turn has left nothing to deliver, if somebody waits for that. */
  onIdle: (() => void) | undefined = undefined;
  private state: State = IDLE;
  /** The time in ms for which the native timer is set; Infinity if it is not. */
  private setFor = Number.POSITIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  /** With which `timer` was set, in ms. */
  private delay = 0;
  private immediate: NodeJS.Immediate | undefined;
  /** When the turn ended that has left a rest, in ms: the loop polls before the rest comes. */
  private leftAt = Number.NEGATIVE_INFINITY;
  /** When the first turn ended since which each has left a rest, in ms; Infinity if the last has left none. */
  private restFrom = Number.POSITIVE_INFINITY;
  /** Whether the last turn has ended by an error. */
  private hasThrown = false;
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
    else if (this.state === IDLE) this.ask(ASKED);
  }

  /**
   * Makes sure that a turn comes by a time in ms, or up to 1 ms before, as is usual for native timers. Without effect
   * during a turn.
   */
  by(time: number): void {
    if (this.state === OVER || this.comesBy === Number.NEGATIVE_INFINITY) return;
    if (time < this.comesBy) this.comesBy = time;
    else if (this.timer !== undefined && (this.comesBy > this.time.clock.read() || this.delay < LONG_DELAY_MS)) return;
    else this.dropTimer(); // overdue: the clock may have jumped since it was set, and it may come in hours
    this.setTimer();
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

  /**
   * Takes a turn. Only Node may call it: neither a callback nor a promise of the program. `isTimer`: the timer has
   * come.
   */
  private readonly turn = (isTimer: boolean): void => {
    const { client, state } = this;
    if (state === OVER) return; // Node had already taken the handle
    // A rest waits for its immediate, so that the loop polls before it; drop-in timers do not.
    const isPhaseOnly = isTimer && state === LEFT;
    const polledFrom = this.leftAt;
    if (isTimer) this.setFor = Number.POSITIVE_INFINITY;
    if (!isPhaseOnly) {
      if (isTimer) clearImmediate(this.immediate);
      this.immediate = undefined;
      this.leftAt = Number.NEGATIVE_INFINITY;
    }
    this.comesBy = Number.NEGATIVE_INFINITY;
    this.turns += 1;
    this.enter(TURNING);
    let isThrown = true;
    let isLeft = true;
    try {
      if (this.hasThrown) {
        this.hasThrown = false;
        runTicks?.(); // Node may not have run them; they come before the next timer, as after any other callback
        if (this.state === OVER) return;
      }
      // A callback has at most four frames of this package below it: these are called here.
      let isMore = false;
      if (isPhaseOnly) client.beginPhase();
      else isMore = client.begin(!isTimer || state !== IDLE);
      const areFired = client.visitsLanes && client.delivery.deliver(polledFrom);
      const areDue = client.home.label.size > 0 && client.home.run(isTimer || this.time.isManual);
      isLeft = isPhaseOnly || isMore || areFired || areDue;
      isThrown = false;
    } finally {
      this.finish(isLeft, isThrown);
    }
  };

  private finish(isLeft: boolean, isThrown: boolean): void {
    contexts.forget();
    if (this.state === OVER) return;
    this.hasThrown = isThrown;
    if (isThrown) this.dropTimer();
    let next = this.time.now;
    let isFinished = false;
    try {
      next = this.client.finish();
      isFinished = true;
    } finally {
      this.leave(isLeft || !isFinished, next); // also where memory was refused
    }
  }

  private leave(isLeft: boolean, next: number): void {
    if (this.state === OVER) return; // closed by a listener
    const { now } = this.time;
    this.comesBy = isLeft ? min(next, now + REST_WITHIN_MS) : next;
    this.restFrom = isLeft ? min(this.restFrom, now) : Number.POSITIVE_INFINITY;
    if (isLeft && this.immediate === undefined) {
      this.leftAt = now;
      this.ask(LEFT);
    } else if (isLeft) {
      this.enter(MISSED); // the rest's immediate is still to come
      this.followHold(this.keepAlive.isHolding);
    } else if (this.state === AGAIN) this.ask(ASKED);
    else this.enter(IDLE);
    if (this.comesBy !== this.setFor) this.setTimer();
    if (!isLeft && this.onIdle !== undefined) this.onIdle();
  }

  private ask(state: State): void {
    this.enter(state);
    contexts.outside(this.newImmediate);
    if (!this.keepAlive.isHolding) this.followHold(false);
    else if (MAY_LOSE_IMMEDIATES) this.by(this.time.clock.read() + REST_WITHIN_MS);
  }

  private enter(state: State): void {
    if (((NEXT[this.state] >> state) & 1) === 0) throwStray(this.state, state);
    this.state = state;
  }

  /** An asked turn, or a rest, holds the process, or ends the loop's wait without holding it. */
  private followHold(isHolding: boolean): void {
    if (this.immediate === undefined) return;
    const isRest = this.state === LEFT || this.state === MISSED;
    if (isHolding || (isRest && !(this.client.delivery.deadline > this.restFrom))) {
      this.immediate.ref();
      return;
    }
    this.immediate.unref();
    this.by(this.time.clock.read() + NUDGE_MS);
  }

  /** Sets the native timer for `comesBy`, if it is set for another time. */
  private setTimer(): void {
    const later = this.comesBy - this.setFor;
    if (later >= 0 && later <= MAX_EARLY_MS) return;
    if (this.comesBy === this.setFor) return; // neither is known
    this.setFor = this.comesBy;
    if (this.comesBy === Number.POSITIVE_INFINITY) {
      this.dropTimer();
      return;
    }
    let isSet = false;
    try {
      // Node counts from the present, not from when the turn began.
      const now = this.time.clock.read();
      const most = now < this.time.latest ? LONG_DELAY_MS : MAX_NATIVE_DELAY_MS;
      const delay = max(1, min(ceil(this.comesBy - now), most));
      if (delay === this.delay && this.timer !== undefined) contexts.outside(this.refreshTimer);
      else {
        clearTimeout(this.timer);
        this.delay = delay;
        contexts.outside(this.newTimer);
      }
      isSet = true;
    } finally {
      if (!isSet) this.dropTimer(); // no stack was left, say: the next call sets it
    }
  }

  /**
   * The next one is a new one. After an error the handlers of Node have run in the context of this call, which the old
   * one may keep.
   */
  private dropTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.setFor = Number.POSITIVE_INFINITY;
  }

  private readonly refreshTimer = (): unknown => this.timer?.refresh();

  private readonly newTimer = (): void => {
    this.timer = setTimeout(this.turn, this.delay, true).unref();
  };

  private readonly newImmediate = (): void => {
    this.immediate = setImmediate(this.turn, false);
  };
}

function throwStray(from: State, to: State): never {
  throw new Error(`A turn clock cannot go from state ${from} to ${to}`);
}
