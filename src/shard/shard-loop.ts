import type { Doorbell } from '../lane/doorbell.ts';
import type { Heartbeat } from '../lane/heartbeat.ts';
import type { SharedClock } from '../time/shared-clock.ts';
import type { TickScale } from '../time/tick-scale.ts';
import type { Shard } from './shard.ts';

/** ms after which a shard wakes, however far its next event is: systems treat longer waits differently. */
const LONGEST_WAIT = 2 ** 31;

/**
 * Number of wakes in a row that the loop handles by itself, and the longest sleep in ms before each: a pass of the thread's event
 * loop costs as much as a turn that fires one timer. Every sender of a message to the thread rings, so nothing waits.
 */
const MOST_WAKES = 16;
const SHORT_WAIT = 20;

/** The parts that a loop turns: see `BuiltShard`. */
export interface LoopParts {
  readonly shard: Shard;
  readonly doorbell: Doorbell;
  readonly heartbeat: Heartbeat;
  readonly clock: SharedClock;
  readonly scale: TickScale;
}

/**
 * A worker's loop: take a turn, run the thread's event loop once (control calls arrive there), park, and repeat. After a short
 * sleep that no ring has ended, the next turn follows at once. A parked thread is asleep in the kernel and uses no CPU, until the
 * next event of its wheels or until rung. There is no command to stop: a shard holds nothing that the table does not, so its
 * thread is simply terminated. A shard without lanes goes on turning and parking.
 */
export class ShardLoop {
  private readonly shard: Shard;
  private readonly doorbell: Doorbell;
  private readonly heartbeat: Heartbeat;
  private readonly clock: SharedClock;
  private readonly scale: TickScale;
  private readonly manual: boolean;
  private rings = 0;

  constructor(parts: LoopParts) {
    this.shard = parts.shard;
    this.doorbell = parts.doorbell;
    this.heartbeat = parts.heartbeat;
    this.clock = parts.clock;
    this.scale = parts.scale;
    this.manual = parts.clock.memory.manual;
  }

  start(): void {
    this.wake();
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.rings = this.doorbell.rings(); // before the turn: a ring from now on ends the coming wait
    this.heartbeat.beat(this.rings);
    const more = this.shard.turn();
    setImmediate(more ? this.turn : this.park);
  };

  private readonly park = (): void => {
    for (let wakes = 0; ; wakes++) {
      const timeout = this.sleep();
      this.wake();
      if (timeout === 0 || timeout > SHORT_WAIT || wakes === MOST_WAKES || this.doorbell.rings() !== this.rings) break;
      this.heartbeat.beat(this.rings);
      if (this.shard.turn()) break;
    }
    this.turn();
  };

  /** Announces the sleep to clients, and sleeps. Returns the longest time for it in ms; 0 if there is something to do at once. */
  private sleep(): number {
    const next = this.shard.nextEvent();
    this.doorbell.announce(next);
    // After the announcement: a client that published before it could see it is found here, a later one rings.
    const timeout = this.shard.hasNews() ? 0 : Math.max(0, this.timeUntil(next));
    if (timeout > 0) this.doorbell.wait(this.rings, timeout);
    return timeout;
  }

  private wake(): void {
    this.doorbell.awake();
    this.clock.refresh();
  }

  /** A manual clock does not move by itself: later events come with a ring. */
  private timeUntil(tick: number): number {
    if (tick === Number.POSITIVE_INFINITY) return tick;
    const left = this.scale.timeOf(tick) - this.clock.refresh();
    return left > 0 && this.manual ? Number.POSITIVE_INFINITY : Math.min(left, LONGEST_WAIT);
  }
}
