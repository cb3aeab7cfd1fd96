import type { MissedCalls } from '../client/call-grids.ts';
import type { Client } from '../client/client.ts';
import type { HomeTimers } from '../client/home/home-timers.ts';
import { SchedulerClosedError } from '../errors.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import type { SharedClock } from '../time/shared-clock.ts';

/**
 * Options of drop-in timers in cases where they can do as Node does, or better. For `shardwheel/timers` and
 * `shardwheel/register` the environment variable SHARDWHEEL_TIMERS=node selects Node's way in both.
 */
export interface TimersOptions {
  /** What intervals do if calls are overdue; see {@link MissedCalls}. Default 'skip'; 'delay' is Node's way. */
  missedCalls?: MissedCalls;
  /**
   * 'keep': delays above 2^31 - 1 ms are kept. 'warn': they become 1 ms, with a warning, as in Node. Default 'keep'.
   */
  longDelays?: LongDelays;
}

export type LongDelays = 'keep' | 'warn';

/**
 * The source of drop-in timeouts: the client of a scheduler, and what these timers do in the cases of the options.
 * @internal
 */
export class TimeoutSource {
  readonly client: Client;
  readonly home: HomeTimers;
  readonly time: SharedClock;
  readonly missedCalls: MissedCalls;
  readonly longDelays: LongDelays;
  /** Whether Node's own timers serve where the wheel is full: in a thread that is registered. */
  isRegistered = false;
  /** See `Timeout`. */
  readonly self = (): TimeoutSource => this;

  /** Throws InvalidArgumentError for an invalid scheduler, SchedulerClosedError. */
  constructor(scheduler: Scheduler, options: Required<TimersOptions>) {
    const { client } = Scheduler.coordinatorOf(scheduler);
    if (client.isClosed) throw new SchedulerClosedError('createTimers');
    this.client = client;
    this.home = client.home;
    this.time = client.clock;
    this.missedCalls = options.missedCalls;
    this.longDelays = options.longDelays;
  }

  /** The time in ms at which a call of an interval begins: exact where the next one is counted from there. */
  begin(): number {
    return this.missedCalls === 'burst' ? this.home.now : this.time.read();
  }
}
