import type { Context } from '../async-context/context-keeper.ts';
import { CommandStage } from '../lane/command-stage.ts';
import type { Doorbell } from '../lane/doorbell.ts';
import { readTick } from '../lane/due-word.ts';
import { ANSWERED, BLOCKED, firedCounters, type LaneMemory, NEXT_DUE, REQUEST } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import { TimerTable } from '../lane/timer-table.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import { awaited, endWait, Waiter } from '../waiter.ts';
import type { CallGrids } from './call-grids.ts';
import type { ClientTime } from './client-time.ts';
import { Commands } from './commands.ts';
import type { SlotLabels } from './labels/slot-labels.ts';
import { LateCommands } from './late-commands.ts';
import { Payload } from './payload.ts';

// Taken once: a program may replace them.
const { min } = Math;

/** A timer's callback gets its argument and its id. The id is no longer live, unless the timer repeats. */
export type TimerCallback<A> = (argument: A, id: TimerId) => void;

/** The payload of a closed lane. Created here, since close() must not need memory. */
const NOTHING = new Payload(0);

/** Number of ended timers whose payload is released at a time. */
const RELEASE_LIMIT = 1024;

export interface LaneParts {
  readonly memory: LaneMemory;
  readonly layout: TimerIdLayout;
  readonly shard: number;
  /** With which the ids of each slot begin. Default 0. */
  readonly firstGeneration?: number;
  readonly doorbell: Doorbell;
  readonly time: ClientTime;
}

/**
 * The client's side of a lane: the timer table, the callbacks and arguments that never leave this thread, the near end
 * of the command ring and the far end of the fired ring. Timers are slots in here; the table makes and checks ids.
 * @internal
 */
export class ClientLane {
  readonly shard: number;
  readonly table: TimerTable;
  readonly commands: Commands;
  readonly doorbell: Doorbell;
  readonly memory: LaneMemory;
  private readonly header: Int32Array;
  readonly stage: CommandStage;
  /** The far end of the fired ring. */
  readonly ring: RingConsumer;
  /** Where the next fired records are: in that ring, or in one of this thread's own, see `LateCommands`. */
  fired: RingConsumer;
  /** What its timers carry. */
  payload: Payload;
  private readonly time: ClientTime;
  /**
   * Slots whose timers were moved to the present or the past at the tick `putOffTick`. They are due at the next tick.
   */
  readonly putOff = new Set<number>();
  putOffTick = Number.NaN;
  /**
   * The peak of live timers since the last `release`. The free list is last in, first out, so the difference to the
   * present number counts freed slots that nobody has taken again: the first of the list, which may still hold their
   * payload.
   */
  peak = 0;
  /** Set once one of its timers has a label. */
  slotLabels: SlotLabels | undefined = undefined;
  /** Set once one of its timers repeats. */
  grids: CallGrids | undefined = undefined;
  readonly late: LateCommands;
  /** Called when the table has moved to larger memory. */
  onMoved: () => void = () => undefined;
  /** The sum of the words read by `prefetch`. V8: used results */
  prefetchSink = 0;
  private request = 0;
  private sentAtRequest = 0;
  private stagedAtRequest = 0;

  constructor({ memory, layout, shard, firstGeneration, doorbell, time }: LaneParts) {
    this.memory = memory;
    this.shard = shard;
    this.doorbell = doorbell;
    this.time = time;
    this.header = new Int32Array(memory.header);
    this.table = new TimerTable(memory, layout, shard, firstGeneration);
    this.payload = new Payload(memory.capacity);
    this.table.room = min(this.table.room, this.payload.room);
    this.table.onFull = () => this.grow();
    this.stage = new CommandStage(this.table);
    this.commands = new Commands(memory, this.table, this.stage, doorbell, time);
    this.ring = new RingConsumer(memory.fired, firedCounters(this.header));
    this.fired = this.ring;
    this.late = new LateCommands(this, time);
    this.commands.onLate = () => this.late.published();
  }

  /**
   * Makes room for another slot where memory for all was refused; then whoever serves the lane has to read the new
   * table. Throws AllocationError.
   */
  private grow(): void {
    const { payload, table } = this;
    const slots = table.room + 1;
    payload.reserve(slots);
    const isMoved = table.reserve(slots);
    table.room = min(table.room, payload.room);
    if (isMoved) this.onMoved();
  }

  /** Completes a timer that the table has just created. Precondition: the stage has room. */
  begin(slot: number, tag: number, callback: unknown, argument: unknown, context: Context): void {
    const { size } = this.table;
    if (size > this.peak) this.peak = size;
    this.payload.set(slot, callback, argument, context);
    this.stage.add(slot, tag);
  }

  /**
   * Moves a live timer. A move to later changes only the table, as long as the new due tick is near: the shard notices
   * before the old tick would wake it, or when that comes. Returns whether a command was staged.
   */
  move(slot: number, deadline: number, due: number, isNear: boolean): boolean {
    const isCommanded = this.table.isDueAfter(slot, deadline) || !isNear;
    if (isCommanded) this.commands.reserve(1); // may publish, before the table changes
    this.table.move(slot, deadline, due);
    if (isCommanded) this.stage.add(slot, this.table.tagOf(slot));
    if (deadline < this.time.nextTickTime) this.putOffToNextTick(slot);
    return isCommanded;
  }

  /**
   * Whether the slot's timer was moved to the next tick at this very tick. Then a fired record of it is older than the
   * move.
   */
  isPutOff(slot: number): boolean {
    return this.putOffTick === this.time.tick && this.putOff.has(slot);
  }

