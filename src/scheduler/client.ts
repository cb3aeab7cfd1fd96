import { forgetContexts, outsideContexts } from '../async-context/async-context.ts';
import type { Context } from '../async-context/context-keeper.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { wordOf } from '../lane/due-word.ts';
import { LatenessHistogram } from '../metrics/lateness-histogram.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import { requireDeadline } from './arguments.ts';
import type { ClientLane } from './client-lane.ts';
import type { ClientTime } from './client-time.ts';
import { Delivery, type DeliveryHost, type FiredBatch } from './delivery.ts';
import type { KeepAlive } from './keep-alive.ts';
import { Settling } from './settling.ts';
import type { ShardHost } from './shard-host.ts';
import { soon } from './soon.ts';

// Taken once: a test that fakes the timers of its thread must not stop the turns.
const { setTimeout, clearTimeout } = globalThis;

/**
 * How long commands may wait to be published, ms, and how near a deadline must be for its command not to wait. Of the
 * timers that a proxy arms many are cancelled within milliseconds; those never leave this thread.
 */
const HOLD = 4;
const URGENT = 2 * HOLD;

export interface ClientEvents {
  emitBatch(batch: FiredBatch): void;
  /** A callback that ran in the context has thrown. */
  failed(error: unknown, context: Context): void;
}

/**
 * A thread that schedules, between its event loop and its lanes. All work that is not a single call's own is done in
 * turns:
 *
 *     deliver what has fired, at most maxBatch → publish commands → let the process end, or not
 *
 * A turn comes with the event loop's next immediates when a shard has news or a deadline is near, and otherwise some ms
 * after the first change: see HOLD. A turn that leaves fired records behind is followed by another, after the loop has
 * served its I/O.
 */
export class Client implements DeliveryHost {
  isClosed = false;
  isRef = true;
  /** Turns begun. What was scheduled before one is published at its end, if the rings have room. */
  turns = 0;
  /** Of the live timers, those that do not hold the process: deadline signals, and timeouts that are unref'd. */
  private loose = 0;
  readonly lanes: readonly ClientLane[];
  readonly clock: SharedClock;
  readonly scale: TickScale;
  readonly lateness = new LatenessHistogram();
  readonly delivery: Delivery;
  readonly settling = new Settling(this);
  /** Hosts of the shards, in their order. */
  hosts: readonly ShardHost[] = [];

  private readonly time: ClientTime;
  private readonly bell: ClientBell;
  private readonly keepAlive: KeepAlive;
  private readonly events: ClientEvents;
  private readonly maxBatch: number;
  /** An immediate is set: a turn comes now. */
  private isArmed = false;
  /** The hold timer is set: a turn comes within HOLD. */
  private isHeld = false;
  private holdTimer: NodeJS.Timeout | undefined;
  private firstLane = 0;

  constructor(parts: {
    lanes: readonly ClientLane[];
    time: ClientTime;
    bell: ClientBell;
    keepAlive: KeepAlive;
    events: ClientEvents;
    maxBatch: number;
  }) {
    this.lanes = parts.lanes;
    this.clock = parts.time.clock;
    this.scale = parts.time.scale;
    this.time = parts.time;
    this.bell = parts.bell;
    this.keepAlive = parts.keepAlive;
    this.events = parts.events;
    this.maxBatch = parts.maxBatch;
    this.delivery = new Delivery(this, this.time, this.lateness, parts.maxBatch);
  }

  /** Live timers over all lanes. */
  get size(): number {
    return this.isClosed ? 0 : this.lanes.reduce((sum, lane) => sum + lane.table.size, 0);
  }

  // Single calls: the paths that are hot.

  move(lane: ClientLane, slot: number, deadline: number): void {
    const due = this.dueWordOf(deadline);
    lane.move(slot, deadline, due, deadline < this.time.farFrom);
  }

  cancel(lane: ClientLane, slot: number): void {
    if (this.isHeld === false) this.hold(); // for a turn in which what the timer carried is let go of
    lane.end(slot);
  }

