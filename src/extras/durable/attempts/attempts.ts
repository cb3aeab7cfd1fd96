import { messageOf } from '../../../show.ts';
import { clearTimeout, MAX_NATIVE_DELAY_MS, setImmediate, setTimeout } from '../../../time/native-timers.ts';
import { type Claim, type DueTimer, type Ending, idOf, type Overtaken, type StoredTimer } from '../stored-timer.ts';
import type { DurableCore } from './durable-core.ts';
import { HandlerRun, type Handling, type Outcome } from './handler-run.ts';
import { pauseAfter } from './retry-policy.ts';
import { HandlerOrder } from './work-order.ts';

/** ms until what a store cannot do at present is tried again. */
const PAUSE_MS = 1000;
/** Deliveries that are begun in one go: some 2 ms. */
const MAX_BEGUN = 100;
/** Attempts that are looked at in one go, whether they count still: some 5 ms of LMDB. */
const MAX_CHECKED = 1000;

/** A timer that has a handler of its name. */
interface UnderWay {
  readonly order: HandlerOrder<DueTimer>;
  /** What else of the same key is due by now. */
  readonly next: DueTimer[];
  /** While its handler runs. */
  run: HandlerRun | undefined;
  over: Claim['over'] | undefined;
}

/** What `Attempts.underWay` answers with. */
export interface Attempt {
  /** Tells the handler, if it runs still, that its attempt does not count any more. */
  end(how: Overtaken): void;
}

/**
 * Delivers timers, wherever they are kept: of each name as many at a time as its handler may run, those of one key one
 * after the other, else in the order in which they came. Names take turns, and none waits for another.
 *
 *     push ─▶ waiting ──────▶ claiming ─▶ running ─▶ writing ─▶ released
 *                └── closed ─────┴── not due, cancelled, another's ─▶ released
 *
 *     while it runs   overtaken: cancelled, scheduled anew or another's. Its handler is told, and counts as running
 *                     until it settles
 *                     interrupted: `close` waits no longer. It is scheduled as before; the attempt does not count
 *     it is written   done: forgotten; again: due later; dead: kept as such
 *
 * The claim is kept before the handler begins, so an attempt that kills its process has been counted. What the store
 * cannot do is repeated until it can; until then the timer is this process's, and its handler taken.
 */
export class Attempts {
  private readonly core: DurableCore;
  private readonly orders = new Map<string, HandlerOrder<DueTimer>>();
  /** The names that may begin a timer that waits, in their turns. */
  private readonly ready = new Set<HandlerOrder<DueTimer>>();
  private readonly timers = new Map<string, UnderWay>();
  private looking = this.timers.values();
  private isClosed = false;
  private isResuming = false;
  private unwritten: Error | undefined;
  private changed: (() => void) | undefined;
  private hasRoom: (() => void) | undefined;

  constructor(core: DurableCore) {
    this.core = core;
  }

  push(timer: DueTimer): void {
    if (this.isClosed) {
      timer.released?.();
      return;
    }
    const order = this.orderOf(timer.name);
    order.push(timer);
    this.offer(order);
  }

  /** Whether a timer of the name that comes now finds a free handler. */
  mayBegin(name: string): boolean {
    return !this.isClosed && (this.orders.get(name)?.hasRoom ?? true);
  }

  /** `hasRoom` is called when a timer that comes may find a free handler which could not before. */
  onRoom(hasRoom: () => void): void {
    this.hasRoom = hasRoom;
  }

  /** What is under way of a key, for who is about to take its timer away. */
  underWay(name: string, key: string): Attempt | undefined {
    const found = this.timers.get(idOf({ name, key }));
    return found && { end: (how) => found.run?.end(how) };
  }

  /**
   * Tells handlers that run whose attempts others have ended, as far as their store knows: the next ones, if there are
   * many.
   */
  tellOvertaken(): void {
    for (let left = Math.min(MAX_CHECKED, this.timers.size); left > 0; left--) {
      const { value, done } = this.looking.next();
      if (done === true) this.looking = this.timers.values();
      const how = value?.run && overtaken(value.over);
      if (how !== undefined) value?.run?.end(how);
    }
  }

  /** Begins no further attempt. Resolves when no handler runs; those that run after `within` ms are interrupted. */
  async close(within: number): Promise<void> {
    this.isClosed = true;
    this.ready.clear();
    for (const order of this.orders.values()) {
      for (const timer of order.clear()) timer.released?.();
    }
    const over = within > MAX_NATIVE_DELAY_MS ? undefined : setTimeout(this.interrupt, within);
    await this.until(() => ![...this.timers.values()].some(({ run }) => run !== undefined));
    clearTimeout(over);
  }

  /**
   * After `close`: resolves when what has become of all timers is kept; rejects with the store's error if that failed.
   */
  async written(): Promise<void> {
    await this.until(() => this.timers.size === 0);
    if (this.unwritten !== undefined) throw this.unwritten;
  }

  private readonly interrupt = (): void => {
    for (const { run } of this.timers.values()) run?.end('closed');
  };