  /**
   * Stages a live timer whose fired record is being taken: the index has it no more. Precondition: a command was
   * reserved.
   */
  restage(slot: number, deadline: number, due: number): void {
    this.table.move(slot, deadline, due);
    this.stage.add(slot, this.table.tagOf(slot));
  }

  /** The period of a live timer in ms; undefined if it does not repeat. */
  periodOf(slot: number): number | undefined {
    return this.grids !== undefined && this.payload.isRepeating(slot) ? this.grids.periodOf(slot) : undefined;
  }

  /**
   * Ends a live timer. Its payload is released when the slot is taken again or `release` is called. Most slots are
   * taken again at once, and one visit to the payload costs less than two.
   */
  end(slot: number): void {
    if (this.slotLabels !== undefined) this.slotLabels.end(slot);
    if (!this.table.free(slot)) {
      this.payload.clear(slot);
      return;
    }
    if (this.peak - this.table.size >= RELEASE_LIMIT) this.release();
  }

  /** Ends a live timer that is delivered, whose payload has been taken. */
  endDelivered(slot: number): void {
    const { table } = this;
    const isHeld = this.peak !== table.size; // the payload of others
    if (this.slotLabels !== undefined) this.slotLabels.end(slot);
    table.free(slot);
    if (!isHeld) this.peak = table.size;
  }

  /** Releases the payload of all ended timers, and the timers that were put off at a past tick. */
  release(): void {
    if (this.putOff.size > 0 && this.putOffTick !== this.time.tick) this.putOff.clear();
    const { size } = this.table;
    let unreleased = this.peak - size;
    this.peak = size;
    if (unreleased === 0) return;
    this.table.forEachFree((slot) => {
      this.payload.clear(slot);
      unreleased -= 1;
      return unreleased > 0;
    });
  }

  /**
   * Reads the table and payload of the next `count` fired records, only to bring them into the processor's cache. These
   * reads do not depend on each other; in the deliveries each would wait. Precondition: so many are available.
   */
  prefetch(count: number): void {
    let sink = 0;
    for (let i = 0; i < count; i++) {
      const slot = this.fired.cells[this.fired.peek(i)];
      sink ^= this.payload.prefetch(slot) ^ this.table.tagOf(slot);
    }
    this.prefetchSink = sink; // V8: used results
  }

  /**
   * Frees the room of taken records, and forgets what was read for them; wakes the shard's thread if it waits for room.
   */
  releaseFired(): void {
    const { payload } = this;
    payload.callback = undefined;
    payload.argument = undefined;
    payload.context = undefined;
    this.fired.release();
    // Pairs with ServedLane.isBlocked. A shard of this thread looks in the client's next turn.
    if (!this.stage.isServedHere && Atomics.load(this.header, BLOCKED) === 1) this.doorbell.ring();
  }

  /** Asks the shard to report when it has caught up with the clock and all commands. Returns the request's number. */
  requestAnswer(): number {
    this.request = (this.request + 1) | 0;
    this.sentAtRequest = this.commands.sent;
    // The answer does not cover commands that wait behind a full ring, whoever takes them.
    this.stagedAtRequest = this.commands.waiting > 0 ? Number.NaN : this.stage.added;
    Atomics.store(this.header, REQUEST, this.request);
    this.doorbell.ring();
    return this.request;
  }

  /** Whether the shard has answered the last request. Then all that it had fired by its answer can be taken. */
  isAnswered(): boolean {
    return this.hasAnswered(this.request);
  }

  /** The same of a request, or of a later one. */
  hasAnswered(request: number): boolean {
    return ((Atomics.load(this.header, ANSWERED) - request) | 0) >= 0;
  }

  /** Whether there are commands, published or waiting, that the last answer may not cover. */
  hasSentSinceRequest(): boolean {
    const { commands, stage } = this;
    const isStaged = stage.isServedHere && stage.added !== this.stagedAtRequest;
    return isStaged || commands.sent !== this.sentAtRequest || commands.waiting > 0;
  }

  /** The tick at which the shard next fires a timer, as of its last answer; Infinity if there is none. */
  nextDue(): number {
    return this.request === 0 ? Number.POSITIVE_INFINITY : readTick(this.header, NEXT_DUE);
  }

  /**
   * The earliest due tick of the live timers whose fired records have not been delivered; Infinity if there is none.
   * O(records).
   */
  nextFiredDue(): number {
    const { table, time } = this;
    let earliest = Number.POSITIVE_INFINITY;
    for (const slot of this.late.firedSlots()) {
      earliest = min(earliest, time.dueTickOfRecord(table.deadlineOf(slot), table.dueOf(slot)));
    }
    return earliest;
  }

  /** Whoever waits for the slot's timer. */
  waiterOf(slot: number): Waiter | undefined {
    if (this.payload.callbackOf(slot) !== awaited) return undefined;
    const argument = this.payload.argumentOf(slot);
    return Waiter.is(argument) ? argument : undefined;
  }

  /** Called when the client is closed: tells whoever waits, and releases the payload of all. */
  handBack(): void {
    for (const slot of this.liveSlots()) {
      const waiter = this.waiterOf(slot);
      if (waiter !== undefined) endWait(waiter, this.table.idOf(slot), 'handed back');
      this.slotLabels?.handBack(slot);
    }
    this.grids?.release();
    this.payload = NOTHING;
  }

  *liveSlots(): Generator<number> {
    for (let slot = 0; slot < this.table.highWater; slot++) if (this.table.isLive(slot)) yield slot;
  }

  private putOffToNextTick(slot: number): void {
    if (this.putOffTick !== this.time.tick) this.putOff.clear();
    this.putOffTick = this.time.tick;
    this.putOff.add(slot);
  }
}
