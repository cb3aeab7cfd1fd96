import type { BuiltShard } from './build-shard.ts';

/** ms after which a shard wakes, however far its next event is: systems treat longer waits differently. */
const MAX_WAIT_MS = 2 ** 31;

/**
 * Number of wakes in a row that the loop handles by itself, and the longest sleep in ms before each: a pass of the
 * thread's event loop costs as much as a turn that fires one timer. Every sender of a message to the thread rings, so
 * nothing waits.
 */
const MAX_WAKES = 16;
const SHORT_WAIT_MS = 20;

/** The parts that a loop turns. */
export type LoopParts = Pick<BuiltShard, 'shard' | 'doorbell' | 'clock' | 'scale'>;

/**
 * A worker's loop: take a turn, run the thread's event loop once (control calls arrive there), park, and repeat. After
 * a short sleep that no ring has ended, the next turn follows at once. A parked thread is asleep in the kernel and uses
 * no CPU, until the next event of its wheels or until rung. There is no command to stop: a shard holds nothing that the
 * table does not, so its thread is simply terminated. A shard without lanes goes on turning and parking.
 */
export class ShardLoop {
  private readonly parts: LoopParts;
  private rings = 0;

  constructor(parts: LoopParts) {
    this.parts = parts;
  }

  start(): void {
    this.parts.doorbell.awake();
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    const { doorbell, shard } = this.parts;
    this.rings = doorbell.rings(); // before the turn: a ring from now on ends the coming wait
    doorbell.beat(this.rings);
    const more = shard.turn();
    setImmediate(more ? this.turn : this.park);
  };

  private readonly park = (): void => {
    const { doorbell, shard } = this.parts;
    for (let wakes = 0; ; wakes++) {
      const timeout = this.sleep();
      doorbell.awake();
      if (timeout === 0 || timeout > SHORT_WAIT_MS || wakes === MAX_WAKES || doorbell.rings() !== this.rings) break;
      doorbell.beat(this.rings);
      if (shard.turn()) break;
    }
    this.turn();
  };

  /**
   * Announces the sleep to clients, and sleeps. Returns the longest time for it in ms; 0 if there is something to do at
   * once.
   */
  private sleep(): number {
    const { doorbell, shard } = this.parts;
    const next = shard.nextEvent();
    doorbell.announce(next);
    // After the announcement: a client that published before it could see it is found here, a later one rings.
    const timeout = shard.hasNews() ? 0 : Math.max(0, this.timeUntil(next));
    if (timeout > 0) doorbell.wait(this.rings, timeout);
    return timeout;
  }

  /**
   * By the clock as it stands after the turn's work. A manual clock does not move by itself: later events come with a
   * ring.
   */
  private timeUntil(tick: number): number {
    if (tick === Number.POSITIVE_INFINITY) return tick;
    const { clock, scale } = this.parts;
    const left = scale.timeOf(tick) - clock.read();
    return left > 0 && clock.memory.manual ? Number.POSITIVE_INFINITY : Math.min(left, MAX_WAIT_MS);
  }
}
