import type { Context } from '../async-context/context-keeper.ts';
import type { Doorbell } from '../lane/doorbell.ts';
import { ANSWERED, BLOCKED, firedCounters, type LaneMemory, REQUEST } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import { TimerTable } from '../lane/timer-table.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import type { ClientTime } from './client-time.ts';
import { Commands } from './commands.ts';
import { tellOfHandBack } from './hand-back.ts';
import { Payload } from './payload.ts';

/** A timer's callback gets the argument it was scheduled with, and its id, which is no longer live. */
export type TimerCallback<A> = (argument: A, id: TimerId) => void;

export interface UnfiredTimer {
  id: TimerId;
  deadline: number;
  argument: unknown;
}

/** What a closed lane's timers carry. Made here, as close() must not ask for memory. */
const NOTHING = new Payload(0);

/** Ended timers whose payload is let go of together. */
const RELEASE_LIMIT = 1024;

/**
 * A lane as its client sees it: the timer table, the callbacks and arguments that never leave this thread, the command
 * ring's near end and the fired ring's far end. Slots stand for timers in here; ids are made and checked by the table.
 */
export class ClientLane {
  readonly table: TimerTable;
  readonly commands: Commands;
  readonly doorbell: Doorbell;
  readonly memory: LaneMemory;
  private readonly header: Int32Array;
  private readonly firedRing: RingConsumer;
  private payload: Payload;
  private readonly time: ClientTime;
  /** Slots whose timers were moved to the present or the past at the tick `putOffTick`: due at the next one. */
  private readonly putOff = new Set<number>();
  private putOffTick = Number.NaN;
  /**
   * The most timers alive at once since the last `release`. So many more than are alive now have ended since: their slots
   * are the first of the free list, and may still hold what their timers carried.
   */
  private most = 0;
  /** Of no use: see fetchFired. */
  fetched = 0;
  private request = 0;
  private sentAtRequest = 0;

  constructor(memory: LaneMemory, layout: TimerIdLayout, shard: number, doorbell: Doorbell, time: ClientTime) {
    this.memory = memory;
    this.doorbell = doorbell;
    this.time = time;
    this.header = new Int32Array(memory.header);
    this.table = new TimerTable(memory, layout, shard);
    this.payload = new Payload(memory.capacity);
    this.commands = new Commands(memory, this.table, doorbell, time);
    this.firedRing = new RingConsumer(memory.fired, firedCounters(this.header));
  }

  /** Starts a timer whose context is its callback's own affair; its slot, or -1 when the table is full. */
  schedule(deadline: number, due: number, callback: unknown, argument: unknown): number {
    this.commands.reserve(1);
    const slot = this.table.allocate(deadline, due);
    if (slot >= 0) this.begin(slot, this.table.tagOf(slot), callback, argument, undefined);
    return slot;
  }

  /** What remains to be done for a timer that the table has just been given. Precondition: a command was reserved. */
  begin(slot: number, tag: number, callback: unknown, argument: unknown, context: Context): void {
    const { size } = this.table;
    if (size > this.most) this.most = size;
    this.payload.set(slot, callback, argument, context);
    this.commands.add(slot, tag);
  }

  /**
   * Moves a live timer. To later the table is all that changes, as long as the new due tick is near: the shard finds out
   * when the old tick comes.
   */
  move(slot: number, deadline: number, due: number, isNear: boolean): void {
    const isCommanded = deadline < this.table.deadlineOf(slot) || !isNear;
    if (isCommanded) this.commands.reserve(1); // may publish: what goes out then is still as it was
    this.table.move(slot, deadline, due);
    if (isCommanded) this.commands.add(slot, this.table.tagOf(slot));
    if (deadline < this.time.nextTickTime) this.putOffToNextTick(slot);
  }

  /** Whether the slot's timer was moved to the next tick at this very one, so that a fired record of it is older. */
  isPutOff(slot: number): boolean {
    return this.putOffTick === this.time.tick && this.putOff.has(slot);
  }

  /** Files a live timer anew whose record came before it is due. Precondition: a command was reserved. */
  refile(slot: number, due: number): void {
    this.table.move(slot, this.table.deadlineOf(slot), due);
    this.commands.add(slot, this.table.tagOf(slot));
  }

