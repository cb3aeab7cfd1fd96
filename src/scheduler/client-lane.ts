import type { Doorbell } from '../lane/doorbell.ts';
import { ticksBetween } from '../lane/due-word.ts';
import { ANSWERED, BLOCKED, firedCounters, type LaneMemory, REQUEST } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import { TimerTable } from '../lane/timer-table.ts';
import type { TimerId, TimerIdLayout } from '../timer-id.ts';
import type { ClientTime } from './client-time.ts';
import { Commands } from './commands.ts';

/** A timer's callback gets the argument it was scheduled with, and its id, which is no longer live. */
export type TimerCallback<A> = (argument: A, id: TimerId) => void;

export interface UnfiredTimer {
  id: TimerId;
  deadline: number;
  argument: unknown;
}

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
  /** Callback and argument of slot s at 2s and 2s + 1; no longer than the highest slot that has either. */
  private readonly payload: unknown[] = [];
  /** Whether a timer has ever been far: then due words alone do not tell which of two ticks is earlier. */
  private hasFar = false;
  private request = 0;
  private sentAtRequest = 0;

  constructor(memory: LaneMemory, layout: TimerIdLayout, shard: number, doorbell: Doorbell, time: ClientTime) {
    this.memory = memory;
    this.doorbell = doorbell;
    this.header = new Int32Array(memory.header);
    this.table = new TimerTable(memory, layout, shard);
    this.commands = new Commands(memory, this.table, doorbell, time);
    this.firedRing = new RingConsumer(memory.fired, firedCounters(this.header));
  }

  /** Starts a timer; its slot, or -1 when the table is full. */
  schedule(deadline: number, due: number, isNear: boolean, callback: unknown, argument: unknown): number {
    if (!isNear) this.hasFar = true;
    const slot = this.table.allocate(deadline, due);
    if (slot < 0) return -1;
    if (callback !== undefined || argument !== undefined) this.keep(slot, callback, argument);
    this.commands.stage(slot, this.table.tagOf(slot));
    return slot;
  }

  /**
   * Moves a live timer. To later the table is all that changes, as long as the new due tick is near: the shard finds out
   * when the old tick comes.
   */
  move(slot: number, deadline: number, due: number, isNear: boolean): void {
    if (!isNear) this.hasFar = true;
    const isEarlier = this.hasFar
      ? deadline < this.table.deadlineOf(slot)
      : ticksBetween(this.table.dueOf(slot), due) < 0;
    this.table.move(slot, deadline, due);
    if (isEarlier || !isNear) this.commands.stage(slot, this.table.tagOf(slot));
  }

  /** Files a live timer anew whose record came before its deadline. */
  refile(slot: number, due: number): void {
    this.table.move(slot, this.table.deadlineOf(slot), due);
    this.commands.stage(slot, this.table.tagOf(slot));
  }

  /** Ends a live timer and lets go of what it kept. */
  end(slot: number): void {
    this.table.free(slot);
    const at = slot * 2;
    if (at < this.payload.length) {
      this.payload[at] = undefined;
      this.payload[at + 1] = undefined;
    }
  }

  callbackOf(slot: number): TimerCallback<unknown> | undefined {
    const at = slot * 2;
    return at < this.payload.length ? (this.payload[at] as TimerCallback<unknown> | undefined) : undefined;
  }

  argumentOf(slot: number): unknown {
    const at = slot * 2 + 1;
    return at < this.payload.length ? this.payload[at] : undefined;
  }

  /** Fired records that wait to be taken. */
  firedCount(): number {
    return this.firedRing.available();
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
    for (let slot = 0; slot < this.table.highWater; slot++) {
      if (!this.table.isLive(slot)) continue;
      yield { id: this.table.idOf(slot), deadline: this.table.deadlineOf(slot), argument: this.argumentOf(slot) };
    }
  }

  private keep(slot: number, callback: unknown, argument: unknown): void {
    const at = slot * 2;
    // Grown by pushing, so that the array stays packed.
    while (this.payload.length < at) this.payload.push(undefined, undefined);
    if (at === this.payload.length) this.payload.push(callback, argument);
    else {
      this.payload[at] = callback;
      this.payload[at + 1] = argument;
    }
  }
}
