import type { Context } from '../async-context/context-keeper.ts';
import type { ClientLane } from './client-lane.ts';
import { type ClientLoop, HOLD } from './client-loop.ts';
import type { ClientTime } from './client-time.ts';
import { callLater, type DeferredTimer } from './deferral.ts';
import { isYoung } from './nursery.ts';
import { type RefusalHost, refusal, requireRoom } from './refusal.ts';
import type { TimerHold } from './timer-hold.ts';

/** Timers with deadlines nearer than this, in ms, are not promoted: twice the time that promotion may take anyway. */
const NEAR = 2 * HOLD;

/** The parts of the client that they need. */
export interface YoungTimersHost extends RefusalHost {
  readonly lanes: readonly ClientLane[];
  readonly loop: ClientLoop;
  readonly hold: TimerHold;
  readonly isLimited: boolean;
  scheduled: number;
  rescheduled: number;
  schedule(lane: ClientLane, deadline: number, callback: unknown, argument: unknown, context: Context): number;
  move(lane: ClientLane, slot: number, deadline: number): void;
  end(lane: ClientLane, slot: number): void;
}

/**
 * The deferred timers of a client, by handle: a place in the nursery of their lane, where they begin, or the slot to which they
 * were promoted. The client's counts include them in both.
 */
export class YoungTimers {
  private readonly client: YoungTimersHost;
  private readonly time: ClientTime;

  constructor(client: YoungTimersHost, time: ClientTime) {
    this.client = client;
    this.time = time;
  }

  /** Starts a timer; returns its handle. Throws InvalidDeadlineError, CapacityExceededError. */
  start(lane: ClientLane, deadline: number, timer: DeferredTimer, context: Context): number {
    const { client } = this;
    const { nursery } = lane;
    if (client.isLimited === true) requireRoom(client);
    // There is no wait for a manual clock; and a very far deadline goes to the lane, where it is checked.
    if (!(deadline < this.time.nearEnd) || this.time.clock.memory.manual) {
      return client.schedule(lane, deadline, callLater, timer, context);
    }
    if (lane.isFull) throw refusal(client, lane);
    if (nursery.isFull) this.makeRoom(lane);
    const handle = nursery.add(timer, context, deadline);
    client.scheduled += 1;
    if (client.hold.isHolding === false) client.hold.settle();
    if (deadline < client.loop.comesBy) client.loop.comeBy(this.time.dueTimeOf(deadline));
    return handle;
  }

  /** Throws InvalidDeadlineError. */
  move(lane: ClientLane, handle: number, deadline: number): void {
    const { client } = this;
    if (!isYoung(handle)) {
      client.move(lane, handle, deadline);
      return;
    }
    lane.nursery.move(handle, deadline);
    client.rescheduled += 1;
    if (deadline < client.loop.comesBy) client.loop.comeBy(this.time.dueTimeOf(deadline));
  }

  end(lane: ClientLane, handle: number): void {
    const { hold } = this.client;
    if (!isYoung(handle)) {
      this.client.end(lane, handle);
      return;
    }
    lane.nursery.remove(handle);
    if (lane.size <= hold.unrefCount) hold.settle();
  }

  /** Whether timers have been set since the last `ripen`. */
  hasUnripe(): boolean {
    return this.client.lanes.some(({ nursery }) => nursery.hasUnripe);
  }

  /** Promotes all timers, as far as there are slots. */
  promoteAll(): void {
    for (const lane of this.client.lanes) this.promote(lane, Number.NEGATIVE_INFINITY);
  }

  /** Promotes the timers that are far from due. */
  promoteFar(): void {
    if (this.client.lanes.every(({ nursery }) => nursery.size === 0)) return; // the usual case of a client without deferred timers
    const after = this.farAfter();
    for (const lane of this.client.lanes) this.promote(lane, after);
  }

  /** Makes sure that a turn comes when the next of them is due. */
  setAlarm(): void {
    const { lanes, loop } = this.client;
    for (const { nursery } of lanes) {
      const due = this.time.dueTimeOf(nursery.earliest);
      if (due < loop.comesBy) loop.setAlarm(due);
    }
  }

  /** Deadlines after this, ms, are far from due. */
  private farAfter(): number {
    return this.time.lastDeadlineDueBy(this.time.clock.exact() + NEAR);
  }

  /** `after`: ms */
  private promote(lane: ClientLane, after: number): void {
    const { nursery } = lane;
    if (nursery.size === 0) return;
    nursery.promote(after, (timer, context, deadline) => {
      const slot = this.client.schedule(lane, deadline, callLater, timer, context);
      this.client.scheduled -= 1; // already counted when it was set
      return slot;
    });
  }

  /** Makes room. If memory is refused and no slot is left either, throws that error. */
  private makeRoom(lane: ClientLane): void {
    const { nursery } = lane;
    this.promote(lane, this.farAfter());
    if (!nursery.isFull && !nursery.isCrowded) return;
    try {
      nursery.grow();
    } catch (error) {
      this.promote(lane, Number.NEGATIVE_INFINITY);
      if (nursery.isFull) throw error;
    }
  }
}
