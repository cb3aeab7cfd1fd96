import type { Coordinator } from '../assembly/coordinator.ts';
import { InvalidConfigError, InvalidDeadlineError } from '../errors.ts';
import { requireOptions } from '../known-options.ts';

export interface AdvanceOptions {
  /**
   * Moves the clock in one step, as a blocked event loop sees it: what the step has passed is late. For simulations of
   * such stalls. Default false.
   */
  jump?: boolean;
}

/**
 * Moves a manual clock, one call after the other, and waits until due timers are delivered.
 *
 *     a macrotask passes, the shards say when they fire next ─▶ clock to that time ─▶ deliver ─┐
 *        ▲                                                                                     │
 *        └─────────────────────────────────────────────────────────────────────────────────────┘ up to the target
 *
 * So what a delivery has set in motion, up to the reactions of promises, may set further timers before the target, and
 * they come in their turn. The macrotask is a turn of the client: no timer of the program, faked or not, has a part in
 * it.
 *
 * The clock stops where a timer of this client is due. Clients in other threads see it move from stop to stop.
 * @internal
 */
export class ManualClock {
  private readonly coordinator: Coordinator;
  private readonly last: number;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(coordinator: Coordinator) {
    this.coordinator = coordinator;
    this.last = coordinator.scale.timeOf(Number.MAX_SAFE_INTEGER);
  }

  /**
   * Moves the clock. Resolves with the number of timers delivered, when every timer due by `time` has been. A time in
   * the past moves nothing.
   */
  advanceTo(time: number, options: AdvanceOptions = {}): Promise<number> {
    const { clock } = this.coordinator.client;
    if (!clock.memory.manual)
      throw new InvalidConfigError('options.clock', "must be 'manual' for advanceTo", 'monotonic');
    if (typeof time !== 'number' || time - time !== 0) throw new InvalidDeadlineError(time, undefined, 'time');
    if (time > this.last) throw new InvalidDeadlineError(time, `must be at most ${this.last}, the last tick`, 'time');
    requireOptions(options, { jump: 0 } satisfies Record<keyof AdvanceOptions, 0>);
    const { jump = false } = options;
    if (typeof jump !== 'boolean') throw new InvalidConfigError('options.jump', 'must be true or false', jump);
    const advance = this.advancing.then(() => this.advance(time, jump));
    this.advancing = advance.catch(() => undefined); // its caller gets the error; the next call only waits for the end
    return this.coordinator.during(advance);
  }

  private async advance(to: number, isJump: boolean): Promise<number> {
    const { client } = this.coordinator;
    if (client.isClosed) return 0;
    const before = client.delivery.delivered;
    // Else another client may have moved the clock there: what is due is delivered.
    const isAhead = to > client.clock.read();
    if (isAhead && isJump)
      await client.publishAll(); // timers scheduled before the time moves keep their order
    else if (isAhead) await this.walk(to);
    if (!client.isClosed) await this.step(to);
    return client.delivery.delivered - before;
  }

  /** Stops at each time up to `to` at which a timer is due. */
  private walk(to: number): Promise<void> {
    const { client, scale } = this.coordinator;
    const last = scale.tickAtOrBefore(to);
    return client.quiescence.walk((nextOfShards) => {
      const next = Math.min(nextOfShards, client.home.nextDue());
      // Another client may have moved the clock since the shards answered.
      if (next > last || client.time.tick >= last) return false;
      this.set(scale.timeOf(Math.max(next, client.time.tick + 1)));
      return true;
    });
  }

  private async step(to: number): Promise<void> {
    this.set(to);
    await this.coordinator.client.quiescence.quiesce();
  }

  private set(time: number): void {
    this.coordinator.client.clock.set(time);
    this.coordinator.clockMoved();
  }
}
