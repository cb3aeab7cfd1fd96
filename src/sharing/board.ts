import { allocateWords, doublesIn, WORDS_PER_GROUP, wordsIn } from '../memory/shared-words.ts';
import { processMilliseconds } from '../time/monotonic-clock.ts';
import { ENTRY_GROUPS, Entry, JOINED_AT, RECORD_DOUBLES, SCALED, STATE, THREAD } from './entry.ts';
import { LabelFactors } from './label-factors.ts';
import { Pulse, PulseKeeper } from './pulse.ts';

/**
 * The shared memory that all threads with a shared scheduler read and write:
 *
 *     group 0            the owner's: closed, the last serial given, how often it has asked for counts, and which
 *                        factors it has applied
 *     group 1            the owner's pulse
 *     one per host       what serves it (the owner's), and whether a client wants a thread (the clients')
 *     two per client     its entry and its pulse
 *     then, per client   its counts and its latenesses, as doubles: written by the client once a turn, and when asked
 *     then               the factors that labels have everywhere: see `LabelFactors`
 *
 * The owner stores a change, and then wakes every client; a client reads the board again when it wakes. A thread that
 * finds a client gone frees its entry. There are no locks: an entry is taken, and freed, by compare-and-exchange of its
 * serial, which no other client ever has.
 */
const CLOSED = 0;
const LAST_SERIAL = 1;
const COUNTS_ASKED = 2;
const OWNER_SCALED = 3;
const OWNER_PULSE = WORDS_PER_GROUP;
const HOSTS = 2 * WORDS_PER_GROUP;
const SERVER = 0;
const WANTED = 1;

/** The owner's serial. Those of clients count from 1. */
export const OWNER = 0;

/** Maximum of clients at a time, without the owner. */
export const MAX_CLIENTS = 1024;
/** ms after which an entry is free again if its thread has taken it but holds no pulse. */
const JOINING_LIMIT_MS = 60_000;

/**
 * What serves a host: no thread at present, one thread (with its epoch), or, for good, each client in its own thread.
 */
export type ServerState = { readonly by: 'nothing' | 'clients' } | { readonly by: 'thread'; readonly epoch: number };

const NOTHING = 0;
const THREAD_UP = 1;
const CLIENTS = 2;

const NOBODY: ServerState = { by: 'nothing' };
const INLINE: ServerState = { by: 'clients' };

