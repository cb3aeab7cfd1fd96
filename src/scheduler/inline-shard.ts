import { type BuiltShard, buildShard, type ShardSetup } from '../shard/build-shard.ts';
import { ShardControl } from '../shard/shard-control.ts';
import type { ControlCall, ShardHost } from './shard-host.ts';

// Taken once: a test that fakes the timers of its thread must not stop this clock.
const { setTimeout, clearTimeout } = globalThis;

const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * A shard that runs in the caller's thread: the same turns on the same shared memory, driven by the client's turns and
 * by one native timer that stands for the park. No thread is started.
 */
export class InlineShard implements ShardHost {
  readonly ready = Promise.resolve();
  readonly isInline = true;
  private readonly built: BuiltShard;
  private readonly control: ShardControl;
  private readonly again: () => void;
  private timer: NodeJS.Timeout | undefined;
  private timerFor = Number.POSITIVE_INFINITY;

  /**
   * `news` is called when the client has something to look at, or the shard more to do. With `rebuild` the shard takes
   * the place of one on a thread that is gone.
   */
  constructor(setup: ShardSetup, news: () => void, rebuild: boolean) {
    this.built = buildShard(setup, news, rebuild);
    this.control = new ShardControl(this.built.shard);
    this.again = news;
  }

  /** Live timers that were indexed from the tables. */
  get rescheduled(): number {
    return this.built.rescheduled;
  }

  poke(): void {
    const { shard, clock, scale } = this.built;
    if (shard.turn()) {
      this.again();
      return;
    }
    const next = shard.nextEvent();
    if (next === this.timerFor || clock.memory.manual) return;
    clearTimeout(this.timer);
    this.timerFor = next;
    if (next === Number.POSITIVE_INFINITY) return;
    // Native timers fire up to 1 ms early: the turn then finds nothing due and parks for the rest.
    const delay = Math.max(1, Math.min(Math.ceil(scale.timeOf(next) - clock.refresh()), LONGEST_TIMEOUT));
    this.timer = setTimeout(this.wake, delay).unref();
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    return this.control[name]() as ReturnType<ShardControl[C]>;
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
  }

  private readonly wake = (): void => {
    this.timerFor = Number.POSITIVE_INFINITY;
    this.poke();
  };
}
