import { AsyncLocalStorage } from 'node:async_hooks';
import { Calendar } from './calendar.ts';
import {
  ConnectionTable,
  EXCHANGE_TIMER,
  ID,
  IDLE_TIMER,
  LEFT,
  PENDING,
  PHASE,
  RANDOM,
  STRIDE_BITS,
} from './connection-table.ts';
import { Ledger } from './ledger.ts';
import { LoopShare } from './loop-share.ts';
import type { ReplayOptions } from './options.ts';
import type { StepClock } from './step-clock.ts';
import type { LiveTimers, OnFire, Subject } from './subjects/subject.ts';
import { CONNECT, IDLE, REQUEST, TIME_WAIT, type TimerKind } from './timer-kind.ts';
import { NEVER, Workload } from './workload.ts';

// What a connection's entry in the calendar means when its time has come.
const CONNECTED = 0;
const NEXT_REQUEST = 1;
const ANSWER = 2;
const CLOSE = 3;
/** No event: a timer ended the connection while it still had an entry. Its TIME-WAIT is running. */
const CLOSING = 4;
/** The same, and TIME-WAIT is over: the entry is the last thing that holds the record. */
const CLOSED = 5;
/** Only without timers: the moment at which the timer of kind `phase - EXPIRY` would fire. */
const EXPIRY = 8;

/**
 * The proxy whose timers are replayed. Each connection is a small automaton; every step performs the timer operations
 * that a proxy would, tells the ledger, and enters the connection's next step into the calendar.
 *
 *     accept ── connect(arm) idle(arm) ──▶ CONNECTED ── connect(cancel) ──╮
 *     NEXT_REQUEST ◀── pause ──╮           ╭── idle(move) request(arm) ◀──┤
 *           ╰──────────────────┼───────────┼──────────────────────────────╯
 *                              ╰── ANSWER ◀╯ request(cancel)        a timer that fires ends the connection:
 *                                   ╰──▶ CLOSE: idle(cancel) time-wait(arm) ──▶ fires ──▶ record free
 *
 * A step costs one clock reading, O(1), no allocation. What the steps do depends on the seed alone.
 */
export class ModelProxy {
  readonly ledger: Ledger;
  readonly calendar: Calendar;
  /** Connections accepted so far. Their numbers are those of the share. */
  opened = 0;
  /** Callbacks that ran in another context than that of the call which had set their timer. */
  strayed = 0;
  /** See `ReplayResult.checksum`. */
  checksum = 0;
  readonly #table: ConnectionTable;
  readonly #words: Int32Array;
  readonly #workload: Workload;
  readonly #clock: StepClock;
  readonly #share: LoopShare;
  #subject!: Subject;
  #simulated = false;
  /** A connection's number is its store; each step has a context of its own. */
  readonly #contexts: AsyncLocalStorage<number> | undefined;

