import { outsideContexts } from '../async-context/async-context.ts';
import { clearInterval, setInterval } from '../time/native-timers.ts';
import type { LaneHost } from './lane-host.ts';
import { NamedState } from './named-state.ts';
import type { Serving, ServingRecord } from './serving.ts';

/** The load that decides whether a thread pays; all counts since the scheduler's start. @internal */
export interface Load {
  /** ms */
  readonly now: number;
  /** Live timers. */
  readonly size: number;
  /** Commands and deliveries: the work of an index. */
  readonly work: number;
}

/** ms for which an inline index is measured before a decision. */
const WINDOW_MS = 250;
/**
 * A thread may pay above this share of the event loop's time. To hand commands and fired timers over takes the loop as
 * much: inline, a loop that does nothing but keep timers does more of it, with an index that takes up to 17 %.
 */
const MAX_INLINE_SHARE = 0.2;
/** Live timers above which none starts: to hand over so many blocks the loop for some ms. */
const MAX_HANDED_OVER = 100_000;
/** ms between two checks of a shard on a thread, and how many in a row must find it idle before it is inline again. */
const CHECK_MS = 1000;
const IDLE_CHECKS = 10;
/** Idle: the index would take less than this share of the loop's time … */
const IDLE_SHARE = 0.005;
/** … and holds so few timers that the loop takes them over within some ms. */
const IDLE_LIVE = 10_000;
/** ms per command or delivery, if not measured. */
const WORK_COST_MS = 0.000_3;
/** No command or delivery takes more ms, even cold and cascaded: the rest of a turn was waiting for a processor. */
const MAX_WORK_COST_MS = 0.005;

const percent = (share: number): string => `${(share * 100).toPrecision(2)} %`;

export interface PolicyParts {
  readonly host: LaneHost;
  readonly load: () => Load;
  /** Where the policy notes its decisions. */
  readonly serving: ServingRecord;
  readonly changed: (serving: Serving) => void;
  /** Called when a thread is wanted. If it returns false, it has called `stayInline`. */
  readonly mayStart: () => boolean;
}

/** Why the lanes of a client with a policy are inline at first. @internal */
export const NOT_YET = 'the timers do not pay for a thread yet';

/** Where the lanes are to be, and what may follow. */
const NEXT = {
  inline: ['threads', 'final'], // here; their work is measured
  threads: ['ending', 'final'], // on a thread, which may be on its way
  ending: ['threads', 'inline', 'final'], // on their way back
  final: ['final'], // here for good, or the client is closed
} as const;
type State = keyof typeof NEXT;

/**
 * Decides for `shards: 'auto'` where a client's lanes are served: inline while that is cheaper, on a thread while the
 * timers pay for one. docs/adr/0013-auto.md has the measurements behind the constants.
 *
 *     inline ──▶ threads ──▶ ending ──▶ inline         final, from anywhere
 *                   ▲ the thread has died │
 *                   └─────────────────────┘
 * @internal
 */
export class ThreadPolicy {
  private readonly state = new NamedState<State>('inline', NEXT);
  private readonly parts: PolicyParts;
  private readonly host: LaneHost;
  private readonly load: () => Load;
  /** The load at the window's beginning. */
  private from: Load = { now: 0, size: 0, work: 0 };
  private busyFrom = 0;
  private cost = WORK_COST_MS;
  private idleChecks = 0;
  /** Why the thread stays, however idle; undefined if nobody else needs it. */
  private keptFor: string | undefined;
  private checking: NodeJS.Timeout | undefined;

  constructor(parts: PolicyParts) {
    this.parts = parts;
    this.host = parts.host;
    this.load = parts.load;
    this.host.measureInline();
  }

  /** Other clients also need a thread: starts one if there is none, and keeps it. */
  keepThread(reason: string): void {
    this.keptFor = reason;
    if (this.state.is('inline')) this.startThread(this.load(), reason);
  }

  stayInline(reason: string): void {
    this.stop();
    this.change('inline', this.load(), reason);
  }

  stop(): void {
    this.state.enter('final');
    clearInterval(this.checking);
  }

  /** Called at the end of each turn, with the clock as it was read last, in ms. */
  judge(now: number): void {
    const { from } = this;
    if (now - from.now < WINDOW_MS || !this.state.is('inline')) return;
    const load = this.load();
    const elapsed = load.now - from.now;
    const busy = Math.min(this.host.inlineTime - this.busyFrom, (load.work - from.work) * MAX_WORK_COST_MS);
    const share = busy / elapsed;
    if (share > MAX_INLINE_SHARE && elapsed < 4 * WINDOW_MS && load.size <= MAX_HANDED_OVER) {
      // A longer window was without events, and says nothing about present costs.
      if (load.work > from.work) this.cost = busy / (load.work - from.work);
      const why = `the index took ${percent(share)} of the event loop's time, more than ${percent(MAX_INLINE_SHARE)}`;
      this.startThread(load, why);
    } else {
      this.begin(load);
    }
  }

  private startThread(load: Load, reason: string): void {
    if (!this.parts.mayStart()) return;
    this.state.enter('threads');
    this.idleChecks = 0;
    clearInterval(this.checking);
    outsideContexts(() => {
      this.checking = setInterval(this.check, CHECK_MS).unref();
      this.change('threads', load, reason);
      this.host.startThread(); // last: it may find that there will be none
    });
  }

  private readonly check = (): void => {
    if (this.host.isInline) return; // still, or for good
    const load = this.load();
    const { from } = this;
    const share = ((load.work - from.work) * this.cost) / (load.now - from.now);
    this.from = load;
    const isIdle = share < IDLE_SHARE && load.size < IDLE_LIVE;
    this.idleChecks = isIdle ? this.idleChecks + 1 : 0;
    if (this.idleChecks < IDLE_CHECKS || !this.state.is('threads') || this.keptFor !== undefined) return;
    this.idleChecks = 0;
    this.state.enter('ending');
    void this.host.endThread().then(() => this.ended());
  };

  private ended(): void {
    if (!this.state.is('ending')) return;
    if (!this.host.isInline) {
      this.state.enter('threads'); // the thread has died instead
      return;
    }
    this.state.enter('inline');
    clearInterval(this.checking);
    const load = this.load();
    const why = `for ${(IDLE_CHECKS * CHECK_MS) / 1000} s the index would have taken less than ${percent(IDLE_SHARE)} of the event loop's time`;
    this.change('inline', load, why);
    if (this.keptFor !== undefined) this.startThread(load, this.keptFor);
  }

  private change(by: Serving['by'], load: Load, reason: string): void {
    const { serving, changed } = this.parts;
    serving.change(by, load.now, reason);
    this.begin(load);
    changed(serving.now());
  }

  private begin(load: Load): void {
    this.from = load;
    this.busyFrom = this.host.inlineTime;
  }
}
