import { allocateGroups } from '../memory/shared-words.ts';

/**
 * Shows that a shard is alive: it stores two words in each of its turns. They have cache lines of their own, so that
 * only the rare reads of a watchdog slow the stores down.
 *
 *     group 0, the shard's: heard   the bell's rings when its latest turn began
 *                           beats   a counter that wraps
 */
const HEARD = 0;
const BEATS = 1;

export const allocateHeartbeat = (): SharedArrayBuffer => allocateGroups(1);

export class Heartbeat {
  private readonly words: Int32Array;
  private count = 0;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.count = Atomics.load(this.words, BEATS);
  }

  /** Shard: once a turn, with the bell as it stood when the turn began. */
  beat(rings: number): void {
    this.count = (this.count + 1) | 0;
    Atomics.store(this.words, HEARD, rings);
    Atomics.store(this.words, BEATS, this.count); // publishes only itself and HEARD
  }

  /** Watchdog: the rings that some turn has answered, or is about to answer. */
  ringsSeen(): number {
    return Atomics.load(this.words, HEARD);
  }

  /** Watchdog: the beats; only a change is meaningful. */
  beats(): number {
    return Atomics.load(this.words, BEATS);
  }
}
