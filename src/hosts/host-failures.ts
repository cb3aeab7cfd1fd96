import { ShardFailedError } from '../errors.ts';
import type { LaneLink } from './lane-link.ts';
import type { ShardRestart } from './restart-policy.ts';

export interface FailureEvents {
  /** The lanes could not be served; that is tried again. */
  failed(error: ShardFailedError): void;
  /** A successor serves them in the place of what has died. */
  restarted(restart: ShardRestart): void;
}

/**
 * Deaths and failures of what serves a client's lanes to a shard: reported as a restart when something serves them
 * again.
 */
export class HostFailures {
  /** How often another thread, or inline, has taken over. */
  restarts = 0;
  private readonly shard: number;
  private readonly link: Pick<LaneLink, 'deaths' | 'cause'>;
  private readonly events: FailureEvents;
  /** To serve the lanes, where no thread has died. */
  private failures = 0;
  /** Deaths of threads that were noted, and how many deaths and failures have not been reported. */
  private noted = 0;
  private unreported = 0;
  /** What the latest of them came by. */
  private cause: Error | undefined;

  constructor(shard: number, link: Pick<LaneLink, 'deaths' | 'cause'>, events: FailureEvents) {
    this.shard = shard;
    this.link = link;
    this.events = events;
  }

  /** Number of threads that have died, and of failures to serve the lanes. */
  get deaths(): number {
    return this.link.deaths + this.failures;
  }

  /** A thread could not serve the lanes, and goes on. */
  note(cause: Error): void {
    this.failures += 1;
    this.events.failed(new ShardFailedError(this.shard, cause));
  }

  /** This thread could not: once it can, that is a restart. */
  noteInline(cause: Error): void {
    this.unreported += 1;
    this.cause = cause;
    this.note(cause);
  }

  /** Takes in the deaths of threads that nobody has heard of. */
  noteDeaths(): void {
    const deaths = this.link.deaths - this.noted;
    if (deaths === 0) return;
    this.noted += deaths;
    this.unreported += deaths;
    this.cause = this.link.cause;
  }

  /** Reports a restart if the lanes are served after deaths or failures; gets the number of live timers found. */
  served(rescheduled: number): void {
    const { unreported: deaths, cause } = this;
    if (cause === undefined) return;
    this.unreported = 0;
    this.cause = undefined;
    this.restarts += 1;
    this.events.restarted({ shard: this.shard, cause, rescheduled, deaths });
  }
}
