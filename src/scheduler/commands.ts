import type { Doorbell } from '../lane/doorbell.ts';
import { highWordOf, NEAR, wordOf } from '../lane/due-word.ts';
import { commandCounters, HIGH_WATER, type LaneMemory, WANTS_ROOM } from '../lane/lane-memory.ts';
import { RingProducer } from '../lane/ring.ts';
import type { TimerTable } from '../lane/timer-table.ts';
import type { ClientTime } from './client-time.ts';

/** Staged commands at which they are published without waiting for the end of the turn. */
const STAGE_LIMIT = 4096;

/**
 * The client's end of a lane's command ring. A command says: file this slot, under this tag, at its due tick.
 *
 * Commands are staged as (slot, tag) and published at the end of the event-loop turn, or when many have gathered. What
 * the table says *then* is what is sent: a timer cancelled meanwhile, or whose slot another has taken, never leaves the
 * client, and one that was moved is sent to where it was moved. When the ring is full the rest stays staged and the
 * shard is asked to say when there is room; the stage is bounded by the number of live timers, because stale and
 * doubled entries are cleared out before it grows.
 */
export class Commands {
  /** Commands published so far. */
  sent = 0;
  private readonly table: TimerTable;
  private readonly doorbell: Doorbell;
  private readonly time: ClientTime;
  private readonly header: Int32Array;
  private readonly ring: RingProducer;
  private staged = new Int32Array(STAGE_LIMIT * 2 + 2);
  private length = 0;
  private wantsRoom = false;
  /** Length at which the stage is published early; doubles while the ring has no room, so that trying costs O(1) each. */
  private earlyAt = STAGE_LIMIT * 2;

  constructor(memory: LaneMemory, table: TimerTable, doorbell: Doorbell, time: ClientTime) {
    this.table = table;
    this.doorbell = doorbell;
    this.time = time;
    this.header = new Int32Array(memory.header);
    this.ring = new RingProducer(memory.commands, commandCounters(this.header));
  }

  /** Commands not yet published. */
  get waiting(): number {
    return this.length / 2;
  }

  stage(slot: number, tag: number): void {
    this.staged[this.length] = slot;
    this.staged[this.length + 1] = tag;
    this.length += 2;
    if (this.length >= this.earlyAt) this.publishEarly();
  }

  /** Publishes what is staged, as far as the ring has room, and wakes the shard if it would sleep too long. */
  publish(): void {
    if (this.length === 0) return;
    Atomics.store(this.header, HIGH_WATER, this.table.highWater);
    this.dropStale();
    const count = Math.min(this.waiting, this.ring.room(this.waiting));
    const earliest = this.push(count);
    if (count * 2 < this.length) this.staged.copyWithin(0, count * 2, this.length);
    this.length -= count * 2;
    this.sent += count;
    this.ring.publish();
    this.setWantsRoom(this.length > 0);
    if (this.length > 0) this.doorbell.ring();
    else if (count > 0) this.ringFor(earliest);
  }

  /**
   * Drops entries whose timer has ended. A loop of its own, so short that the processor has the next records on their way
   * while it waits for one; `push` then finds them in its cache.
   */
  private dropStale(): void {
    const { staged, table } = this;
    let kept = 0;
    for (let read = 0; read < this.length; read += 2) {
      const slot = staged[read];
      const tag = staged[read + 1];
      if (table.tagOf(slot) !== tag) continue;
      staged[kept] = slot;
      staged[kept + 1] = tag;
      kept += 2;
    }
    this.length = kept;
  }

  /** Pushes the first `count` staged commands; returns the earliest of their due ticks. */
  private push(count: number): number {
    const { staged, table, time, ring } = this;
    let earliest = Number.POSITIVE_INFINITY;
    for (let read = 0; read < count * 2; read += 2) {
      const slot = staged[read];
      const tick = time.dueTickOfRecord(table.deadlineOf(slot), table.dueOf(slot));
      ring.pushFour(slot, staged[read + 1], wordOf(tick), highWordOf(tick));
      if (tick < earliest) earliest = tick;
    }
    return earliest;
  }

  private ringFor(earliest: number): void {
    if (this.ring.exactRoom() < this.ring.capacity / 2) this.doorbell.ring();
    else this.doorbell.ringIfAsleepUntilAfter(wordOf(Math.min(earliest, this.time.tick + NEAR)));
  }

  /** Before the shard is rung: the turn that it takes then sees what is wanted. */
  private setWantsRoom(wanted: boolean): void {
    if (wanted === this.wantsRoom) return;
    this.wantsRoom = wanted;
    Atomics.store(this.header, WANTS_ROOM, wanted ? 1 : 0);
  }

  /** The stage has filled within one turn. */
  private publishEarly(): void {
    this.publish();
    if (this.length > this.earlyAt / 2) this.dropDoubled();
    this.earlyAt = Math.max(STAGE_LIMIT * 2, this.length * 2);
    if (this.earlyAt < this.staged.length) return;
    const grown = new Int32Array(this.earlyAt + 2);
    grown.set(this.staged.subarray(0, this.length));
    this.staged = grown;
  }

  /** Drops entries that stand in the stage twice. Precondition: none is stale. */
  private dropDoubled(): void {
    const seen = new Set<number>();
    let kept = 0;
    for (let read = 0; read < this.length; read += 2) {
      const slot = this.staged[read];
      if (seen.has(slot)) continue;
      seen.add(slot);
      this.staged[kept] = slot;
      this.staged[kept + 1] = this.staged[read + 1];
      kept += 2;
    }
    this.length = kept;
  }
}
