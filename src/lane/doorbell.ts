import { allocateGroups, hasSharedMemory, WORDS_PER_GROUP } from '../memory/shared-words.ts';
import { highWordOf, tickOfWords, wordOf } from './due-word.ts';

/**
 * The word a shard sleeps on, one per shard however many lanes it serves.
 *
 *   group 0, written by all: bell      counts rings; the shard waits for it to change
 *   group 1, the shard's:    state     awake | parked until wakeTick | parked until rung
 *                            wakeTick  two words, low and high
 *   group 2, the shard's:    heard     the rings when its latest turn began
 *                            beats     counts its turns, and wraps: only a change is meaningful
 *
 * No ring is lost. A client publishes its commands, then reads the state; the shard stores its state, then reads its
 * rings again before it waits. These four accesses are sequentially consistent, so at least one of the two sees the
 * other. A ring between that last read and the wait changes `bell`, whose value the shard read before, so that the wait
 * returns at once.
 *
 * Only a client that publishes while the shard parks again may see a mixture of the two words of wakeTick: the
 * shard's read of its rings then finds what that client has published, rung or not.
 *
 * That a shard is alive, a watchdog sees by its beats: they have a cache line of their own, so that only its rare reads
 * slow these stores down.
 *
 * A futex wake costs some microseconds on the event loop: clients ring only if the shard would otherwise sleep past
 * a new deadline, a ring runs full, or a call waits for an answer.
 */
const BELL = 0;
const STATE = WORDS_PER_GROUP;
const WAKE_TICK = WORDS_PER_GROUP + 1;
const WAKE_TICK_HIGH = WORDS_PER_GROUP + 2;
const HEARD = 2 * WORDS_PER_GROUP;
const BEATS = 2 * WORDS_PER_GROUP + 1;

const AWAKE = 0;
const PARKED_UNTIL_TICK = 1;
const PARKED_UNTIL_RUNG = 2;

export const allocateDoorbell = (): SharedArrayBuffer => allocateGroups(3);

export class Doorbell {
  private readonly words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
  }

  // Clients.

  /** Wakes the shard. */
  ring(): void {
    Atomics.add(this.words, BELL, 1); // seen by a shard that is about to wait
    Atomics.notify(this.words, BELL);
  }

  /** Wakes the shard if it would otherwise sleep past a tick. Call after publishing. */
  ringIfAsleepUntilAfter(tick: number): void {
    const state = Atomics.load(this.words, STATE); // pairs with the stores in announce()
    if (state === AWAKE) return;
    if (state === PARKED_UNTIL_TICK && this.wakeTick() <= tick) return;
    this.ring();
  }

  // A watchdog.

  beats(): number {
    return Atomics.load(this.words, BEATS);
  }

  /**
   * Whether the shard should take a turn: it is awake, or was rung since its latest, or slept past its wake tick.
   * `now`: a tick.
   */
  isTurnDue(now: number): boolean {
    const heard = Atomics.load(this.words, HEARD);
    const state = Atomics.load(this.words, STATE);
    if (state === AWAKE || Atomics.load(this.words, BELL) !== heard) return true;
    return state === PARKED_UNTIL_TICK && this.wakeTick() < now;
  }

  // The shard.

  /** Reads the bell. Read it before anything that a ring may announce. */
  rings(): number {
    return Atomics.load(this.words, BELL);
  }

  /** Once a turn, with the rings when it began: all of them are answered now. */
  beat(rings: number): void {
    Atomics.store(this.words, HEARD, rings);
    Atomics.add(this.words, BEATS, 1); // publishes only itself and HEARD
  }

  /** Tells clients until which tick the shard is going to sleep (Infinity: until rung). */
  announce(wakeTick: number): void {
    const isTimed = wakeTick !== Number.POSITIVE_INFINITY;
    if (isTimed) {
      Atomics.store(this.words, WAKE_TICK, wordOf(wakeTick));
      Atomics.store(this.words, WAKE_TICK_HIGH, highWordOf(wakeTick));
    }
    Atomics.store(this.words, STATE, isTimed ? PARKED_UNTIL_TICK : PARKED_UNTIL_RUNG);
  }

  /** Sleeps until rung, or for `timeout` ms. Returns at once if the bell no longer stands at `rings`. */
  wait(rings: number, timeout: number): void {
    Atomics.wait(this.words, BELL, rings, timeout);
  }

  awake(): void {
    Atomics.store(this.words, STATE, AWAKE);
  }

  private wakeTick(): number {
    return tickOfWords(Atomics.load(this.words, WAKE_TICK), Atomics.load(this.words, WAKE_TICK_HIGH));
  }
}

/** How often a client lowers its bell before it treats a flood of rings as one. */
const MAX_TRIES = 16;

/**
 * The other direction: tells a client's event loop that some lane has fired records or an answer. One word for all
 * threads that serve the client: a shard that finds it down raises it and wakes the client, which lowers it in its
 * turn. A shard of the client's own thread rings nobody: what it has fired is found in the same turn.
 *
 *     down ── a shard rings ──▶ raised ── the client has onRing, and takes a turn ──▶ down
 *
 * No ring is lost. While the word is down, the client waits for it (`Atomics.waitAsync`), or has a turn ahead. It
 * begins to wait after it has lowered the word. If the word has been raised by then, it lowers it again: the turn that
 * now begins finds what was published before that ring.
 *
 * A wait does not keep the process alive, needs no port, and ends with its thread. It costs the event loop as much as a
 * message does: docs/adr/0017-sharing-without-ports.md.
 */
export class ClientBell {
  private readonly flag: Int32Array;
  private onRing: (() => void) | undefined;
  private isWaiting = false;

  static allocate(): SharedArrayBuffer {
    return allocateGroups(1);
  }

  constructor(memory: SharedArrayBuffer) {
    this.flag = new Int32Array(memory);
  }

  /** Shard: after publishing. */
  ring(): void {
    if (Atomics.exchange(this.flag, 0, 1) === 0) Atomics.notify(this.flag, 0);
  }

  /**
   * Client: starts to call `onRing` when a shard rings, once until the bell is lowered. A turn lowers it, not `onRing`
   * itself: under a flood of rings the two would call each other without end.
   */
  listen(onRing: () => void): void {
    this.onRing = onRing;
    const wasRung = Atomics.load(this.flag, 0) === 1;
    this.lower();
    if (wasRung) onRing();
  }

  /** Client: call before reading the lanes, so that what is published later rings again. */
  lower(): void {
    Atomics.store(this.flag, 0, 0);
    // without: all shards are in this thread
    if (this.onRing === undefined || this.isWaiting || !hasSharedMemory) return;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const wait = Atomics.waitAsync(this.flag, 0, 0);
      if (wait.async) {
        this.isWaiting = true;
        void wait.value.then(this.woken);
        return;
      }
      Atomics.store(this.flag, 0, 0); // raised since
    }
    Atomics.store(this.flag, 0, 1); // no ring needed: a turn comes
    this.onRing();
  }

  /** Client: stops listening. */
  stopListening(): void {
    this.onRing = undefined;
    Atomics.notify(this.flag, 0); // ends the client's only wait
  }

  private readonly woken = (): void => {
    this.isWaiting = false;
    this.onRing?.();
  };
}