  /**
   * `connections`: most of them that are open at a time. The ledger has to last for all of the run. `share`: whose they
   * are.
   */
  constructor(
    options: ReplayOptions,
    connections: number,
    clock: StepClock,
    ledger = new Ledger(Math.ceil(connections * (3.1 + options.requests)), clock),
    share = new LoopShare(0, 1),
  ) {
    this.#table = new ConnectionTable(connections);
    this.#words = this.#table.words;
    this.#workload = new Workload(options);
    this.#contexts = options.contexts ? new AsyncLocalStorage() : undefined;
    this.#clock = clock;
    this.#share = share;
    this.calendar = new Calendar(this.#words);
    this.ledger = ledger;
  }

  /** Before the first `accept`. `simulated`: the subject never fires, so the calendar ends the waits in its place. */
  use(subject: Subject, simulated: boolean): void {
    this.#subject = subject;
    this.#simulated = simulated;
  }

  accept(): void {
    const base = this.#table.open();
    const id = this.#share.numberOf(this.opened++);
    if (this.#contexts === undefined) this.#accept(base, id);
    else this.#contexts.run(id, () => this.#accept(base, id));
  }

  /** Performs the step of a record that the calendar has handed out. */
  step(base: number): void {
    if (this.#contexts === undefined) this.#step(base);
    else this.#contexts.run(this.#words[base + ID]!, () => this.#step(base));
  }

  #accept(base: number, id: number): void {
    const words = this.#words;
    this.#workload.begin(words, base, id);
    words[base + ID] = id;
    words[base + PENDING] = 0;
    this.#clock.read();
    this.#arm(IDLE, base);
    this.#arm(CONNECT, base);
    this.#enter(base, CONNECTED, this.#workload.connectDelay(words, base), CONNECT);
  }

  #step(base: number): void {
    const words = this.#words;
    const phase = words[base + PHASE]!;
    this.#clock.read();
    if (phase < CLOSING) this.checksum = (this.checksum + Math.imul(words[base + RANDOM]!, phase + 1)) | 0;
    switch (phase) {
      case CONNECTED:
        this.#cancel(base, EXCHANGE_TIMER);
        this.#request(base);
        break;
      case NEXT_REQUEST:
        this.#request(base);
        break;
      case ANSWER:
        this.#cancel(base, EXCHANGE_TIMER);
        words[base + LEFT] = words[base + LEFT]! - 1;
        this.#enter(base, words[base + LEFT]! > 0 ? NEXT_REQUEST : CLOSE, this.#workload.pause(words, base), IDLE);
        break;
      case CLOSE:
        this.#cancel(base, IDLE_TIMER);
        this.#close(base);
        break;
      case CLOSING:
        break;
      case CLOSED:
        this.#table.release(base);
        break;
      default: {
        const kind = (phase - EXPIRY) as TimerKind;
        this.onFire(kind, words[base + (kind === IDLE ? IDLE_TIMER : EXCHANGE_TIMER)]!);
      }
    }
  }

  /** The one callback of every timer under test. */
  readonly onFire: OnFire = (kind, timer) => {
    this.#clock.read();
    const { ledger } = this;
    if (!ledger.fire(timer)) return;
    const words = this.#words;
    const base = ledger.slotOf(timer) << STRIDE_BITS;
    if (this.#contexts !== undefined && this.#contexts.getStore() !== words[base + ID]) this.strayed += 1;
    if (kind === TIME_WAIT) {
      this.#subject.forget(handleOf(base, EXCHANGE_TIMER));
      if (words[base + PENDING] === 0) this.#table.release(base);
      else words[base + PHASE] = CLOSED;
      return;
    }
    if (kind === IDLE) {
      this.#subject.forget(handleOf(base, IDLE_TIMER));
      const exchange = words[base + EXCHANGE_TIMER]!;
      // A timer of long ago may have given its number to another connection's.
      const isOwn = ledger.slotOf(exchange) === base >>> STRIDE_BITS;
      if (isOwn && ledger.isLive(exchange)) this.#cancel(base, EXCHANGE_TIMER);
    } else {
      this.#subject.forget(handleOf(base, EXCHANGE_TIMER));
      this.#cancel(base, IDLE_TIMER);
    }
    this.#close(base);
  };

  /** Enumerates what the ledger holds to be live. */
  readonly liveTimers: LiveTimers = (visit) => {
    const { ledger } = this;
    ledger.forEachLive((timer) => {
      const base = ledger.slotOf(timer) << STRIDE_BITS;
      visit(handleOf(base, ledger.kindOf(timer) === IDLE ? IDLE_TIMER : EXCHANGE_TIMER), timer);
    });
  };

  #request(base: number): void {
    const words = this.#words;
    const delay = this.#workload.timeout(IDLE, words, base);
    this.ledger.move(words[base + IDLE_TIMER]!, delay, this.#subject.move(handleOf(base, IDLE_TIMER), delay));
    this.#arm(REQUEST, base);
    this.#enter(base, ANSWER, this.#workload.answerDelay(words, base), REQUEST);
  }

  #close(base: number): void {
    this.#arm(TIME_WAIT, base);
    if (this.#simulated) this.#enter(base, EXPIRY, NEVER, TIME_WAIT);
    else this.#words[base + PHASE] = CLOSING;
  }

  /**
   * Enters the next step `delay` ms from the current one's planned time, or waits for the timer where it is `NEVER`.
   */
  #enter(base: number, phase: number, delay: number, timer: TimerKind): void {
    const words = this.#words;
    if (delay !== NEVER) {
      words[base + PHASE] = phase;
      this.calendar.put(base, this.calendar.cursor + delay);
    } else if (this.#simulated) {
      words[base + PHASE] = EXPIRY + timer;
      this.calendar.put(base, Math.ceil(this.#clock.now + this.#workload.timeout(timer, words, base)));
    }
  }

  #arm(kind: TimerKind, base: number): void {
    const words = this.#words;
    const field = kind === IDLE ? IDLE_TIMER : EXCHANGE_TIMER;
    const delay = this.#workload.timeout(kind, words, base);
    const timer = this.ledger.arm(base >>> STRIDE_BITS, kind, delay);
    words[base + field] = timer;
    this.#subject.arm(kind, handleOf(base, field), words[base + ID]!, delay, timer);
  }

  #cancel(base: number, field: typeof IDLE_TIMER | typeof EXCHANGE_TIMER): void {
    this.ledger.cancel(this.#words[base + field]!, this.#subject.cancel(handleOf(base, field)));
  }
}

function handleOf(base: number, field: typeof IDLE_TIMER | typeof EXCHANGE_TIMER): number {
  return (base >>> (STRIDE_BITS - 1)) + (field - IDLE_TIMER);
}