/** A client's own view of its entry. */
export interface Membership {
  readonly entry: Entry;
  readonly pulse: PulseKeeper;
}

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly owner: Pulse;
  readonly factors: LabelFactors;
  private readonly words: Int32Array<SharedArrayBuffer>;
  private readonly doubles: Float64Array<SharedArrayBuffer>;
  private readonly firstEntry: number;
  private readonly firstRecord: number;

  /** Allocates a board, of which little is ever touched. Throws AllocationError. */
  static allocate(hosts: number): SharedArrayBuffer {
    return allocateWords(Board.bytesFor(hosts) / Int32Array.BYTES_PER_ELEMENT);
  }

  static bytesFor(hosts: number): number {
    return Board.factorsAt(hosts) * 4 + LabelFactors.WORDS * 4;
  }

  /** The first word of the factors. */
  private static factorsAt(hosts: number): number {
    return Board.groupsFor(hosts) * WORDS_PER_GROUP + MAX_CLIENTS * RECORD_DOUBLES * 2;
  }

  private static groupsFor(hosts: number): number {
    return 2 + hosts + ENTRY_GROUPS * MAX_CLIENTS;
  }

  constructor(memory: SharedArrayBuffer, hosts: number) {
    this.memory = memory;
    this.words = wordsIn(memory);
    this.doubles = doublesIn(memory);
    this.firstEntry = HOSTS + hosts * WORDS_PER_GROUP;
    this.firstRecord = (Board.groupsFor(hosts) * WORDS_PER_GROUP) / 2;
    this.owner = new Pulse(this.group(OWNER_PULSE), -1);
    const factors = Board.factorsAt(hosts);
    this.factors = new LabelFactors(this.words.subarray(factors, factors + LabelFactors.WORDS));
  }

  // The owner.

  keepOwnersPulse(): PulseKeeper {
    return new PulseKeeper(this.group(OWNER_PULSE));
  }

  /** Sets what serves the host. Precondition: no thread of an earlier epoch is left. */
  setServer(host: number, state: ServerState): void {
    const word = state.by === 'thread' ? state.epoch * 4 + THREAD_UP : state.by === 'clients' ? CLIENTS : NOTHING;
    Atomics.store(this.words, this.host(host) + SERVER, word);
    this.wakeClients();
  }

  /** Notes that no thread will serve any host again. */
  close(): void {
    Atomics.store(this.words, CLOSED, 1);
    this.wakeClients();
  }

  wakeClients(): void {
    for (const client of this.clients()) client.pulse.wake();
  }

  /** Asks all clients for their counts as they are now. */
  askForCounts(): void {
    Atomics.add(this.words, COUNTS_ASKED, 1);
    this.wakeClients();
  }

  /** How often the owner has asked for counts: a word that wraps. */
  get asked(): number {
    return Atomics.load(this.words, COUNTS_ASKED);
  }

  /** The owner has applied all factors up to this number of changes. */
  reportOwnerScaled(changes: number): void {
    Atomics.store(this.words, OWNER_SCALED, changes);
  }

  /**
   * Whether all but the asking one have applied the factors up to this number of changes; those that are gone count as
   * if they had.
   */
  isScaled(changes: number, asking: number): boolean {
    const isOwnerDone = asking === OWNER || this.isClosed || this.ownerScaled(changes) || this.owner.isGone();
    const others = this.clients().filter(({ serial }) => serial !== asking);
    return isOwnerDone && others.every((entry) => entry.hasScaled(changes) || entry.pulse.isGone());
  }

  private ownerScaled(changes: number): boolean {
    return ((Atomics.load(this.words, OWNER_SCALED) - changes) | 0) >= 0;
  }

  isWanted(host: number): boolean {
    return Atomics.load(this.words, this.host(host) + WANTED) === 1;
  }

  // Clients.

  get isClosed(): boolean {
    return Atomics.load(this.words, CLOSED) === 1;
  }

  serverOf(host: number): ServerState {
    const word = Atomics.load(this.words, this.host(host) + SERVER);
    if ((word & 3) === THREAD_UP) return { by: 'thread', epoch: word >>> 2 };
    return word === CLIENTS ? INLINE : NOBODY;
  }

  /** Makes the owner start a thread for the host, if it has none. */
  want(host: number): void {
    if (Atomics.exchange(this.words, this.host(host) + WANTED, 1) === 0) this.owner.wake();
  }

  /** Joins; undefined if there are MAX_CLIENTS. The pulse tells when the board may have changed. */
  join(thread: number): Membership | undefined {
    const serial = Atomics.add(this.words, LAST_SERIAL, 1) + 1;
    for (let index = 0; index < MAX_CLIENTS; index++) {
      const at = this.entry(index);
      if (!this.isFree(index) || Atomics.compareExchange(this.words, at + STATE, 0, -serial) !== 0) continue;
      Atomics.store(this.words, at + JOINED_AT, processMilliseconds() | 1);
      Atomics.store(this.words, at + THREAD, thread);
      Atomics.store(this.words, at + SCALED, this.factors.changes); // its labels are made with what is there
      this.record(index).fill(0);
      const pulse = new PulseKeeper(this.group(at + WORDS_PER_GROUP));
      if (Atomics.compareExchange(this.words, at + STATE, -serial, serial) === -serial) {
        return { entry: this.entryAt(index, serial), pulse };
      }
      pulse.release(); // joining took longer than JOINING_LIMIT_MS
    }
    return undefined;
  }

  /** All clients that are present, or were until recently. */
  clients(): Entry[] {
    const entries: Entry[] = [];
    for (let index = 0; index < MAX_CLIENTS; index++) {
      const serial = Atomics.load(this.words, this.entry(index) + STATE);
      if (serial > 0) entries.push(this.entryAt(index, serial));
    }
    return entries;
  }

  /** Whether an entry can be taken; frees one whose thread ended before it had joined. */
  private isFree(index: number): boolean {
    const at = this.entry(index);
    const state = Atomics.load(this.words, at + STATE);
    if (state >= 0) return state === 0;
    const joinedAt = Atomics.load(this.words, at + JOINED_AT);
    if (joinedAt === 0 || ((processMilliseconds() - joinedAt) | 0) < JOINING_LIMIT_MS) return false;
    return Atomics.compareExchange(this.words, at + STATE, state, 0) === state;
  }

  private entryAt(index: number, serial: number): Entry {
    const at = this.entry(index);
    return new Entry(serial, this.group(at), this.group(at + WORDS_PER_GROUP), this.record(index));
  }

  /** The memory of a client's counts, then its latenesses. */
  private record(index: number): Float64Array {
    const first = this.firstRecord + index * RECORD_DOUBLES;
    return this.doubles.subarray(first, first + RECORD_DOUBLES);
  }

  private host(host: number): number {
    return HOSTS + host * WORDS_PER_GROUP;
  }

  private entry(index: number): number {
    return this.firstEntry + index * ENTRY_GROUPS * WORDS_PER_GROUP;
  }

  private group(at: number): Int32Array {
    return this.words.subarray(at, at + WORDS_PER_GROUP);
  }
}
