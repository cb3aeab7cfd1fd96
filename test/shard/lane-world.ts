import { ClientLane } from '../../src/client/client-lane.ts';
import { ClientTime } from '../../src/client/client-time.ts';
import { Delivery } from '../../src/client/delivery.ts';
import { allocateDoorbell, ClientBell, Doorbell } from '../../src/lane/doorbell.ts';
import { NEAR, wordOf } from '../../src/lane/due-word.ts';
import { allocateHeartbeat } from '../../src/lane/heartbeat.ts';
import { allocateLane, type RingSizes } from '../../src/lane/lane-memory.ts';
import { LatenessHistogram } from '../../src/metrics/lateness-histogram.ts';
import { buildShard, type ShardSetup } from '../../src/shard/build-shard.ts';
import type { Shard } from '../../src/shard/shard.ts';
import { SharedClock } from '../../src/time/shared-clock.ts';
import { TickScale } from '../../src/time/tick-scale.ts';
import { timerIdLayout } from '../../src/timer-id.ts';
import { scheduleOn } from '../lane/schedule-on.ts';
import { touch } from './shared-access.ts';
import { SteppedLoop } from './stepped-loop.ts';

export interface WorldOptions {
  readonly capacity: number;
  readonly rings: RingSizes;
  /** Most records that one delivery takes. */
  readonly maxBatch: number;
  /** Commands and entries that a shard's turn takes. */
  readonly budget: number;
  /** The clock is a manual one: a parked shard wakes when rung, and each move of the clock asks for an answer. */
  readonly manual: boolean;
}

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

/** In a world's quiet end a timer is delivered at most so many ticks after its deadline. */
const PATIENCE = 1;
const LONGEST_END = 40;

/**
 * One lane with both of its ends in one thread, on a clock that the test moves: a client that is stepped by hand, and a
 * shard whose real loop is stepped by hand. The rules of when a side may run are those of the threads: a parked shard runs
 * when it was rung or its tick has come, a client turns when it was told of news or has changed something. So a wake-up
 * that is lost shows as a timer that is never delivered.
 */
export class LaneWorld {
  readonly timers: KnownTimer[] = [];
  /** Those delivered, in that order. */
  readonly deliveries: KnownTimer[] = [];
  readonly lane: ClientLane;
  readonly clock: SharedClock;
  readonly bell: ClientBell;
  /** Undefined while the shard is dead. */
  loop: SteppedLoop | undefined;
  /** The client has been told of news. */
  isTold = false;
  /** The client has work of its own: changes to publish, or perhaps records beyond its last batch. */
  isArmed = false;
  private hasMore = false;
  /** What must have been delivered when the answer that the client waits for has come. */
  private asked: { readonly time: number; readonly due: Set<KnownTimer> } | undefined;
  private readonly options: WorldOptions;
  private readonly setup: ShardSetup;
  private readonly delivery: Delivery;
  private readonly known: ClientTime;

  /** Uses the memory of `setup`, which no other world uses any more. */
  constructor(options: WorldOptions, setup: ShardSetup = allocateSetup(options)) {
    this.options = options;
    this.setup = setup;
    this.clock = new SharedClock(setup.clock);
    this.bell = new ClientBell(setup.lanes[0].clientBell, () => undefined);
    const layout = timerIdLayout(1, options.capacity);
    this.known = new ClientTime(this.clock, new TickScale(1));
    this.lane = new ClientLane(setup.lanes[0].memory, layout, 0, new Doorbell(setup.doorbell), this.known);
    const host = {
      isClosed: false,
      restage: (lane: ClientLane, slot: number) => {
        this.isArmed = true;
        lane.restage(slot, wordOf(this.known.dueTickOf(lane.table.deadlineOf(slot))));
      },
    };
    const events = {
      emitBatch: () => undefined,
      failed: (error: unknown) => {
        throw error;
      },
    };
    this.delivery = new Delivery(host, events, lateness, this.known, options.maxBatch);
    this.loop = this.buildLoop(false);
  }

  get time(): number {
    return this.clock.published();
  }

  get live(): KnownTimer[] {
    return this.timers.filter((timer) => timer.outcome === 'live');
  }

  // The client's single calls.

  /** False when the table is full. */
  schedule(deadline: number): boolean {
    const due = this.known.dueTickOf(deadline);
    const timer = { id: -1, slot: -1, deadline, due, outcome: 'live' as const, deliveredAt: -1 };
    const slot = scheduleOn(this.lane, deadline, wordOf(due), this.delivered, timer);
    if (slot < 0) return false;
    this.isArmed = true;
    this.timers.push(Object.assign(timer, { id: this.lane.table.idOf(slot), slot }));
    return true;
  }

  cancel(timer: KnownTimer): void {
    this.lane.end(this.slotOf(timer));
    timer.outcome = 'cancelled';
  }

  reschedule(timer: KnownTimer, deadline: number): void {
    const tick = this.known.dueTickOf(deadline);
    this.lane.move(this.slotOf(timer), deadline, wordOf(tick), tick - this.known.tick <= NEAR);
    timer.deadline = deadline;
    timer.due = tick;
    this.asked?.due.delete(timer); // a deadline that has passed, too, is due at the next tick
    this.isArmed = true;
  }

  // The two halves of a client's turn.

  deliver(): void {
    this.isTold = false;
    this.isArmed = true; // the other half is to come
    this.bell.lower();
    this.known.read();
    this.hasMore = this.delivery.deliver(this.lane, this.options.maxBatch) === this.options.maxBatch;
  }

