import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import type { Delivery } from '../../src/client/delivery.ts';
import { ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { WORD_REACH, wordOf } from '../../src/lane/due-word.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { deliveryOf } from '../lane/delivery-of.ts';
import { scheduleOn } from '../lane/schedule-on.ts';
import type { ServingSetup } from './build-serving.ts';

/** What the model knows of a timer. It has one of these outcomes, and at the end not `live`. */
export interface KnownTimer {
  readonly id: number;
  readonly slot: number;
  deadline: number;
  /** The tick at which it is due, by what the client knew of the time. */
  due: number;
  outcome: 'live' | 'cancelled' | 'delivered';
  deliveredAt: number;
}

/** A client that is stepped by hand, and an account of its timers: each delivery is checked as it happens. */
export class LaneClient {
  readonly timers: KnownTimer[] = [];
  /** Those delivered, in that order. */
  readonly deliveries: KnownTimer[] = [];
  readonly lane: ClientLane;
  readonly bell: ClientBell;
  /** It has been told of news. */
  isTold = false;
  /** It has work of its own: changes to publish, or perhaps records beyond its last batch. */
  isArmed = false;
  /** Its thread has ended, wherever it stood: it does nothing any more. */
  isGone = false;
  private hasMore = false;
  /** What must have been delivered when the answer that it waits for has come. */
  private asked: { readonly time: number; readonly due: Set<KnownTimer> } | undefined;
  private readonly clock: SharedClock;
  private readonly known: ClientTime;
  private readonly delivery: Delivery;

  /** Client number `number` of the shard's. `manual`: it takes its clock, which a test sets, for a manual one. */
  constructor(setup: ServingSetup, number: number, maxBatch: number, manual = true) {
    const { memory, clientBell } = setup.lanes[number];
    this.clock = new SharedClock(setup.clock);
    this.bell = new ClientBell(clientBell);
    const layout = timerIdLayout(1, memory.capacity);
    this.known = Object.assign(new ClientTime(this.clock, new TickScale(1)), { isManual: manual });
    this.lane = new ClientLane({ memory, layout, shard: 0, doorbell: new Doorbell(setup.doorbell), time: this.known });
    this.delivery = deliveryOf(this.lane, this.known, maxBatch, () => {
      this.isArmed = true;
    });
  }

  get live(): KnownTimer[] {
    return this.timers.filter((timer) => timer.outcome === 'live');
  }

  get isWaitingForAnswer(): boolean {
    return this.asked !== undefined;
  }

  // Its single calls.

  /** False when the table is full. */
  schedule(deadline: number): boolean {
    const due = this.known.dueTickOf(deadline, 0);
    const timer = { id: -1, slot: -1, deadline, due, outcome: 'live' as const, deliveredAt: -1 };
    const slot = scheduleOn(this.lane, deadline, wordOf(due), this.delivered, timer);
    if (slot < 0) return false;
    this.isArmed = true;
    this.timers.push(Object.assign(timer, { id: this.lane.table.idOf(slot), slot }));
    return true;
  }

  /** Its new timer, whose command is published. */
  send(deadline: number): KnownTimer {
    if (!this.schedule(deadline)) throw new Error('the table is full');
    this.publish();
    return this.timers[this.timers.length - 1];
  }

  /** Takes what has fired; all timers that were delivered so far. */
  take(): KnownTimer[] {
    this.deliver();
    return this.deliveries;
  }

  cancel(timer: KnownTimer): void {
    this.lane.end(this.slotOf(timer));
    timer.outcome = 'cancelled';
  }

  reschedule(timer: KnownTimer, deadline: number): void {
    const tick = this.known.dueTickOf(deadline, 0);
    this.lane.move(this.slotOf(timer), deadline, wordOf(tick), tick - this.known.tick <= WORD_REACH);
    timer.deadline = deadline;
    timer.due = tick;
    this.asked?.due.delete(timer); // a deadline that has passed, too, is due at the next tick
    this.isArmed = true;
  }

  // The two halves of its turn.

  deliver(): void {
    this.isTold = false;
    this.isArmed = true; // the other half is to come
    this.known.beginTurn();
    this.bell.lower(); // before the lane is read
    this.hasMore = this.delivery.deliver(Number.NEGATIVE_INFINITY);
  }

  publish(): void {
    this.known.beginTurn();
    this.isArmed = this.hasMore;
    this.wantStaged();
    if (!this.hasMore) this.checkAnswer();
  }

  /** Asks the shard to answer for what is due now, once a manual clock has been moved. */
  askForDue(): void {
    const time = this.clock.read();
    this.asked = { time, due: new Set(this.live.filter((timer) => timer.deadline <= time)) };
    this.ask();
    this.isArmed = true;
  }

  private readonly delivered = (argument: unknown, id: number): void => {
    const timer = argument as KnownTimer;
    const time = this.clock.read();
    if (!this.timers.includes(timer)) throw new Error(`timer ${id} is another client's`);
    if (timer.outcome !== 'live') throw new Error(`timer ${id} was delivered, but is ${timer.outcome} already`);
    if (timer.id !== id) throw new Error(`timer ${timer.id} was delivered as ${id}`);
    const { deadline, due } = timer;
    if (time < deadline) throw new Error(`timer ${id} due ${deadline} was delivered at ${time}`);
    if (time < due) throw new Error(`timer ${id}, moved to tick ${due}, was delivered at ${time}`);
    timer.outcome = 'delivered';
    this.deliveries.push(timer);
    timer.deliveredAt = time;
  };

  private ask(): void {
    this.wantStaged();
    this.lane.requestAnswer();
  }

  /** As at the begin of the client's own turn, for an index in this thread. */
  wantDue(): void {
    const { stage, table } = this.lane;
    const time = this.clock.read();
    for (const { end, start, words } of stage.chunks()) {
      for (let at = start; at < end; at += 2) {
        const [slot, tag] = [words[at], words[at + 1]];
        if (table.tagOf(slot) === tag && table.dueOf(slot) <= time) stage.isWanted = true;
      }
    }
  }

  /** Nothing that is staged waits any more. */
  private wantStaged(): void {
    this.lane.stage.isWanted = true; // for an index in this thread
    this.lane.commands.publish();
  }

  /** As the client's own: whether all that was due when the clock was moved has been delivered. */
  private checkAnswer(): void {
    if (this.asked === undefined || !this.lane.isAnswered()) return;
    if (this.lane.fired.available() > 0) {
      this.isArmed = true;
      return;
    }
    if (this.lane.hasSentSinceRequest()) {
      this.ask();
      return;
    }
    const { time, due } = this.asked;
    this.asked = undefined;
    for (const { outcome, deadline, id } of due) {
      if (outcome === 'live') throw new Error(`answered at ${time}, but ${id} due ${deadline} is live`);
    }
  }

  private slotOf(timer: KnownTimer): number {
    const slot = this.lane.table.slotOf(timer.id);
    if (slot < 0) throw new Error(`timer ${timer.id} is ${timer.outcome}, but its id is stale`);
    return slot;
  }
}
