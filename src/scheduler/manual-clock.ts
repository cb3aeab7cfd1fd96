import { InvalidConfigError, InvalidDeadlineError } from '../errors.ts';
import { HORIZON } from '../lane/due-word.ts';
import type { Coordinator } from './coordinator.ts';

/** Moves a manual clock, one call after the other, and waits for what comes due. */
export class ManualClock {
  private readonly coordinator: Coordinator;
  private readonly last: number;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(coordinator: Coordinator) {
    this.coordinator = coordinator;
    this.last = coordinator.scale.timeOf(Number.MAX_SAFE_INTEGER);
  }

  /** Resolves with the number of timers delivered, once every timer due by `time` is. A time in the past does nothing. */
  advanceTo(time: number): Promise<number> {
    const { clock } = this.coordinator.client;
    if (!clock.memory.manual)
      throw new InvalidConfigError('options.clock', "must be 'manual' for advanceTo", 'monotonic');
    if (typeof time !== 'number' || time - time !== 0) throw new InvalidDeadlineError(time, undefined, 'time');
    if (time > this.last) throw new InvalidDeadlineError(time, `must be at most ${this.last}, the last tick`, 'time');
    const advance = this.advancing.then(() => this.advance(time));
    this.advancing = advance.catch(() => undefined);
    return this.coordinator.during(advance);
  }

  private async advance(to: number): Promise<number> {
    const { client } = this.coordinator;
    const before = client.delivery.delivered;
    while (!client.isClosed && client.clock.published() < to) {
      await client.publishAll();
      const next = await this.nextStop(to);
      if (next === undefined) continue;
      client.clock.set(next);
      await client.settle();
    }
    return client.delivery.delivered - before;
  }

  /**
   * How far the clock may go at once: to the horizon of due words, or to the next deadline if that lies beyond. Timers
   * beyond the horizon come back to the client there, and would be delivered in that order if both were passed in one
   * step. Undefined where something was scheduled while the shards were asked: ask again.
   */
  private async nextStop(to: number): Promise<number | undefined> {
    const { client, scale } = this.coordinator;
    const reach = scale.timeOf(scale.tickAtOrBefore(client.clock.published()) + HORIZON);
    if (to <= reach) return to;
    await client.settle();
    const least = await this.coordinator.leastDeadline();
    return client.isQuiet() ? Math.min(to, Math.max(reach, scale.timeOf(scale.tickAtOrAfter(least)))) : undefined;
  }
}