  publish(): void {
    this.known.read();
    this.isArmed = this.hasMore;
    this.lane.commands.publish();
    if (!this.hasMore) this.checkAnswer();
  }

  // The world.

  /** False where a manual clock cannot be moved yet, because commands wait for room. */
  advance(ticks: number): boolean {
    if (this.options.manual) {
      this.lane.commands.publish();
      if (this.lane.commands.waiting > 0) return false;
    }
    this.clock.set(this.time + ticks);
    if (this.options.manual) {
      this.asked = { time: this.time, due: new Set(this.live.filter((timer) => timer.deadline <= this.time)) };
      this.ask();
      this.isArmed = true;
    }
    return true;
  }

  /** One step of the shard: a turn, or a park. False where it sleeps on, or is dead. */
  step(): boolean {
    return this.loop?.step() ?? false;
  }

  crash(): void {
    this.loop = undefined;
  }

  rebuild(): void {
    this.loop = this.buildLoop(true);
    this.isTold = true; // the coordinator has the client look, whenever a shard has died
  }

  /** Lets the shard run alone, until it sleeps. */
  rest(): void {
    for (let i = 0; i < 200; i++) if (!this.step()) return;
    throw new Error('the shard does not come to rest, although the client stands still');
  }

  /** Lets both sides run until nothing is left to do at this time. */
  settle(): void {
    for (let i = 0; i < 5000; i++) {
      const hasStepped = this.step();
      const turns = this.isTold || this.isArmed;
      if (turns) this.deliver();
      if (turns) this.publish();
      if (!hasStepped && !turns) return;
    }
    throw new Error('client and shard keep each other awake for ever');
  }

  /** Runs everything to its end and checks how each timer ended. */
  finish(): void {
    if (this.loop === undefined) this.rebuild();
    const from = this.time;
    this.settle();
    for (let i = 0; i < LONGEST_END && this.lane.table.size > 0; i++) {
      if (!this.advance(1)) throw new Error('commands are held back for ever');
      this.settle();
    }
    if (this.asked !== undefined) throw new Error('the answer never came');
    for (const timer of this.timers) {
      if (timer.outcome === 'live') throw new Error(`timer ${timer.id} due ${timer.deadline} is stuck at ${this.time}`);
      if (timer.outcome === 'delivered' && timer.deliveredAt > Math.max(from, timer.deadline) + PATIENCE) {
        throw new Error(`timer ${timer.id} due ${timer.deadline} was delivered only at ${timer.deliveredAt}`);
      }
      if (this.lane.table.slotOf(timer.id) >= 0) throw new Error(`the id of timer ${timer.id} is still live`);
    }
    if (this.lane.table.size !== 0) throw new Error(`the table holds ${this.lane.table.size} timers more`);
    const index = this.loop?.built.shard.lanes[0].index;
    let filed = 0;
    index?.forEach(() => {
      filed += 1;
    });
    if (filed !== index?.size) throw new Error(`the index counts ${index?.size} entries, and has ${filed}`);
    if (this.lane.commands.waiting !== 0) throw new Error('commands are held back for ever');
  }

  private readonly delivered = (argument: unknown, id: number): void => {
    const timer = argument as KnownTimer;
    if (timer.outcome !== 'live') throw new Error(`timer ${id} was delivered, but is ${timer.outcome} already`);
    if (timer.id !== id) throw new Error(`timer ${timer.id} was delivered as ${id}`);
    const { deadline, due } = timer;
    if (this.time < deadline) throw new Error(`timer ${id} due ${deadline} was delivered at ${this.time}`);
    if (this.time < due) throw new Error(`timer ${id}, moved to tick ${due}, was delivered at ${this.time}`);
    timer.outcome = 'delivered';
    this.deliveries.push(timer);
    timer.deliveredAt = this.time;
  };

  private ask(): void {
    this.lane.commands.publish();
    this.lane.requestAnswer();
  }

  /** As the client's own: whether all that was due when the clock was moved has been delivered. */
  private checkAnswer(): void {
    if (this.asked === undefined || !this.lane.isAnswered()) return;
    if (this.lane.firedCount() > 0) {
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

  private buildLoop(rebuild: boolean): SteppedLoop {
    const post = () => {
      touch();
      this.isTold = true;
    };
    const built = buildShard(this.setup, post, rebuild ? 'tables' : 'nothing');
    setBudget(built.shard, this.options.budget);
    return new SteppedLoop(built, this.setup.doorbell, this.options.manual);
  }
}

export const allocateSetup = (options: WorldOptions): ShardSetup => ({
  number: 0,
  tick: 1,
  wheel: { engine: 'cascading', precision: 1, levelBits: [1, 1] },
  clock: SharedClock.allocate(true),
  doorbell: allocateDoorbell(),
  heartbeat: allocateHeartbeat(),
  lanes: [{ memory: allocateLane(options.capacity, options.rings), clientBell: ClientBell.allocate() }],
});

/** Makes a world's memory as good as new. */
export function zero({ clock, doorbell, lanes: [{ memory, clientBell }] }: ShardSetup): void {
  const { header, table, commands, fired } = memory;
  for (const buffer of [clock.buffer, doorbell, clientBell, header, table, commands.cells, fired.cells]) {
    new Int32Array(buffer).fill(0);
  }
}

const lateness = new LatenessHistogram();

const setBudget = (shard: Shard, budget: number): void => {
  Object.assign(shard, { budget });
};
