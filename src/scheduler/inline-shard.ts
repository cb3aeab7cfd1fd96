import { outsideContexts } from '../async-context/async-context.ts';
import { Doorbell } from '../lane/doorbell.ts';
import { commandCounters, REQUEST } from '../lane/lane-memory.ts';
import { type BuiltShard, buildShard, type ShardOrigin, type ShardSetup } from '../shard/build-shard.ts';
import { ShardControl } from '../shard/shard-control.ts';
import type { ControlCall, ShardHost } from './shard-host.ts';

// Taken once: a test that fakes the timers of its thread must not stop this clock.
const { setTimeout, clearTimeout } = globalThis;

const LONGEST_TIMEOUT = 2 ** 31 - 1;

/**
 * A shard that runs in the caller's thread: the same turns on the same shared memory, driven by the client's turns and
 * by one native timer that stands for the park. No thread is started. Without timers nothing is built, either.
 */
export class InlineShard implements ShardHost {
  readonly ready = Promise.resolve();
  readonly isInline = true;
  readonly deaths = 0;
  /** ms of this thread's time that turns have taken. */
  busy = 0;
  private readonly setup: ShardSetup;
  private readonly news: () => void;
  private readonly isTemporary: boolean;
  private readonly headers: readonly Int32Array[];
  private built: BuiltShard | undefined;
  private control: ShardControl | undefined;
  private timer: NodeJS.Timeout | undefined;
  private timerFor = Number.POSITIVE_INFINITY;
  private isOver = false;

  /**
   * `news` is called when the client has something to look at, or the shard more to do. One that `isTemporary` can hand
   * its lanes over.
   */
  constructor(setup: ShardSetup, news: () => void, origin: ShardOrigin, isTemporary: boolean) {
    this.setup = setup;
    this.news = news;
    this.isTemporary = isTemporary;
    this.headers = setup.lanes.map(({ memory }) => new Int32Array(memory.header));
    new Doorbell(setup.doorbell).awake(); // nobody need ring: it turns whenever the client has published
    if (origin !== 'nothing') this.build(origin);
  }

  /** Live timers that were indexed from what was there before. */
  get rescheduled(): number {
    return this.built?.rescheduled ?? 0;
  }

  poke(): void {
    if (this.isOver || (this.built === undefined && !this.isAsked())) return;
    const { shard, clock, scale } = this.built ?? this.build('nothing');
    const begun = clock.exact();
    const isMore = shard.turn() || shard.hasNews(); // a request is noted at the beginning of a round, not in its midst
    const now = clock.refresh();
    this.busy += now - begun;
    if (isMore) {
      this.news();
      return;
    }
    const next = shard.nextEvent();
    if (next === this.timerFor || clock.memory.manual) return;
    clearTimeout(this.timer);
    this.timerFor = next;
    if (next === Number.POSITIVE_INFINITY) return;
    // Native timers fire up to 1 ms early: the turn then finds nothing due and parks for the rest.
    const delay = Math.max(1, Math.min(Math.ceil(scale.timeOf(next) - now), LONGEST_TIMEOUT));
    outsideContexts(() => {
      this.timer = setTimeout(this.wake, delay).unref();
    });
  }

  async call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    if (this.built === undefined) this.build('nothing');
    return (this.control as ShardControl)[name]() as ReturnType<ShardControl[C]>;
  }

  /** Takes no turn any more; returns what another shard takes the lanes over with. Precondition: it is temporary. */
  handOver(): ShardOrigin {
    void this.stop();
    return this.built === undefined ? 'nothing' : this.built.shard.lanes.map((lane) => lane.handOver());
  }

  async stop(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  /** Whether a client has ever published a command, or asked for an answer. */
  private isAsked(): boolean {
    return this.headers.some((header) => {
      return Atomics.load(header, commandCounters(header).tail) !== 0 || Atomics.load(header, REQUEST) !== 0;
    });
  }

  private build(origin: ShardOrigin): BuiltShard {
    this.built = buildShard(this.setup, this.news, origin, this.isTemporary);
    this.control = new ShardControl(this.built.shard);
    return this.built;
  }

  private readonly wake = (): void => {
    this.timerFor = Number.POSITIVE_INFINITY;
    this.poke();
  };
}
