import type { ClientBell } from '../lane/doorbell.ts';
import { writeTick } from '../lane/due-word.ts';
import { ANSWERED, BLOCKED, firedCounters, type LaneMemory, NEXT_DUE, REQUEST } from '../lane/lane-memory.ts';
import { RingProducer } from '../lane/ring.ts';
import type { TableView } from '../lane/table-view.ts';
import { allocateWords, wordsIn } from '../memory/shared-words.ts';
import type { TickIndex } from '../wheel/tick-index.ts';
import { bytesOfLane, type LaneCounters } from './lane-counters.ts';
import { LaneEntries } from './lane-entries.ts';

/** What waits in a lane, for its shard and for its client. */
export interface WaitingCounts {
  /** Commands that the shard has not taken. */
  commands: number;
  /** Timers whose command arrived after their tick; taken, but not yet handed over. */
  late: number;
  /** Fired records that the client has not taken. */
  fired: number;
}

/**
 * One lane as its shard sees it: a disposable index over the client's timer table.
 *
 * Invariant between turns, which is why nothing is lost: for every live timer of the table
 *
 *     a command for it is on its way, staged or in the ring,
 *     or its slot is filed under its tag, in the index or in the list, at a tick not after its due tick,
 *     or a fired record with its tag is on its way to the client, which checks the table again.
 *
 * So a cancel needs no command: when the entry's tick comes, or is the next to come, the table has another tag, and the
 * entry is dropped. A move to later needs none, if it is within reach of a due word: the entry is refiled then. A move
 * to earlier needs one, and every new timer.
 *
 * The table is read without locks while the client writes it. Any mixture of old and new words is harmless: a tag that
 * does not match means a newer timer in the slot, whose own command is on its way; a due word that is too early makes a
 * fired record that the client answers with a new command; one that is too late can only be older than a move to
 * earlier, whose command is on its way. A due word is compared with the tick of the entry that came due: the two are
 * near, because a far move is commanded; if a mixture makes them seem near, the client decides.
 */
export abstract class ServedLane extends LaneEntries {
  readonly clientBell: ClientBell;
  /** Number of commands taken, and of those that came by the ring. */
  commands = 0;
  byRing = 0;
  fired = 0;
  /** The sum of words read only for the cache. V8: used results */
  prefetchSink = 0;

  /** Bytes per slot that it keeps beside the index. */
  protected abstract readonly noteBytes: number;
  protected readonly memory: LaneMemory;
  protected readonly header: Int32Array;
  protected readonly table: TableView;
  /** See `wantedAt`. */
  protected wantedTag = 0;
  /** Commands of the present round that are not yet filed. */
  protected roundLeft = 0;
  private readonly firedRing: RingProducer;
  protected request = 0;
  private answered: number;

  /** `timers`: the table once more, by the shortest way to its words. */
  constructor(
    memory: LaneMemory,
    table: TableView,
    timers: Pick<TableView, 'tagOf' | 'dueOf'>,
    index: TickIndex,
    clientBell: ClientBell,
  ) {
    super(timers, index);
    this.memory = memory;
    this.clientBell = clientBell;
    this.header = new Int32Array(memory.header);
    this.answered = Atomics.load(this.header, ANSWERED); // a predecessor's
    this.table = table;
    this.firedRing = new RingProducer(memory.fired, firedCounters(this.header));
  }

  // How its commands arrive, and what it knows about a filed slot.