  /**
   * Ends a live timer. What it carried is let go of when the slot is taken again or `release` is called: most slots are
   * taken again at once, and one visit to the payload costs less than two.
   */
  end(slot: number): void {
    if (!this.table.free(slot)) {
      this.payload.clear(slot);
      return;
    }
    if (this.most - this.table.size >= RELEASE_LIMIT) this.release();
  }

  /** Lets go of everything that ended timers carried, and of what a tick that is over put off. */
  release(): void {
    if (this.putOff.size > 0 && this.putOffTick !== this.time.tick) this.putOff.clear();
    const { size } = this.table;
    let unreleased = this.most - size;
    this.most = size;
    if (unreleased === 0) return;
    this.table.forEachFree((slot) => {
      this.payload.clear(slot);
      unreleased -= 1;
      return unreleased > 0;
    });
  }

  callbackOf(slot: number): TimerCallback<unknown> | undefined {
    return this.payload.callbackOf(slot) as TimerCallback<unknown> | undefined;
  }

  argumentOf(slot: number): unknown {
    return this.payload.argumentOf(slot);
  }

  contextOf(slot: number): Context {
    return this.payload.contextOf(slot);
  }

  /** Fired records that wait to be taken. */
  firedCount(): number {
    return this.firedRing.available();
  }

  /**
   * Looks at what the next `count` fired records refer to, for no other purpose than to have it in the processor's cache:
   * here one access need not wait for the other, in their delivery each does. Precondition: count <= firedCount().
   */
  fetchFired(count: number): void {
    let fetched = 0;
    for (let i = 0; i < count; i++) {
      const slot = this.firedRing.cells[this.firedRing.peek(i)];
      fetched ^= this.payload.touch(slot) ^ this.table.tagOf(slot);
    }
    this.fetched = fetched; // or else the compiler leaves it all out
  }

  /** Whether the next fired record is of a live timer with a callback. Precondition: firedCount() > 0. */
  isCallbackNext(): boolean {
    const { cells } = this.firedRing;
    const at = this.firedRing.peek(0);
    const slot = cells[at];
    return this.table.tagOf(slot) === cells[at + 1] && this.payload.callbackOf(slot) !== undefined;
  }

  /** Takes a fired record: the slot if the timer that was fired is still live, else -1. Precondition: firedCount() > 0. */
  takeFired(): number {
    const at = this.firedRing.take();
    const slot = this.firedRing.cells[at];
    return this.table.tagOf(slot) === this.firedRing.cells[at + 1] ? slot : -1;
  }

  /** Gives the room of taken records back; wakes the shard if it waits for it. */
  releaseFired(): void {
    this.firedRing.release();
    if (Atomics.load(this.header, BLOCKED) === 1) this.doorbell.ring(); // pairs with ServedLane.isBlocked
  }

  /** Asks the shard to say when it has caught up with the clock and all commands. */
  requestAnswer(): void {
    this.request = (this.request + 1) | 0;
    this.sentAtRequest = this.commands.sent;
    Atomics.store(this.header, REQUEST, this.request);
    this.doorbell.ring();
  }

  /** Whether the shard has answered the last request; what it fired until then can be taken. */
  isAnswered(): boolean {
    return Atomics.load(this.header, ANSWERED) === this.request;
  }

  /** Whether commands have been published, or wait to be, that the last answer need not cover. */
  hasSentSinceRequest(): boolean {
    return this.commands.sent !== this.sentAtRequest || this.commands.waiting > 0;
  }

  *unfired(): Generator<UnfiredTimer> {
    for (const slot of this.liveSlots()) {
      yield { id: this.table.idOf(slot), deadline: this.table.deadlineOf(slot), argument: this.argumentOf(slot) };
    }
  }

  /** The client is closed: tells those of its timers who have to know, and lets go of what all of them carry. */
  handBack(): void {
    for (const slot of this.liveSlots()) tellOfHandBack(this.callbackOf(slot), this.argumentOf(slot));
    this.payload = NOTHING;
  }

  private *liveSlots(): Generator<number> {
    for (let slot = 0; slot < this.table.highWater; slot++) if (this.table.isLive(slot)) yield slot;
  }

  private putOffToNextTick(slot: number): void {
    if (this.putOffTick !== this.time.tick) this.putOff.clear();
    this.putOffTick = this.time.tick;
    this.putOff.add(slot);
  }
}
