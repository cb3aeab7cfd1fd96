import { AllocationError } from '../errors.ts';
import type { CommandStage } from '../lane/command-stage.ts';
import type { ClientBell } from '../lane/doorbell.ts';
import { WORD_REACH } from '../lane/due-word.ts';
import { commandCounters, HIGH_WATER, type LaneMemory, REQUEST } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import { StagedSlots } from '../lane/staged-slots.ts';
import type { TableView } from '../lane/table-view.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import { ServedLane } from './served-lane.ts';

/** How far commands are read ahead of filing, in words. Fewer commands than that are filed at once. */
const BLOCK_WORDS = 2 * 64;

/**
 * The share of a long round that a turn takes at least: a client that stages more than a budget in each turn is caught
 * up with.
 */
const MIN_SHARE = 1 / 64;

/**
 * A lane of a client in this thread. It takes commands from the stage when the client wants it, and their values from
 * the table. The turns are the client's own: nobody is rung, and an answer or a fired record is found in the same turn.
 *
 * A command whose due tick has come is listed, and fired from there: a timer that is staged until it is due never sees
 * the wheel.
 *
 * No note says for which timer of its slot an entry was filed, since every command replaces the entry of its slot. So
 * an entry whose slot is free has ended. If the slot has another timer, whose command is still staged, the entry serves
 * that one until then: the table says when it is due. But where commands wait that are wanted, since they were staged
 * while a round lasted, the entry is dropped: it would bring its timer before those of that tick that were staged
 * first.
 */
export class LocalLane extends ServedLane {
  protected readonly noteBytes = 0;
  private readonly stage: CommandStage;
  private readonly staged: StagedSlots;
  /** How many entries have gone from the stage, taken or dropped, when the round has taken all of its own. */
  private roundEnd = 0;

  constructor(memory: LaneMemory, table: TableView, index: TickIndex, clientBell: ClientBell, stage: CommandStage) {
    super(memory, table, stage.table, index, clientBell);
    this.stage = stage;
    this.staged = new StagedSlots(stage);
    stage.isWanted = true; // it may hold what a predecessor was to take
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

  turn(now: number, budget: number): boolean {
    if (this.isBetweenRounds()) {
      this.request = Atomics.load(this.header, REQUEST);
      this.roundTick = now;
      this.roundLeft = this.stage.isWanted ? this.stage.length : 0;
      this.roundEnd = this.stage.taken + this.stage.dropped + this.roundLeft;
      this.stage.isWanted = false; // what is wanted from now on, while the round lasts, is for the next
    }
    if (this.roundLeft > 0) this.takeCommands(budget);
    if (this.roundLeft > 0) return true;
    const isDone = this.handOverDue(budget);
    this.publish(isDone);
    // A rest for which there is no room follows when there is some.
    const isWanted = this.stage.isWanted && this.stage.length > 0;
    return !isDone || isWanted || Atomics.load(this.header, REQUEST) !== this.request;
  }

  hasNews(): boolean {
    return Atomics.load(this.header, REQUEST) !== this.request;
  }

  protected available(): number {
    return this.stage.isWanted ? this.stage.length : 0;
  }

  private takeCommands(budget: number): void {
    const { stage } = this;
    // so that a successor finds all taken timers in the table
    Atomics.store(this.header, HIGH_WATER, stage.table.highWater);
    let left = Math.max(budget, this.roundLeft * MIN_SHARE);
    while (left > 0 && this.roundLeft > 0) {
      const chunk = stage.firstLive(this.roundLeft); // drops the stale ones before it
      if (chunk !== undefined) {
        const live = this.roundEnd - stage.taken - stage.dropped;
        const entries = Math.min((chunk.end - chunk.start) / 2, Math.ceil(left), live);
        this.prepareFor(entries);
        this.fileStaged(chunk.words, chunk.start, chunk.start + 2 * entries);
        stage.take(chunk, entries);
        this.commands += entries;
        left -= entries;
      }
      // The client may have dropped stale ones as well, of any place.
      this.roundLeft = Math.min(this.roundEnd - stage.taken - stage.dropped, stage.length);
    }
  }

  /** Staged commands are also in the table. They are filed again when they are taken. */
  protected skipCommands(): void {
    new RingConsumer(this.memory.commands, commandCounters(this.header)).skipAll();
  }

  /** The due word is never an old one here. If it is too far for a word, the client finds that out. */
  wantedAt(slot: number, tick: number): number {
    const { table } = this.stage;
    const tag = table.tagOf(slot);
    if ((tag & 1) === 0 || (this.stage.isWanted && this.isStaged(slot))) return -1;
    this.wantedTag = tag;
    const later = (table.dueOf(slot) - (tick | 0)) | 0;
    return later > 0 ? tick + later : tick;
  }

  /** Without memory for the answer, only the order within a tick is lost. */
  private isStaged(slot: number): boolean {
    try {
      return this.staged.has(slot);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      return false;
    }
  }

  protected filedTagOf(slot: number): number {
    return this.table.tagOf(slot);
  }

  protected file(slot: number, tag: number, tick: number): void {
    this.insert(slot, tag, tick);
  }

  /**
   * Reads the slots' index entries, only to bring them into the processor's cache: these look-ups do not wait for one
   * another.
   */
  private readAhead(words: Int32Array, start: number, end: number): void {
    const { index } = this;
    let filed = 0;
    for (let at = start; at < end; at += 2) if (index.has(words[at])) filed += 1;
    this.prefetchSink = filed; // V8: used results
  }

  private fileStaged(words: Int32Array, start: number, end: number): void {
    const { roundTick, stage, table } = this;
    const roundTime = table.scale.timeOf(roundTick);
    const reachTime = table.scale.timeOf(roundTick - WORD_REACH);
    for (let from = start; from < end; from += BLOCK_WORDS) {
      const to = Math.min(from + BLOCK_WORDS, end);
      if (to - from === BLOCK_WORDS) this.readAhead(words, from, to);
      for (let at = from; at < to; at += 2) {
        const slot = words[at];
        const wait = (stage.table.dueOf(slot) - (roundTick | 0)) | 0;
        const deadline = stage.table.deadlineOf(slot);
        const isLate = wait <= 0 && deadline <= roundTime && deadline > reachTime;
        const tick = isLate ? roundTick + wait : table.dueTickOf(slot, roundTick);
        if (this.areAllListed || tick > roundTick) this.insert(slot, words[at + 1], tick);
        else this.insertLate(slot, words[at + 1], tick);
      }
    }
  }
}
