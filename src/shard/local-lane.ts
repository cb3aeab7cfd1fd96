import type { CommandStage } from '../lane/command-stage.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { commandCounters, HIGH_WATER, type LaneMemory } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import type { TableView } from '../lane/table-view.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import { ServedLane } from './served-lane.ts';

/** How far commands are read ahead of filing, in words. */
const BLOCK_WORDS = 2 * 64;

/**
 * A lane of a client in this thread. It takes commands from the stage, and their values from the table.
 *
 * No note says for which timer of its slot an entry was filed: every command removes the old entry of its slot, and all commands
 * are taken before the index advances. So the timer of an entry has ended exactly if its slot is free.
 */
export class LocalLane extends ServedLane {
  protected readonly noteBytes = 0;
  private clockTick = 0;
  private readonly stage: CommandStage;

  constructor(memory: LaneMemory, table: TableView, index: TickIndex, clientBell: ClientBell, stage: CommandStage) {
    super(memory, table, index, clientBell);
    this.stage = stage;
  }

  /** Commands that the previous shard has not taken are in the ring. */
  override takeOver(entries: Int32Array, now: number): number {
    const found = super.takeOver(entries, now);
    const ring = new RingConsumer(this.memory.commands, commandCounters(this.header));
    for (let left = ring.available(); left > 0; left--) {
      const at = ring.take();
      const [slot, tag] = [ring.cells[at], ring.cells[at + 1]];
      if (this.table.tagOf(slot) === tag) this.file(slot, tag, this.table.dueTickOf(slot, now));
    }
    ring.release();
    return found;
  }

  protected available(): number {
    return this.stage.length;
  }

  override turn(now: number, budget: number): boolean {
    this.clockTick = now;
    if (this.roundLeft === 0 && this.late.length > 0) this.takeRest();
    return super.turn(now, budget);
  }

  protected takeCommands(count: number): void {
    this.take(count);
    if (this.roundLeft === 0) this.takeRest();
  }

  /** Takes all commands staged since the round began, however many: between two turns the client has done more work on them. */
  private takeRest(): void {
    this.roundLeft = this.stage.length;
    if (this.roundLeft === 0) return;
    this.take(this.roundLeft);
    this.late.sort();
  }

  private take(count: number): void {
    const { stage } = this;
    Atomics.store(this.header, HIGH_WATER, stage.highWater); // so that a successor finds all taken timers in the table
    for (let left = count; left > 0; ) {
      const { dropped } = stage;
      const chunk = stage.firstLive(this.roundLeft);
      this.roundLeft -= stage.dropped - dropped;
      if (chunk === undefined) {
        this.roundLeft = 0; // the client has dropped stale ones
        break;
      }
      const entries = Math.min((chunk.end - chunk.start) / 2, left, this.roundLeft);
      const stop = chunk.start + 2 * entries;
      for (let from = chunk.start; from < stop; from += BLOCK_WORDS) {
        const to = Math.min(from + BLOCK_WORDS, stop);
        this.readAhead(chunk.words, from, to);
        this.fileStaged(chunk.words, from, to);
      }
      stage.take(chunk, entries);
      this.roundLeft -= entries;
      this.commands += entries;
      left -= entries;
    }
  }

  /** Staged commands are also in the table. They are filed again when they are taken. */
  protected skipCommands(): void {
    new RingConsumer(this.memory.commands, commandCounters(this.header)).skipAll();
  }

  /** True if it is live: an earlier timer of the slot has no entry left. */
  protected isFiledFor(_slot: number, tag: number): boolean {
    return (tag & 1) === 1;
  }

  protected filedTagOf(slot: number): number {
    return this.table.tagOf(slot);
  }

  protected file(slot: number, _tag: number, tick: number): void {
    this.index.remove(slot);
    this.insert(slot, tick);
  }

  protected takeOut(slot: number): void {
    this.index.remove(slot);
  }

  /** Reads the slots' index entries, only to bring them into the processor's cache: these look-ups do not wait for one another. */
  private readAhead(words: Int32Array, start: number, end: number): void {
    const { index } = this;
    let filed = 0;
    for (let at = start; at < end; at += 2) if (index.has(words[at])) filed += 1;
    this.prefetchSink = filed; // V8: used results
  }

  private fileStaged(words: Int32Array, start: number, end: number): void {
    const { clockTick, index, table } = this;
    for (let at = start; at < end; at += 2) {
      const slot = words[at];
      const tick = table.dueTickOf(slot, clockTick);
      if (tick > index.now) {
        this.file(slot, words[at + 1], tick);
        continue;
      }
      index.remove(slot); // an entry of an earlier timer would count as one of this: see `filedTagOf`
      this.late.add(slot, words[at + 1], tick);
    }
  }
}
