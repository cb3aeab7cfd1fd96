import type { CommandStage } from '../lane/command-stage.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { commandCounters, type LaneMemory } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import type { TableView } from '../lane/table-view.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import type { CommandJournal } from './command-journal.ts';
import { ServedLane } from './served-lane.ts';

/**
 * A lane of a client in this very thread. It takes commands where they are staged, and what they ask for from the table.
 *
 * No note says for which timer of its slot an entry was filed, since every command takes out what the slot was filed for.
 * For that all that is staged must have been taken before the index advances to where any of it is due: see
 * `ClientLoop.turn`. So an entry of a timer that has ended is met where the slot is free, or has a timer that is not due.
 */
export class LocalLane extends ServedLane {
  private readonly stage: CommandStage;
  private readonly journal: CommandJournal | undefined;

  /** With a journal the lane can be handed over to another shard: see `handOver`. */
  constructor(
    memory: LaneMemory,
    table: TableView,
    index: TickIndex,
    clientBell: ClientBell,
    stage: CommandStage,
    journal?: CommandJournal,
  ) {
    super(memory, table, index, clientBell);
    this.stage = stage;
    this.journal = journal;
  }

  /** Commands that the one before has not taken stand in the ring. */
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

  /** Precondition: it has a journal. */
  handOver(): Int32Array {
    return (this.journal as CommandJournal).entries();
  }

  /** Whatever is staged when a round begins. */
  protected available(): number {
    return this.stage.isPublished ? this.stage.length : 0;
  }

  protected takeCommands(count: number): void {
    const { stage } = this;
    for (let left = count; left > 0; ) {
      const { gone } = stage;
      const chunk = stage.firstLive(this.roundLeft);
      this.roundLeft -= stage.gone - gone;
      if (chunk === undefined) {
        this.roundLeft = 0; // the client has cleared some out
        break;
      }
      const entries = Math.min((chunk.end - chunk.start) / 2, left, this.roundLeft);
      this.fileStaged(chunk.words, chunk.start, chunk.start + 2 * entries);
      stage.take(chunk, entries);
      this.roundLeft -= entries;
      this.commands += entries;
      left -= entries;
    }
    if (stage.length === 0) stage.isPublished = false;
  }

  /** The staged are found in the table as well. They are filed once more when they are taken. */
  protected skipCommands(): void {
    new RingConsumer(this.memory.commands, commandCounters(this.header)).skipAll();
  }

  /** If it is live: of an earlier timer of the slot nothing is filed any more. */
  protected isFiledFor(_slot: number, tag: number): boolean {
    return (tag & 1) === 1;
  }

  protected filedTagOf(slot: number): number {
    return this.table.tagOf(slot);
  }

  protected file(slot: number, tag: number, tick: number): void {
    this.journal?.add(slot, tag);
    this.index.remove(slot);
    this.insert(slot, tick);
  }

  protected takeOut(slot: number): void {
    this.index.remove(slot);
  }

  private fileStaged(words: Int32Array, start: number, end: number): void {
    const { index, table } = this;
    for (let at = start; at < end; at += 2) {
      const slot = words[at];
      const tick = table.dueTickOf(slot, index.now);
      if (tick > index.now) this.file(slot, words[at + 1], tick);
      else {
        this.journal?.add(slot, words[at + 1]);
        this.late.add(slot, words[at + 1], tick);
      }
    }
  }
}
