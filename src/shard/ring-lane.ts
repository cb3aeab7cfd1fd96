import type { ClientBell } from '../lane/doorbell.ts';
import { tickOfWords, ticksBetween, WORD_REACH } from '../lane/due-word.ts';
import { commandCounters, type LaneMemory, REQUEST, WANTS_ROOM } from '../lane/lane-memory.ts';
import { RingConsumer } from '../lane/ring.ts';
import type { TableView } from '../lane/table-view.ts';
import { allocateWords, wordsIn } from '../memory/shared-words.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import { ServedLane } from './served-lane.ts';

/** How many commands are read ahead of filing. */
const BLOCK = 64;

/**
 * A lane of another thread's client. Commands come by the ring; the lane itself notes under which tag a slot is filed.
 */
export class RingLane extends ServedLane {
  protected readonly noteBytes = Int32Array.BYTES_PER_ELEMENT;
  private readonly tags: Int32Array;
  private readonly commandRing: RingConsumer;

  constructor(memory: LaneMemory, table: TableView, index: TickIndex, clientBell: ClientBell) {
    super(memory, table, table, index, clientBell);
    this.tags = wordsIn(allocateWords(memory.capacity));
    this.commandRing = new RingConsumer(memory.commands, commandCounters(this.header));
  }

  turn(now: number, budget: number): boolean {
    if (this.isBetweenRounds()) {
      this.roundTick = now;
      this.roundLeft = this.available();
    }
    if (this.roundLeft > 0) this.takeCommands(Math.min(this.roundLeft, budget));
    if (this.roundLeft > 0) return true;
    const isDone = this.handOverDue(budget);
    const isNews = this.publish(isDone);
    // The client itself lowers its flag, when it has published the commands that it kept back.
    if (isNews || Atomics.load(this.header, WANTS_ROOM) === 1) this.clientBell.ring();
    return !isDone && !this.isBlocked();
  }

  hasNews(): boolean {
    // no round begins before these are handed over: see nextEvent()
    if (!this.areAllListed && this.list.length > 0) return false;
    return this.available() > 0 || Atomics.load(this.header, REQUEST) !== this.request;
  }

  protected available(): number {
    return this.commandRing.available();
  }

  /** Files the next commands of the round. */
  private takeCommands(count: number): void {
    this.prepareFor(this.roundLeft);
    for (let left = count; left > 0; left -= BLOCK) {
      if (!this.areAllListed) this.readAhead(Math.min(BLOCK, left));
      this.fileNext(Math.min(BLOCK, left));
    }
    this.commandRing.release();
    this.roundLeft -= count;
    this.commands += count;
    this.byRing += count;
  }

  /** Acquires the tail first: then everything published is in the table. */
  protected skipCommands(): void {
    this.commandRing.skipAll();
  }

  wantedAt(slot: number, tick: number): number {
    const { table } = this;
    const due = table.dueOf(slot);
    const tag = table.tagOf(slot); // after due: while the tag still matches, due is this timer's
    if (tag !== this.tags[slot]) return -1;
    this.wantedTag = tag;
    const later = ticksBetween(tick, due);
    // An old due word may seem later than it is; the deadline does not.
    return later > 0 && table.deadlineTickOf(slot) > tick ? tick + later : tick;
  }

  protected filedTagOf(slot: number): number {
    return this.tags[slot];
  }

  protected file(slot: number, tag: number, tick: number): void {
    if (this.tags[slot] === tag && this.index.has(slot)) {
      // The same timer is already filed, early enough and near enough for its due word: it is refiled when that tick
      // comes.
      const wait = tick - this.index.tickOf(slot);
      if (wait >= 0 && wait <= WORD_REACH) return;
    }
    this.tags[slot] = tag;
    this.insert(slot, tag, tick);
  }

  /**
   * Reads what the filing of the next commands will need, only to bring it into the processor's cache: these look-ups
   * do not wait for one another.
   */
  private readAhead(count: number): void {
    const { commandRing, index, tags } = this;
    const { cells } = commandRing;
    let sink = 0;
    for (let i = 0; i < count; i++) {
      const slot = cells[commandRing.peek(i)];
      if (index.has(slot)) sink ^= tags[slot];
    }
    for (let i = 0; i < count; i++) {
      const at = commandRing.peek(i);
      const slot = cells[at];
      if (tags[slot] === cells[at + 1] && index.has(slot)) sink ^= index.tickOf(slot) | 0; // it is being moved
    }
    this.prefetchSink = sink; // V8: used results
  }

  private fileNext(count: number): void {
    const { commandRing, index, tags } = this;
    const { cells } = commandRing;
    for (let i = 0; i < count; i++) {
      const at = commandRing.take();
      const slot = cells[at];
      const tag = cells[at + 1];
      const tick = tickOfWords(cells[at + 2], cells[at + 3]);
      if (this.areAllListed || tick > index.now) {
        this.file(slot, tag, tick);
        continue;
      }
      tags[slot] = tag;
      this.insertLate(slot, tag, tick);
    }
  }
}
