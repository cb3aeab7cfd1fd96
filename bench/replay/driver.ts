import type { ModelProxy } from './model-proxy.ts';
import type { StepClock } from './step-clock.ts';

/** ms between two turns when the driver is on time, and longest turn before the loop gets its turn. */
const pace = 1;
const turnBudget = 2;

/** What the driver has to hold to. */
export interface Plan {
  /** ms of the plan, after which nothing is performed. */
  readonly end: number;
  /** Connections to be open in all by the end of that millisecond. */
  connectionsBy(millisecond: number): number;
  /** Called at the beginning of each turn, with the time. */
  onTurn(now: number): void;
  /** Asked at the end of each turn. */
  isOver(): boolean;
}

/**
 * Has a model proxy perform what its calendar and the plan of arrivals ask for, on the real clock.
 *
 * A turn performs every step that the plan has until now, millisecond by millisecond, then waits a millisecond. The
 * plan does not slip: what a late turn missed, the next ones catch up, each for at most `turnBudget` ms of CPU before
 * the event loop comes round (a turn resumes at the very record where it stopped). A machine that cannot hold the rate
 * therefore falls behind the plan.
 *
 * The wait is one Node timer, whatever the subject: one per millisecond among a million operations.
 */
export class Driver {
  /** ms: longest time for which the event loop did not come round, the driver's own share of work included. */
  longestBlock = 0;
  /** ms: the most by which the driver was behind its plan. */
  longestLag = 0;
  /** ms: when the last connection arrived. */
  lastAccept = 0;
  readonly #proxy: ModelProxy;
  readonly #clock: StepClock;
  readonly #plan: Plan;
  #lastTurn = 0;

  constructor(proxy: ModelProxy, clock: StepClock, plan: Plan) {
    this.#proxy = proxy;
    this.#clock = clock;
    this.#plan = plan;
  }

  /** Resolves when the plan is over. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = () => {
        try {
          const onTime = this.#turn();
          if (this.#plan.isOver()) resolve();
          else if (onTime) pacer.refresh();
          else setImmediate(turn);
        } catch (error) {
          reject(error);
        }
      };
      const pacer = setTimeout(turn, pace);
    });
  }

  /** Performs what is planned until now. False where the budget ended first. */
  #turn(): boolean {
    const { calendar } = this.#proxy;
    const start = this.#clock.read();
    const until = Math.min(Math.floor(start), this.#plan.end);
    this.longestBlock = Math.max(this.longestBlock, start - this.#lastTurn - pace);
    this.longestLag = Math.max(this.longestLag, until - calendar.cursor);
    this.#lastTurn = start;
    this.#plan.onTurn(start);
    for (;;) {
      if (!this.#millisecond(start + turnBudget)) return false;
      if (calendar.cursor >= until) return true;
      calendar.cursor++;
    }
  }

  /** Performs the steps and arrivals planned for the cursor's millisecond. False where `end` came first. */
  #millisecond(end: number): boolean {
    const proxy = this.#proxy;
    const { calendar } = proxy;
    let untilCheck = 32;
    for (let base = calendar.take(); base >= 0; base = calendar.take()) {
      proxy.step(base);
      if (--untilCheck === 0) {
        if (this.#clock.read() > end) return false;
        untilCheck = 32;
      }
    }
    const planned = this.#plan.connectionsBy(calendar.cursor);
    if (proxy.opened >= planned) return true;
    while (proxy.opened < planned) {
      proxy.accept();
      if (--untilCheck === 0) {
        if (this.#clock.read() > end) break;
        untilCheck = 32;
      }
    }
    this.lastAccept = this.#clock.read();
    return proxy.opened >= planned;
  }
}
