import { Doorbell } from '../../src/lane/doorbell.ts';
import type { BuiltShard } from '../../src/shard/build-shard.ts';
import { ShardLoop } from '../../src/shard/shard-loop.ts';
import type { SharedClock } from '../../src/time/shared-clock.ts';

/** Thrown where a thread would fall asleep: it unwinds the loop, which is started anew when it is to wake. */
const ASLEEP = new Error('asleep');

class SteppedDoorbell extends Doorbell {
  waitsFor = 0;
  timeout = 0;

  override wait(rings: number, timeout: number): void {
    this.waitsFor = rings;
    this.timeout = timeout;
    throw ASLEEP;
  }
}

/** The loop that asks for its next turn is the one that is being stepped. */
let stepped: SteppedLoop | undefined;

const { setImmediate: realSetImmediate } = globalThis;

/** Has the immediates of stepped loops wait for their steps; those of anybody else come as always. */
export function steerImmediates(): () => void {
  globalThis.setImmediate = ((callback: () => void, ...rest: unknown[]) => {
    if (stepped === undefined) return realSetImmediate(callback as () => void, ...(rest as []));
    stepped.next = callback;
    return undefined;
  }) as unknown as typeof setImmediate;
  return () => {
    globalThis.setImmediate = realSetImmediate;
  };
}

/**
 * A shard's real loop, taken apart into its steps: turn, turn, …, park. Its clock is one that a test sets; unless
 * `manual`, the loop is told that it runs, and so sleeps until the tick of its next event and not only until rung.
 */
export class SteppedLoop {
  next: (() => void) | undefined;
  readonly built: BuiltShard;
  private readonly loop: ShardLoop;
  private readonly clock: SharedClock;
  private readonly doorbell: SteppedDoorbell;
  private sleep: { readonly rings: number; readonly until: number } | undefined;
  /**
   * The time that the loop read last. It sleeps for so long from then: where a test has the clock move on between that
   * reading and the wait, a real thread would oversleep by as much, as it would if it were held up anywhere else.
   */
  private readAt = 0;

  constructor(built: BuiltShard, doorbell: SharedArrayBuffer, manual: boolean) {
    this.built = built;
    this.clock = built.clock;
    this.doorbell = new SteppedDoorbell(doorbell);
    const read = () => {
      this.readAt = this.clock.read();
      return this.readAt;
    };
    const clock: SharedClock = Object.create(built.clock, {
      memory: { value: { ...built.clock.memory, manual } },
      read: { value: read },
    });
    this.loop = new ShardLoop({ ...built, doorbell: this.doorbell, clock });
    this.run(() => this.loop.start());
  }

  /** A turn or a park; a parked loop whose wait has ended wakes and takes a turn. False where it sleeps on. */
  step(): boolean {
    if (this.sleep !== undefined) {
      if (this.doorbell.rings() === this.sleep.rings && this.clock.read() < this.sleep.until) return false;
      this.sleep = undefined;
      this.run(() => this.loop.start());
    }
    const { next } = this;
    this.next = undefined;
    if (next === undefined) throw new Error('the loop is awake and has nothing to do');
    this.run(next);
    return true;
  }

  private run(part: () => void): void {
    const outer = stepped;
    stepped = this;
    try {
      part();
    } catch (error) {
      if (error !== ASLEEP) throw error;
      this.sleep = { rings: this.doorbell.waitsFor, until: this.readAt + this.doorbell.timeout };
    } finally {
      stepped = outer;
    }
  }
}