  private async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      await new Promise<void>((resolve) => {
        this.changed = resolve;
      });
    }
  }

  private orderOf(name: string): HandlerOrder<DueTimer> {
    let order = this.orders.get(name);
    if (order === undefined) {
      order = new HandlerOrder(this.core.concurrencyOf(name));
      this.orders.set(name, order);
    }
    return order;
  }

  private offer(order: HandlerOrder<DueTimer>): void {
    if (!order.mayBegin) return;
    this.ready.add(order);
    if (!this.isResuming) this.begin();
  }

  private readonly begin = (): void => {
    this.isResuming = false;
    let begun = 0;
    for (const order of this.ready) {
      if (begun === MAX_BEGUN) {
        this.isResuming = true;
        setImmediate(this.begin);
        return;
      }
      begun += 1;
      this.ready.delete(order);
      const timer = order.shift();
      if (timer !== undefined) this.take(timer, order);
      if (order.mayBegin) this.ready.add(order); // behind the other names
    }
  };

  private take(timer: DueTimer, order: HandlerOrder<DueTimer>): void {
    const id = idOf(timer);
    const before = this.timers.get(id);
    if (before === undefined) void this.occupy(id, timer, order);
    else before.next.push(timer);
  }

  private async occupy(id: string, timer: DueTimer, order: HandlerOrder<DueTimer>): Promise<void> {
    const own: UnderWay = { order, next: [], run: undefined, over: undefined };
    this.timers.set(id, own);
    order.take();
    await this.deliver(timer, own);
    this.timers.delete(id);
    order.free();
    timer.released?.();
    for (const next of own.next) this.push(next);
    this.changed?.();
    this.offer(order);
    if (order.hasRoom) this.hasRoom?.();
  }

  /** Never rejects. */
  private async deliver(due: DueTimer, own: UnderWay): Promise<void> {
    const claim = await this.insist(() => due.claim());
    if (claim === undefined) return;
    const { attempt, over } = claim;
    own.over = over;
    const how = overtaken(over);
    const outcome = how === undefined ? await this.attempt(attempt, own) : OVERTAKEN[how];
    const ending = this.endingOf(attempt, outcome);
    this.changed?.();
    const counts = await this.insist(() => due.writeEnding(attempt, ending));
    if (counts !== true) return;
    if (outcome.kind === 'failed') this.core.attemptFailed(attempt, outcome.thrown, ending);
    if (ending.kind === 'dead') this.core.died(ending.timer);
  }

  private async attempt(timer: StoredTimer, own: UnderWay): Promise<Outcome | typeof DIED> {
    if (timer.attempts > this.core.settings.retry.attempts) return DIED;
    const isTooEarly = timer.due > this.core.clock.now(); // the clock was set back while the claim was kept
    if (this.isClosed || isTooEarly) return INTERRUPTED;
    const { clock, counts, handlers } = this.core;
    counts.began(clock.now() - timer.due, timer.attempts);
    own.run = new HandlerRun(handlers.get(timer.name) as Handling, timer);
    const outcome = await own.run.outcome;
    own.run = undefined;
    if (outcome.kind === 'resolved') counts.delivered += 1;
    return outcome;
  }

  private endingOf(timer: StoredTimer, outcome: Outcome | typeof DIED): Ending {
    const { retry } = this.core.settings;
    const now = this.core.clock.now();
    switch (outcome.kind) {
      case 'resolved':
        return { kind: 'done' };
      case 'interrupted':
        return { kind: 'again', timer: { ...timer, attempts: timer.attempts - 1 } };
      case 'died': {
        const reason = 'The process died during the last attempt';
        return { kind: 'dead', timer: { ...timer, attempts: retry.attempts, diedAt: now, reason } };
      }
      case 'failed': {
        const due = Math.max(timer.deadline, now + pauseAfter(timer.attempts, retry));
        if (timer.attempts < retry.attempts) return { kind: 'again', timer: { ...timer, due } };
        return { kind: 'dead', timer: { ...timer, diedAt: now, reason: messageOf(outcome.thrown) } };
      }
    }
  }

  /** Repeats what cannot be done at present; after the close not any more. */
  private async insist<T>(work: () => Promise<T>): Promise<T | undefined> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        this.core.failed(error);
        if (this.isClosed) {
          this.unwritten = error as Error;
          return undefined;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}

const RESOLVED = { kind: 'resolved' } as const;
const INTERRUPTED = { kind: 'interrupted' } as const;
/**
 * What becomes of an attempt that is overtaken before it begins. A claim that counts as lost may be this process's all
 * the same: its timer is scheduled as before, which does not count where it is another's.
 */
const OVERTAKEN = { cancelled: RESOLVED, superseded: RESOLVED, lost: INTERRUPTED } as const;
/** The process has died that ran the last attempt. */
const DIED = { kind: 'died' } as const;

function overtaken(over: Claim['over'] | undefined): Overtaken | undefined {
  try {
    return over?.();
  } catch {
    return undefined; // a store that cannot be read says so when the ending of the attempt is written
  }
}
