import { allocateGroups } from '../memory/shared-words.ts';

/**
 * One word by which a shard shows that it goes on: raised with each of its turns, alone on its cache lines, so that
 * nobody but a watchdog that reads it now and then ever slows the store down.
 *
 *     group 0, the shard's: beats, a counter that wraps
 */
const BEATS = 0;

export const allocateHeartbeat = (): SharedArrayBuffer => allocateGroups(1);

export class Heartbeat {
  private readonly words: Int32Array;
  private count = 0;

  constructor(memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.count = Atomics.load(this.words, BEATS);
  }

  /** Shard: once a turn. */
  beat(): void {
    this.count = (this.count + 1) | 0;
    Atomics.store(this.words, BEATS, this.count); // publishes nothing but itself
  }

  /** Watchdog: how often it has beaten; only whether that has changed means anything. */
  beats(): number {
    return Atomics.load(this.words, BEATS);
  }
}
