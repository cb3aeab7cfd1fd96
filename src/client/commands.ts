import type { CommandStage, StageChunk } from '../lane/command-stage.ts';
import type { Doorbell } from '../lane/doorbell.ts';
import { highWordOf, wordOf } from '../lane/due-word.ts';
import { commandCounters, HIGH_WATER, type LaneMemory, WANTS_ROOM } from '../lane/lane-memory.ts';
import { RingProducer } from '../lane/ring.ts';
import type { TimerTable } from '../lane/timer-table.ts';
import type { ClientTime } from './client-time.ts';

// Taken once: a program may replace them.
const { min } = Math;

/**
 * The client's end of a lane's command ring. A command says: file this slot, under this tag, at its due tick.
 *
 * Commands are staged as (slot, tag) and published when somebody needs them, or when there are many. They send
 * what the table says *then*: a timer that was cancelled meanwhile, or whose slot another has taken, never leaves the
 * client, and a moved timer is sent with its new due tick. When the ring is full, the rest stays staged and the
 * client asks the shard to report when there is room.
 *
 * If the lane is served in this thread, nothing is published: the index takes the staged commands.
 */
export class Commands {
  /** Commands published so far through the ring. */
  sent = 0;
  private readonly table: TimerTable;
  private readonly doorbell: Doorbell;
  private readonly time: ClientTime;
  private readonly header: Int32Array;
  private readonly ring: RingProducer;
  readonly stage: CommandStage;
  /** Whether staged commands wait for room in the ring: then the shard reports when there is some. */
  wantsRoom = false;
  /** Called when commands have been published at their due tick or later, but by a manual clock. */
  onLate: () => void = () => undefined;
  /** Called when the stage is full and an index of this thread takes from it. */
  onFull: () => void = () => undefined;
  /** The published high water. */
  private highWater = 0;

  constructor(memory: LaneMemory, table: TimerTable, stage: CommandStage, doorbell: Doorbell, time: ClientTime) {
    this.table = table;
    this.stage = stage;
    this.doorbell = doorbell;
    this.time = time;
    this.header = new Int32Array(memory.header);
    this.ring = new RingProducer(memory.commands, commandCounters(this.header));
  }

  /** Commands not yet published; some of their timers may have ended. 0 if they are taken in this thread. */
  get waiting(): number {
    const { stage } = this;
    return stage.isServedHere ? 0 : stage.length;
  }

  /** Makes sure that the stage has room for this many commands. If memory is refused, throws and changes nothing. */
  reserve(commands: number): void {
    if (!this.stage.hasRoom(commands)) this.makeRoom(commands);
  }

  /**
   * Makes room in a stage that is full: publishes it, or has the index of this thread take it. Behind a full ring it
   * only grows: the shard has been rung for room. Throws like `reserve`.
   */
  makeRoom(commands: number): void {
    if (!this.stage.isServedHere && this.ring.room() > 0) this.publish();
    if (this.stage.hasRoom(commands)) return;
    this.stage.grow(commands);
    if (this.stage.isServedHere) this.onFull();
  }

  /** Does the same. Returns false where memory is refused: by the next turn a shard has taken what is staged. */
  tryToMakeRoom(commands: number): boolean {
    try {
      this.makeRoom(commands);
      return true;
    } catch {
      return false; // no memory
    }
  }

  /** Publishes staged commands, as far as the ring has room, and wakes the shard if it would sleep too long. */
  publish(): void {
    const { stage, time } = this;
    if (this.highWater !== this.table.highWater) this.publishHighWater();
    if (stage.length === 0 || stage.isServedHere) {
      this.setWantsRoom(false); // an index in this thread may have taken the waiting commands
      return;
    }
    let room = this.ring.room(stage.length);
    let count = 0;
    let earliest = Number.POSITIVE_INFINITY;
    for (let chunk = stage.firstLive(stage.length); room > 0 && chunk !== undefined; ) {
      const entries = min((chunk.end - chunk.start) / 2, room);
      earliest = min(earliest, this.push(chunk, entries));
      stage.take(chunk, entries);
      count += entries;
      room -= entries;
      if (room > 0) chunk = stage.firstLive(stage.length);
    }
    this.sent += count;
    this.ring.publish();
    this.setWantsRoom(stage.length > 0);
    if (stage.length > 0) this.doorbell.ring();
    else if (count > 0) this.ringFor(earliest);
    // After they were published. A turn of the shard that does not see them has published its own time before, which
    // this is not behind.
    if (count > 0 && !time.isManual && earliest <= time.scale.tickAtOrBefore(time.clock.now())) this.onLate();
  }

  /** Pushes the first entries of a chunk; returns the earliest of their due ticks. */
  private push(chunk: StageChunk, entries: number): number {
    const { table, time, ring } = this;
    const { start, words } = chunk;
    let earliest = Number.POSITIVE_INFINITY;
    for (let read = start; read < start + 2 * entries; read += 2) {
      const slot = words[read];
      const tick = time.dueTickOfRecord(table.deadlineOf(slot), table.dueOf(slot));
      ring.pushFour(slot, words[read + 1], wordOf(tick), highWordOf(tick));
      if (tick < earliest) earliest = tick;
    }
    return earliest;
  }

  private publishHighWater(): void {
    this.highWater = this.table.highWater;
    Atomics.store(this.header, HIGH_WATER, this.highWater);
  }

  private ringFor(earliest: number): void {
    if (this.ring.exactRoom() < this.ring.capacity / 2) this.doorbell.ring();
    else this.doorbell.ringIfAsleepUntilAfter(earliest);
  }

  /** Called before the shard is rung, so that the shard's turn sees the request. */
  private setWantsRoom(wanted: boolean): void {
    if (wanted === this.wantsRoom) return;
    this.wantsRoom = wanted;
    Atomics.store(this.header, WANTS_ROOM, wanted ? 1 : 0);
  }
}
