import { isHooked, outsideContexts } from '../async-context/async-context.ts';
import { MissingFileError } from '../errors.ts';
import { searchedFolders } from '../package-files.ts';
import { messageOf } from '../show.ts';
import { type RegistrationState, setImmediate } from '../time/native-timers.ts';
import { emitWarning, isClockFaked, performanceNow } from '../unfaked.ts';
import { LiveEstimate } from './live-estimate.ts';
import type { RegisteredWheel } from './registered-wheel.ts';

const { max, min } = Math;

/** Live timers from which the turns of the loop are watched. */
const WATCHED_TIMERS = 1024;
/** ms until what has failed is tried again; twice as many after each further failure, up to the longest. */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 64_000;

const ALWAYS = 'SHARDWHEEL_TIMERS=always';

type State = 'counting' | 'loaded' | 'wheel' | 'without';

/**
 * Who serves the new timers of a registered thread.
 *
 *                    half of `from` are live                `from` are live
 *   'counting' ─────────── loads the wheel ──▶ 'loaded' ─────────────────────▶ 'wheel'
 *    Node's           └─▶ 'without', if it      Node's  ◀───────────────────── the wheel's
 *                         is not found                  both hold few
 *
 * The numbers, in parts of `from`. What is live of Node's is an estimate, from half to twice as many, and the wheel
 * fills slowly: the timers that called for it are Node's own. So the way back lies lower than the way there.
 *
 *            Node's, by the estimate                     the wheel's
 *     from ──┬─ it takes over from here
 *            │  given back below, once it was filled
 *      1/2 ──┼─ loaded from here
 *            │  given back below, before                     it holds enough from here, and counts as filled
 *      1/4 ──┼──────────────────────────────────────────────┬─
 *        0 ──┴                                              ┴─ given back below, if Node's are few as well
 *
 * A timer stays where it was set. While async hooks are on, or the clock of the thread is faked, nothing is taken over.
 *
 * Whatever fails, in loading the wheel, in making it or in setting a timer on it, costs no timer: Node's own function
 * serves, from any state, and the wheel is tried again after a pause. A wheel that is not found is not tried again.
 * Either is reported once.
 */
export class Takeover {
  readonly estimate = new LiveEstimate();
  /** The wheel, once it is loaded. */
  wheel: RegisteredWheel | undefined;
  /** The same while it serves new timers. */
  dropIn: RegisteredWheel['timers'] | undefined;
  /** Why the wheel serves, or why it gave back; empty before that. */
  private reason = '';
  /** What has failed last. */
  private failure = '';
  private state: State = 'counting';
  /** What `report` has said last, and since when, in ms of `performance.now()`. */
  private lastReported: 'node' | 'wheel' = 'node';
  private since = performanceNow();
  /** Nothing is tried until then, in ms. */
  private pausesUntil = Number.NEGATIVE_INFINITY;
  private pause = FIRST_PAUSE_MS;
  private isWarned = false;
  /** So many more sets, until the live ones are counted. */
  private left: number;
  private isWatching = false;
  private isAlways = false;
  /** Whether the wheel has held a quarter of `from` since it serves. */
  private isFilled = false;
  private readonly from: number;
  /** Live timers from which the turns of the loop are watched. */
  private readonly watched: number;
  private readonly load: () => RegisteredWheel | undefined;

  /** `load` loads the wheel; it returns undefined if it is not found. */
  constructor(from: number, load: () => RegisteredWheel | undefined) {
    this.from = from;
    this.load = load;
    this.watched = min(WATCHED_TIMERS, from);
    this.left = this.watched - 1;
  }

  /** Timers that are live, as far as is known. */
  get live(): number {
    return this.estimate.live() + (this.wheel?.size ?? 0);
  }

  /** Who would serve a timer that is set now. One state at a time: also where the wheel leaves this timer to Node. */
  report(): RegistrationState {
    const aside = this.dropIn === undefined ? undefined : this.wheel?.setsAside();
    const serving = this.dropIn === undefined || aside !== undefined ? 'node' : 'wheel';
    if (serving !== this.lastReported) {
      this.lastReported = serving;
      this.since = performanceNow();
    }
    const reason = this.state === 'wheel' ? (aside ?? this.reason) : this.whyNodes();
    return { serving, since: this.since, reason, live: this.live };
  }

  /** Has the wheel serve from the first timer on, for good. */
  serveAlways(): void {
    this.isAlways = true;
    if (this.tryToLoad()) this.change('wheel', ALWAYS);
    else if (this.state === 'without') this.warnOfMissing();
  }

  /** The wheel could not be loaded, made, or take a timer: Node's own functions serve, for a while. */
  readonly fail = (error: unknown): void => {
    this.pausesUntil = performanceNow() + this.pause;
    this.pause = min(2 * this.pause, MAX_PAUSE_MS);
    const why = `the wheel has failed (${messageOf(error)})`;
    this.failure = why;
    if (this.wheel !== undefined) this.change('loaded', '');
    if (this.isAlways) this.watch(); // a program may set fewer than are counted
    this.warn(`${why}. Node's own timers serve this thread, and no timer is lost; the wheel is tried again later`);
  };