  /**
   * Takes part in a turn at `now`: files commands, fires due timers, publishes; at most `budget` of each. Commands are
   * taken in rounds. A round covers all commands that were published when it began. Only when all of them are filed
   * does the wheel advance, to the tick at which the round began. So whatever a client publishes before it moves a
   * manual clock, or before a deadline, is in its place when that tick is handed over, however small the budget.
   * Returns whether there is more to do at once.
   */
  abstract turn(now: number, budget: number): boolean;
  /** Whether commands or a request have arrived since this turn read them. */
  abstract hasNews(): boolean;
  /** Number of commands that are published and not taken. */
  protected abstract available(): number;
  /** Drops published commands: the table that is read next contains them. */
  protected abstract skipCommands(): void;
  /** Files a live timer, and replaces any entry of its slot. */
  protected abstract file(slot: number, tag: number, tick: number): void;
  /**
   * Builds the index from the table, for a shard that replaces a dead one. Commands published before are skipped, since
   * the table already contains them; later ones arrive as usual. Returns the number of live timers found.
   */
  rebuild(now: number): number {
    this.skipCommands();
    let found = 0;
    this.table.forEachLive((slot, tag) => {
      this.file(slot, tag, this.table.dueTickOf(slot, now));
      found += 1;
    });
    return found;
  }

  /**
   * Builds the index from the entries that the previous shard has handed over. Commands that it has not taken arrive as
   * usual. Returns the number of live timers found.
   */
  takeOver(entries: Int32Array, now: number): number {
    let found = 0;
    for (let at = 0; at < entries.length; at += 2) {
      const [slot, tag] = [entries[at], entries[at + 1]];
      if (this.table.tagOf(slot) !== tag) continue;
      this.file(slot, tag, this.table.dueTickOf(slot, now));
      found += 1;
    }
    return found;
  }

  /**
   * Returns what another shard needs to take the lane over, in shared memory: (slot, tag) of every live timer that is
   * filed, those of a tick in the order of filing; then the listed ones, see `handOverListed`. After that this one must
   * not touch the lane.
   */
  handOver(): Int32Array {
    const entries = wordsIn(allocateWords(2 * (this.index.size + this.list.length)));
    let length = 0;
    this.forEachEntry((slot, tag) => {
      if ((tag & 1) === 0) return; // its timer has ended
      entries[length] = slot;
      entries[length + 1] = tag;
      length += 2;
    });
    return entries.subarray(0, length);
  }

  counters(): LaneCounters {
    const { commands, fired, noteBytes, index, list } = this;
    const { cascaded } = index;
    const refiled = this.refiled + index.refiled;
    const dropped = this.dropped + index.dropped;
    const filed = this.areAllListed ? list.length : index.size;
    const bytes = bytesOfLane(this.memory, index, this.table.highWater(), this.byRing, noteBytes);
    return { commands, fired, refiled, dropped, cascaded, filed, ...bytes };
  }

  /** Counts what waits in its queues. Precondition: all that can be is in the index, see `fileAll`. */
  queues(): WaitingCounts {
    const fired = this.firedRing.capacity - this.firedRing.exactRoom();
    return { commands: this.available(), late: this.list.length, fired };
  }

  /**
   * Notes which request the coming round will answer. The order is request, clock, commands. So an answer covers the
   * time to which a client moved the clock before it asked, and a time covers the commands published before the clock
   * was set.
   */
  noteRequest(): void {
    if (this.isBetweenRounds()) this.request = Atomics.load(this.header, REQUEST);
  }

  /**
   * Whether a round may begin: the last one is filed, and where the index has the rest, the late ones are handed over.
   */
  protected isBetweenRounds(): boolean {
    return this.roundLeft === 0 && (this.areAllListed || this.list.length === 0);
  }

  /**
   * Hands over at most `budget` of what is due by the round's tick, when all of its commands are in. Returns whether
   * that was all.
   */
  protected handOverDue(budget: number): boolean {
    let left = Math.min(budget, this.firedRing.exactRoom());
    if (this.list.length > 0) left = this.handOverListed(left);
    return left > 0 && (this.areAllListed || this.index.advanceTo(this.roundTick, this, left));
  }

  /** Reads what `due` will need of the table. */
  prefetch(slot: number): void {
    this.prefetchSink ^= this.timers.tagOf(slot);
  }