  /** The due word of a deadline; sees to a turn in which it is published in time. Throws InvalidDeadlineError. */
  dueWordOf(deadline: number): number {
    const { time } = this;
    if (deadline >= time.heedBefore && deadline < time.plainBefore) return time.plainDueWordOf(deadline);
    return this.anyDueWordOf(deadline) | 0; // which spares the compiler the doubt whether it is a word
  }

  private anyDueWordOf(deadline: number): number {
    requireDeadline(deadline);
    if (deadline < this.time.heedBefore) this.heed(deadline);
    return wordOf(this.time.dueTickOf(deadline));
  }

  // What those tell who have timers of their own kind.

  /** So many more, or fewer, of the live timers do not hold the process. */
  loosen(by: number): void {
    this.hold();
    this.loose += by;
  }

  // Once per turn.

  /** Makes sure that a turn comes now. */
  arm(): void {
    if (this.isArmed || this.isClosed) return;
    outsideContexts(this.setArmed);
    this.isArmed = true;
  }

  /** Makes sure that a turn comes soon. */
  private hold(): void {
    if (this.isHeld || this.isClosed) return;
    try {
      outsideContexts(this.setHold);
    } catch {
      this.arm(); // without a timer, now
      return;
    }
    this.isHeld = true;
    this.time.read();
    if (!this.clock.memory.manual) this.time.heedBefore = this.time.scale.timeOf(this.time.tick) + URGENT;
  }

  /** Makes sure that a turn comes in time for a deadline. */
  private heed(deadline: number): void {
    this.hold();
    if (deadline < this.time.heedBefore) this.arm();
  }

  /** Publishes all commands now. */
  publish(): void {
    for (const lane of this.lanes) lane.commands.publish();
    this.poke();
  }

  /** Has inline shards take their turns. */
  poke(): void {
    for (const host of this.hosts) host.poke();
  }

  /** Publishes all commands; where a ring is full, resolves when it has taken the last of them. */
  async publishAll(): Promise<void> {
    this.publish();
    if (this.lanes.some((lane) => lane.commands.waiting > 0)) await this.settling.settle();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.holdTimer);
    this.settling.end();
  }

  // What delivery asks for.

  refile(lane: ClientLane, slot: number): void {
    lane.refile(slot, this.dueWordOf(lane.table.deadlineOf(slot)));
  }

  emitBatch(batch: FiredBatch): void {
    this.events.emitBatch(batch);
  }

  failed(error: unknown, context: Context): void {
    this.events.failed(error, context);
  }

  // Turns belong to no context, whoever arms them; and nothing lies between them and Node, whom a tick's error must reach.

  private readonly setArmed = (): void => soon(this.runArmed);

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
    this.time.heedBefore = Number.POSITIVE_INFINITY;
    if (this.isArmed) return; // the armed turn comes with this very turn of the loop
    this.turn();
  };

  turn(): void {
    if (this.isClosed) return;
    this.turns += 1;
    this.bell.lower(); // before the lanes are looked at
    this.time.read();
    let isMore: boolean | undefined;
    try {
      isMore = this.deliver();
    } finally {
      forgetContexts();
      // Where a tick has thrown, the next turn goes on; what is set now must not belong to the context of that tick.
      if (isMore === undefined) outsideContexts(() => this.endTurn(true));
      else this.endTurn(isMore);
    }
  }

  private endTurn(isMore: boolean): void {
    if (this.isClosed) return;
    this.publish();
    for (const lane of this.lanes) lane.release();
    this.keepAlive.holdForTimers(this.isRef && this.size > this.loose);
    if (isMore) this.arm();
    else this.settling.check();
  }

  /** Delivers at most maxBatch timers; returns whether there are more. */
  private deliver(): boolean {
    let room = this.maxBatch;
    const first = this.firstLane;
    this.firstLane = (first + 1) % this.lanes.length;
    this.delivery.beginTurn();
    for (let i = 0; i < this.lanes.length && room > 0; i++) {
      const shard = (first + i) % this.lanes.length;
      room -= this.delivery.deliver(this.lanes[shard], shard, room);
    }
    return this.lanes.some((lane) => lane.firedCount() > 0);
  }
}
