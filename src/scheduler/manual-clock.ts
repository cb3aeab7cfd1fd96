import type { Client } from '../client/client.ts';
import { InvalidConfigError, InvalidDeadlineError } from '../errors.ts';
import type { TickScale } from '../time/tick-scale.ts';

/** What moving a clock needs of the coordinator. */
export interface ClockKeeper {
  readonly client: Client;
  readonly scale: TickScale;
  /** The clock has been moved. */
  clockMoved(): void;
  /** Keeps the process alive until the promise has settled. */
  during<T>(promise: Promise<T>): Promise<T>;
}

/** Moves a manual clock, one call after the other, and waits for what comes due. */
export class ManualClock {
  private readonly coordinator: ClockKeeper;
  private readonly last: number;
  private advancing: Promise<unknown> = Promise.resolve();

  constructor(coordinator: ClockKeeper) {
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
    this.advancing = advance.catch(() => undefined); // its caller is told; the next one only waits for its end
    return this.coordinator.during(advance);
  }

  private async advance(to: number): Promise<number> {
    const { client } = this.coordinator;
    if (client.isClosed || to <= client.clock.published()) return 0;
    const before = client.delivery.delivered;
    await client.publishAll(); // what was scheduled before the time moves stands in its place when it does
    if (client.isClosed) return client.delivery.delivered - before;
    client.clock.set(to);
    this.coordinator.clockMoved();
    await client.settling.settle();
    return client.delivery.delivered - before;
  }
}
