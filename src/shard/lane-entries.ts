import { AllocationError } from '../errors.ts';
import type { TableView } from '../lane/table-view.ts';
import type { DueSink, EntryOwner, TickIndex } from '../wheel/tick-index.ts';
import { EntryList } from './entry-list.ts';

// Taken once: a program may replace them.
const { min } = Math;

/**
 * Number of entries up to which all are in the list, and the index has nothing: then a turn does not touch it. Each
 * turn finds the next entry at the list's head, and puts a new one in its place by some comparisons and by moving
 * others; beyond this number that would cost more than a wheel.
 */
const MAX_LISTED = 2048;

/**
 * The entries of a lane: for each, a slot, the tag of its timer, and the tick when it is looked at.
 *
 *     few:   all in the list, the index empty
 *       │ ▲ a round that leaves half of the list free: `listAll`
 *       ▼ │ more commands than it has room for: `fileAll`
 *     many:  in the index; in the list those that were due when they were taken
 *
 * So those of a tick are in one of both, in the order of their commands; of the late ones all of a tick come after the
 * index's.
 */
export abstract class LaneEntries implements DueSink, EntryOwner {
  readonly index: TickIndex;
  /** Entries filed again, and dropped, other than by looks of the index. */
  refiled = 0;
  dropped = 0;
  /** All entries while `areAllListed`, else those that were due when they were taken. */
  protected readonly list = new EntryList();
  /** Whether the index is empty, since there are few entries. */
  protected areAllListed = false;
  /** The tick at which the round began. */
  protected roundTick = 0;
  protected readonly timers: Pick<TableView, 'tagOf' | 'dueOf'>;
  private readonly mostListed: number = MAX_LISTED;

  constructor(timers: Pick<TableView, 'tagOf' | 'dueOf'>, index: TickIndex) {
    this.timers = timers;
    this.index = index;
  }

  /** Called when an entry's tick has come. */
  abstract due(slot: number, tick: number): void;
  /**
   * When an entry that is filed at `tick` is due by what the table says now; -1 if its timer has ended. Else it notes
   * the tag of the entry as `wantedTag`: that of the table may be another a moment later.
   */
  abstract wantedAt(slot: number, tick: number): number;

  /** The tag under which a slot is filed. Precondition: it is filed. */
  protected abstract filedTagOf(slot: number): number;

  /** Visits every entry, with the tag under which it is filed: those of the index, then the listed ones. */
  protected forEachEntry(visit: (slot: number, tag: number, tick: number) => void): void {
    const { index, list } = this;
    index.forEach((slot) => void visit(slot, this.filedTagOf(slot), index.tickOf(slot)));
    list.forEach(visit);
  }

  /** Returns every entry. */
  entries(): { slot: number; tag: number; tick: number }[] {
    const entries: { slot: number; tag: number; tick: number }[] = [];
    this.forEachEntry((slot, tag, tick) => void entries.push({ slot, tag, tick }));
    return entries;
  }

  /**
   * Files what is listed, except what the index has passed: for a look at the wheel, or when there are many. If memory
   * is refused, throws and loses nothing.
   */
  fileAll(): void {
    if (!this.areAllListed) return;
    const { index, list, roundTick } = this;
    index.advanceTo(list.length > 0 ? min(roundTick, list.ticks[list.next] - 1) : roundTick, this, 0);
    let passed = 0;
    try {
      list.forEach((slot, _tag, tick) => {
        if (tick > index.now) this.fileIn(index, slot, tick);
        else passed += 1;
      });
    } catch (error) {
      index.clear();
      throw error;
    }
    this.areAllListed = false;
    list.truncate(passed);
  }

  /** Called before commands of a round are filed: decides where. */
  protected prepareFor(commands: number): void {
    const { index, list, mostListed } = this;
    if (this.areAllListed) {
      if (list.length + commands > mostListed) this.fileAll();
    } else if (list.length === 0 && index.size + commands <= mostListed / 2) this.listAll();
  }

  /** Files a slot, instead of any entry of it. Where the list is refused memory, the index may have some. */
  protected insert(slot: number, tag: number, tick: number): void {
    if (this.areAllListed) {
      try {
        this.list.put(slot, tag, tick);
        return;
      } catch (error) {
        if (!(error instanceof AllocationError)) throw error;
        this.fileAll();
        if (tick <= this.index.now) {
          this.insertLate(slot, tag, tick); // where there is room now
          return;
        }
      }
    }
    this.fileIn(this.index, slot, tick);
  }

  /**
   * Lists an entry that is late, instead of any entry of its slot in the index. There it is as well if the list is
   * refused memory, provided that the index comes past in this round.
   */
  protected insertLate(slot: number, tag: number, tick: number): void {
    const { index } = this;
    index.remove(slot); // an entry of an earlier timer would count as one of this
    try {
      this.list.append(slot, tag, tick);
    } catch (error) {
      if (!(error instanceof AllocationError) || index.now >= this.roundTick) throw error;
      this.fileIn(index, slot, tick);
    }
  }

  /** The earliest tick at which an entry comes due that is still wanted. Precondition: none is late. */
  protected nextWanted(): number {
    return this.areAllListed ? this.firstListed() : this.index.nextDue(this);
  }

  /**
   * The tick of the first listed entry that is still wanted; Infinity if there is none. Those before it whose timer has
   * ended are dropped, and those that are due later are filed anew.
   */
  protected firstListed(): number {
    const { list } = this;
    while (list.length > 0) {
      const { next } = list;
      const slot = list.words[2 * next];
      const tag = list.words[2 * next + 1];
      const tick = list.ticks[next];
      // else its timer has ended, and its slot may be filed for the next one
      const isSame = this.timers.tagOf(slot) === tag;
      const wanted = isSame ? this.wantedAt(slot, tick) : tick;
      if (isSame && wanted === tick) return tick;
      if (wanted > tick) {
        this.insert(slot, tag, wanted);
        this.refiled += 1;
        if (this.areAllListed) continue; // it stands there instead of this one, and takes no more memory
      } else this.dropped += 1;
      list.drop();
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Lists what is filed, unless memory for that is refused. Precondition: nothing is listed. */
  private listAll(): void {
    const { index, list } = this;
    const filed = index.size > 0 ? this.entries() : [];
    try {
      for (const { slot, tag, tick } of filed) list.put(slot, tag, tick);
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error;
      list.truncate(0);
      return;
    }
    this.areAllListed = true;
    for (const { slot } of filed) index.remove(slot);
  }

  private fileIn(index: TickIndex, slot: number, tick: number): void {
    index.remove(slot);
    index.insert(slot, tick);
  }
}