  /** Once in a thread. */
  private warn(what: string): void {
    if (this.isWarned) return;
    this.isWarned = true;
    emitWarning(`shardwheel/register: ${what}`, { type: 'ShardwheelWarning', code: 'SHARDWHEEL_WITHOUT_WHEEL' });
  }

  /** Called when the wheel would have taken over, and is not found. */
  private warnOfMissing(): void {
    const { message } = MissingFileError.wheel(searchedFolders());
    this.warn(`Node's own timers serve this thread for good, and no timer is lost. ${message}`);
  }

  /** Counts a timer that Node's own function is about to set. */
  set(delay: unknown): void {
    this.estimate.set(delay);
    this.left -= 1;
    if (this.left < 0) this.notice();
  }

  setInterval(): void {
    this.estimate.addInterval(1);
    this.left -= 1;
    if (this.left < 0) this.notice();
  }

  /** Counts a handle of Node's that is about to be cleared. */
  clear(handle: {
    readonly _destroyed?: boolean;
    readonly _idleTimeout?: number;
    readonly _repeat?: number | null;
  }): void {
    if (handle._destroyed !== false) return;
    if (handle._repeat === null) this.estimate.clear(handle._idleTimeout);
    else if (typeof handle._repeat === 'number') this.estimate.addInterval(-1); // an immediate has none
  }

  private notice(): void {
    const live = this.estimate.live();
    if (this.state === 'loaded' && live >= this.from) this.takeOver(live);
    if (live >= this.watched || this.isAlways) this.watch();
    this.countAgain(live);
  }

  /** No sooner than as many are live as matters next; what is cleared before does not hurry it. */
  private countAgain(live: number): void {
    const next = live < this.watched ? this.watched : this.from;
    this.left = max(next - live, this.watched) - 1;
  }

  /** Looks at the end of this turn of the loop, without holding the process or ending the loop's wait. */
  private watch(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    outsideContexts(() => setImmediate(this.checkCount)).unref(); // it goes on for as long as it watches
  }

  private readonly checkCount = (): void => {
    const { estimate, from } = this;
    this.isWatching = false;
    estimate.rotate(performanceNow());
    const live = estimate.live();
    if (this.state === 'counting' && (2 * live >= from || this.isAlways) && !isClockFaked() && this.tryToLoad()) {
      this.state = 'loaded';
    }
    if (this.state === 'without') {
      if (live >= from) this.warnOfMissing();
      return;
    }
    if (this.state === 'loaded' && this.isAlways && this.obstacle() === undefined) this.change('wheel', ALWAYS);
    else if (this.state === 'loaded' && live >= from) this.takeOver(live);
    else if (this.state === 'wheel' && !this.isAlways) this.giveBackIfEmpty(live);
    if (this.isAlways ? this.state !== 'wheel' : this.state === 'wheel' || live >= this.watched) this.watch();
    this.countAgain(live);
  };

  /** Returns whether it is loaded and made. */
  private tryToLoad(): boolean {
    if (this.isPausing()) return false;
    try {
      const wheel = this.load();
      if (wheel === undefined) {
        this.state = 'without';
        return false;
      }
      wheel.prepare();
      this.wheel = wheel;
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Why there is no wheel to serve now. */
  private lack(): string | undefined {
    if (this.state === 'without') return 'the wheel is not found';
    return this.isPausing() ? this.failure : undefined;
  }

  /** What keeps the wheel from taking over now, however many are live. */
  private obstacle(): string | undefined {
    const lack = this.lack();
    if (lack !== undefined) return lack;
    if (isClockFaked()) return 'the clock is faked';
    return isHooked() && !this.isAlways ? 'async hooks are on' : undefined;
  }

  /** Why Node's own functions serve now. */
  private whyNodes(): string {
    const { estimate, from, live } = this;
    if (this.isAlways || estimate.live() >= from) return this.obstacle() ?? 'the wheel takes over in a later turn';
    const lack = this.lack();
    if (lack !== undefined) return lack;
    if (this.reason !== '') return this.reason;
    return live < from ? `fewer than ${from} are live` : `fewer than ${from} of Node's are live`;
  }

  private isPausing(): boolean {
    return performanceNow() < this.pausesUntil;
  }

  private takeOver(live: number): void {
    if (this.obstacle() !== undefined) return;
    this.isFilled = false;
    this.change('wheel', `${live} were live`);
  }

  private giveBackIfEmpty(live: number): void {
    const { from } = this;
    const { size } = this.wheel as RegisteredWheel;
    if (size >= from / 4) {
      this.isFilled = true;
      return;
    }
    // Before it has been filled, only if those that called for it are gone.
    const few = this.isFilled ? from : from / 2;
    if (live < few) this.change('loaded', `the wheel held ${size}`);
  }

  private change(state: 'wheel' | 'loaded', reason: string): void {
    this.state = state;
    this.reason = reason;
    this.dropIn = state === 'wheel' ? this.wheel?.timers : undefined;
    this.report(); // notes when
  }
}
