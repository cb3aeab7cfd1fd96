import { outsideContexts } from '../async-context/async-context.ts';
import type { ShardControl } from '../shard/shard-control.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { ControlCall, ShardHost } from './shard-host.ts';

/** The load that decides whether a thread pays; all counts since the scheduler's start. @internal */
export interface Load {
  /** ms */
  readonly now: number;
  /** Live timers. */
  readonly size: number;
  /** Commands and deliveries: the work of an index. */
  readonly work: number;
}

/** What serves the shards, since when and why. */
export interface Serving {
  by: 'inline' | 'threads';
  /** Time of the last change, in ms on the scheduler's clock. */
  since: number;
  reason: string;
  /** Number of changes so far. */
  changes: number;
}

/** ms for which an inline index is measured before a decision. */
const WINDOW = 250;
/**
 * A thread pays above this share of the event loop's time. Its wakes and messages cost the loop about 2 % if timers fire in every
 * tick, however few.
 */
const MAX_INLINE_SHARE = 0.03;
/** Live timers above which a thread pays for work to come: a single cascade or burst of so many takes ms. */
const MAX_INLINE_LIVE = 100_000;
/** ms between two checks of a shard on a thread, and how many in a row must find it idle before it is inline again. */
const LOOK = 1000;
const LOOKS = 10;
/** Idle: the index would take less than this share of the loop's time … */
const IDLE_SHARE = MAX_INLINE_SHARE / 6;
/** … and holds so few timers that the loop takes them over within some ms. */
const IDLE_LIVE = 10_000;
/** ms per command or delivery, if not measured. */
const COST = 0.000_3;
/** No command or delivery takes more, even cold and cascaded: the rest of a turn was waiting for a processor. */
const MAX_COST = 0.005;

/** A shard that can move to a thread and back. @internal */
export interface SwitchableShard extends ShardHost {
  /** ms of the client's thread that turns have taken while it was inline. */
  readonly inlineTime: number;
  /** Moves the shard to a thread, as soon as one is up. Precondition: it is inline, and this has not been called before. */
  startThread(): void;
  /** Serves it inline again. Never rejects. */
  endThread(): Promise<void>;
}

const percent = (share: number): string => `${(share * 100).toPrecision(2)} %`;

/**
 * A shard that is inline while that is cheaper, and on a thread while its timers pay for one: `shards: 'auto'`.
 * docs/decisions.md has the measurements behind the constants.
 * @internal
 */
export class AutoShard implements ShardHost {
  readonly ready = Promise.resolve();
  readonly serving: Serving = { by: 'inline', since: 0, reason: 'the timers do not pay for a thread yet', changes: 0 };
  private readonly shard: SwitchableShard;
  private readonly load: () => Load;
  private readonly changed: (serving: Serving) => void;
  private readonly whyNoThread: () => string | undefined;
  /** The load at the window's beginning. */
  private from: Load;
  private busyFrom = 0;
  private cost = COST;
  private idleLooks = 0;
  /** No more changes: inline for good, or stopped. */
  private isSettled = false;
  private isEnding = false;
  private isKept = false;
  private looking: NodeJS.Timeout | undefined;

  /** `whyNoThread` is called when a thread is wanted: with an answer, the shard is inline for good. */
  constructor(
    shard: SwitchableShard,
    load: () => Load,
    changed: (serving: Serving) => void,
    whyNoThread: () => string | undefined,
  ) {
    this.shard = shard;
    this.load = load;
    this.changed = changed;
    this.whyNoThread = whyNoThread;
    this.from = { now: 0, size: 0, work: 0 };
  }

  get isInline(): boolean {
    return this.shard.isInline;
  }

  get deaths(): number {
    return this.shard.deaths;
  }

  afterPublish(): void {
    this.shard.afterPublish();
    if (this.serving.by === 'inline') this.judge();
  }

  catchUp(): void {
    this.shard.catchUp();
  }

  call<C extends ControlCall>(name: C): Promise<ReturnType<ShardControl[C]>> {
    return this.shard.call(name);
  }

  async stop(): Promise<void> {
    this.isSettled = true;
    clearInterval(this.looking);
    await this.shard.stop();
  }

  /** Other clients also need a thread: starts one if there is none, and keeps it. */
  keepThread(reason: string): void {
    this.isKept = true;
    if (this.serving.by === 'inline' && !this.isSettled) this.startThread(this.load(), reason);
  }

  /** The shard is inline for good. */
  stayInline(reason: string): void {
    this.isSettled = true;
    clearInterval(this.looking);
    this.change('inline', this.load(), reason);
  }

  private judge(): void {
    if (this.isSettled) return;
    const load = this.load();
    const { from } = this;
    const elapsed = load.now - from.now;
    if (load.size > MAX_INLINE_LIVE) {
      this.startThread(load, `${load.size} timers are live, more than ${MAX_INLINE_LIVE}`);
      return;
    }
    if (elapsed < WINDOW) return;
    const busy = Math.min(this.shard.inlineTime - this.busyFrom, (load.work - from.work) * MAX_COST);
    const share = busy / elapsed;
    // A window without events says nothing about present costs.
    if (share > MAX_INLINE_SHARE && elapsed < 4 * WINDOW) {
      if (load.work > from.work) this.cost = busy / (load.work - from.work);
      this.startThread(
        load,
        `the index took ${percent(share)} of the event loop's time, more than ${percent(MAX_INLINE_SHARE)}`,
      );
      return;
    }
    this.begin(load);
  }

  private startThread(load: Load, reason: string): void {
    const refusal = this.whyNoThread();
    if (refusal !== undefined) {
      this.stayInline(refusal);
      return;
    }
    this.idleLooks = 0;
    clearInterval(this.looking);
    outsideContexts(() => {
      this.looking = setInterval(this.look, LOOK).unref();
      this.shard.startThread();
      this.change('threads', load, reason);
    });
  }

  private readonly look = (): void => {
    if (this.shard.isInline) return; // still, or for good
    const load = this.load();
    const { from } = this;
    const share = ((load.work - from.work) * this.cost) / (load.now - from.now);
    this.from = load;
    const isIdle = share < IDLE_SHARE && load.size < IDLE_LIVE;
    this.idleLooks = isIdle ? this.idleLooks + 1 : 0;
    if (this.idleLooks < LOOKS || this.isEnding || this.isKept) return;
    this.idleLooks = 0;
    this.isEnding = true;
    void this.shard.endThread().then(() => {
      this.isEnding = false;
      if (this.isSettled || !this.shard.isInline) return; // the thread has died instead, or the scheduler was closed
      clearInterval(this.looking);
      const now = this.load();
      this.change(
        'inline',
        now,
        `for ${LOOKS} s the index would have taken less than ${percent(IDLE_SHARE)} of the event loop's time`,
      );
      if (this.isKept) this.startThread(now, 'another event loop has asked for a thread');
    });
  };

  private change(by: Serving['by'], load: Load, reason: string): void {
    const { serving } = this;
    serving.by = by;
    serving.since = load.now;
    serving.reason = reason;
    serving.changes += 1;
    this.begin(load);
    this.changed({ ...serving });
  }

  private begin(load: Load): void {
    this.from = load;
    this.busyFrom = this.shard.inlineTime;
  }
}
