import { allocateGroups } from '../memory/shared-words.ts';

/**
 * How a shard shows that it goes on: two words that it stores with each of its turns, alone on their cache lines, so that
 * nobody but a watchdog that reads them now and then ever slows the stores down.
 *
 *     group 0, the shard's: heard   the bell's rings that its latest turn has taken notice of
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
    Atomics.store(this.words, BEATS, this.count); // publishes nothing but itself and what was heard
  }

  /** Watchdog: rings that some turn has answered, or is about to. */
  heard(): number {
    return Atomics.load(this.words, HEARD);
  }

  /** Watchdog: how often it has beaten; only whether that has changed means anything. */
  beats(): number {
    return Atomics.load(this.words, BEATS);
  }
}
