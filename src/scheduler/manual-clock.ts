import { InvalidConfigError, InvalidDeadlineError } from '../errors.ts';
import type { Coordinator } from './coordinator.ts';

/** Moves a manual clock, one call after the other, and waits until due timers are delivered. */
export class ManualClock {
  private readonly coordinator: Coordinator;
  private readonly last: number;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(coordinator: Coordinator) {
    this.coordinator = coordinator;
    this.last = coordinator.scale.timeOf(Number.MAX_SAFE_INTEGER);
  }

  /**
   * Moves the clock. Resolves with the number of timers delivered, when every timer due by `time` has been. A time in the past
   * does nothing.
   */
  advanceTo(time: number): Promise<number> {
    const { clock } = this.coordinator.client;
    if (!clock.memory.manual)
      throw new InvalidConfigError('options.clock', "must be 'manual' for advanceTo", 'monotonic');
    if (typeof time !== 'number' || time - time !== 0) throw new InvalidDeadlineError(time, undefined, 'time');
    if (time > this.last) throw new InvalidDeadlineError(time, `must be at most ${this.last}, the last tick`, 'time');
    const advance = this.advancing.then(() => this.advance(time));
    this.advancing = advance.catch(() => undefined); // its caller gets the error; the next call only waits for the end
    return this.coordinator.during(advance);
  }

  private async advance(to: number): Promise<number> {
    const { client } = this.coordinator;
    if (client.isClosed || to <= client.clock.read()) return 0;
    const before = client.delivery.delivered;
    await client.publishAll(); // timers scheduled before the time moves keep their order
    if (client.isClosed) return client.delivery.delivered - before;
    client.clock.set(to);
    this.coordinator.clockMoved();
    await client.quiescence.quiesce();
    return client.delivery.delivered - before;
  }
}