  /** Called when an entry's tick has come: the table decides. */
  due(slot: number, tick: number): void {
    const due = this.wantedAt(slot, tick);
    if (due < 0) {
      this.dropped += 1;
      return;
    }
    if (due > tick) {
      this.insert(slot, this.wantedTag, due);
      this.refiled += 1;
      return;
    }
    this.firedRing.pushPair(slot, this.wantedTag);
    this.fired += 1;
  }

  /**
   * The tick at which the lane next has something to do. Late timers wait only for room; and so does an answer that is
   * owed, even if what was still to be handed over has ended since.
   */
  nextEvent(): number {
    if (this.answered !== this.request) return this.roundTick;
    const listed = this.firstListed();
    return this.areAllListed || listed !== Number.POSITIVE_INFINITY ? listed : this.index.nextWanted(this);
  }

  /** Whether a turn at `now` has something to do. */
  isBusy(now: number): boolean {
    const { list } = this;
    const isDue = list.length > 0 && list.ticks[list.next] <= now;
    return isDue || this.roundLeft > 0 || this.available() > 0 || this.index.nextEvent() <= now;
  }

  /**
   * Whether due timers wait for room in the fired ring, so that only the client can help. The client is then asked to
   * ring.
   */
  isBlocked(): boolean {
    const full = this.firedRing.exactRoom() === 0;
    if (full === (Atomics.load(this.header, BLOCKED) === 1)) return full;
    Atomics.store(this.header, BLOCKED, full ? 1 : 0); // pairs with the client's load after it has released records
    return this.firedRing.exactRoom() === 0;
  }

  /**
   * The earliest tick at which the lane fires a timer that its client still wants, as far as its index knows: the
   * client may have taken commands and records for others. At most the present, `now`, where timers are due that wait
   * for room.
   */
  nextDue(now: number): number {
    const isLate = !this.areAllListed && this.list.length > 0;
    return isLate || this.firedRing.exactRoom() === 0 ? now : this.nextWanted();
  }

  /** Whether commands are published that a turn can take: those behind late timers wait with them. */
  isBehind(): boolean {
    return this.roundLeft > 0 || (this.available() > 0 && this.isBetweenRounds());
  }

  /**
   * Hands over listed entries: in order of due tick, before any timer that is due later, and after the index's entries
   * for the same tick, which were scheduled before. Returns what is left of the budget; the rest waits for the next
   * turn.
   */
  private handOverListed(budget: number): number {
    const { index, list } = this;
    let left = budget;
    if (!list.isInOrder) list.sort();
    while (left > 0) {
      const tick = this.firstListed();
      if (tick > this.roundTick) break;
      const slot = list.words[2 * list.next];
      const tag = list.words[2 * list.next + 1];
      if (!this.areAllListed) {
        if (index.nextEvent() <= tick) left = this.advance(tick, left);
        if (left === 0) break;
        index.remove(slot); // it may have been moved, and filed, since
      }
      list.drop();
      this.firedRing.pushPair(slot, tag);
      this.fired += 1;
      left -= 1;
    }
    return left;
  }

  /** Hands over the index's entries up to a tick. Returns what is left of the budget: 0 if it did not suffice. */
  private advance(tick: number, budget: number): number {
    const before = this.fired + this.refiled + this.dropped;
    const isDone = this.index.advanceTo(tick, this, budget);
    return isDone ? Math.max(0, budget - (this.fired + this.refiled + this.dropped - before)) : 0;
  }

  /**
   * Publishes fired records to the client and, if the lane has caught up with the clock, its answer. Returns whether
   * there is news.
   */
  protected publish(isCaughtUp: boolean): boolean {
    const isFired = this.firedRing.publish();
    if (!isCaughtUp || this.answered === this.request) return isFired;
    this.answered = this.request;
    writeTick(this.header, NEXT_DUE, this.nextWanted()); // published by the answer
    Atomics.store(this.header, ANSWERED, this.request); // after the records that it covers
    return true;
  }
}
